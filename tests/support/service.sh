# service.sh - flopwatch as a service of a Debian tree that boots here. Source it after tap.sh and daemon.sh; as root.
#
#   cannot_boot               why no tree can boot here, as text; nothing where one can
#   boot [OPTION] ROOT        run boot.sh, return when its systemd has started all units
#   power_off                 end it
#   inside COMMAND...         run in it, with its standard output
#   watch_kernels             copy the repository $tmp/kernels of new_repo there, as /srv/kernels.git, and add it to the
#                             configuration, for device sim
#   push_there BRANCH         push HEAD of $tmp/kernels
#   verdict_of BRANCH         flopwatch wait: its exit status (0 unchanged, 3 regression, 7 nothing to compare with), or the error
#   healthz                   answer of the daemon there: the status, and the text in a second line
#   worker_processes          a line for each process of a worker there: user, name, effective capabilities, no_new_privs
#   no_systemd                such lines without those of systemd before it becomes a worker
#   exposure UNIT             the score of systemd-analyze security
#   exposed_at_most UNIT FIGURE
machine="" booting=""

cannot_boot() {
	local why
	[ "$(id -u)" = 0 ] || { echo "only root may boot a tree"; return; }
	why=$(unshare --mount --pid --cgroup --net --uts --ipc --fork sh -c 'mount -t cgroup2 none /mnt && d=/mnt/flopwatch-try-$$ && mkdir "$d" && rmdir "$d" &&
		mount -t tmpfs none /mnt && mkdir /mnt/a /mnt/b /mnt/c && mount -t overlay -o lowerdir=/,upperdir=/mnt/a,workdir=/mnt/b none /mnt/c &&
		mount -t proc proc /proc' 2>&1) || echo "no namespaces, mounts and cgroups of one's own here: $(tail -n 1 <<<"$why")"
}
boot() {
	rm -f "$tmp/machine"
	setpriv --pdeathsig TERM bash "$root/tests/support/boot.sh" "$@" "$tmp/machine" </dev/null >"$tmp/boot.log" 2>&1 &
	booting=$!
	on_exit power_off
	has_begun() { [ -s "$tmp/machine" ] || ! kill -0 "$booting" 2>/dev/null; }
	await has_begun
	machine=$(cat "$tmp/machine" 2>/dev/null) || { sed 's/^/# /' "$tmp/boot.log"; return 1; }
	await is_up
}
is_up() { [[ $(inside systemctl is-system-running 2>/dev/null) =~ ^(running|degraded)$ ]]; }
power_off() {
	[ -z "$booting" ] || { kill "$booting" 2>/dev/null; wait "$booting" 2>/dev/null; }
	booting=""
}
inside() {
	nsenter -a -t "$machine" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root DEBIAN_FRONTEND=noninteractive "$@" </dev/null
}
within() { # ROOT, COMMAND...: in a tree that does not run, with a separate /proc, /dev and process namespace, which end with the command
	unshare --mount --pid --fork --kill-child sh -c '
		for device in null zero random urandom full; do : >"$0/dev/$device" && mount --bind "/dev/$device" "$0/dev/$device" || exit 1; done
		mount -t proc proc "$0/proc" && exec chroot "$0" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
			DEBIAN_FRONTEND=noninteractive "$@"' "$@"
}
watch_kernels() {
	[ -d "$tmp/kernels" ] || new_repo kernels
	inside git init -q --bare -b main /srv/kernels.git
	inside sh -c 'cd /etc/flopwatch && sed -i -e "s,^repos: .*,repos: [{name: kernels\, url: /srv/kernels.git}]," \
		-e "s,socket: /run/flopwatch-worker.sock,&\, device: sim," -e "s,^profile: on,profile: off," flopwatchd.yml
		mkdir -p /etc/default && echo "OPTIONS=\"--device sim\"" >/etc/default/flopwatch-worker'
}
push_there() {
	git -C "$tmp/kernels" bundle create -q "$tmp/bundle" HEAD
	nsenter -a -t "$machine" sh -c 'cat >/run/bundle && git -C /srv/kernels.git fetch -q --force /run/bundle "HEAD:refs/heads/$1"' sh "$1" <"$tmp/bundle"
}
verdict_of() {
	local said status
	said=$(inside timeout 300 flopwatch wait "$1" --repo kernels --quiet 2>&1)
	status=$?
	case $status in 0 | 3 | 7) echo "$status" ;; *) printf '%s: %s\n' "$status" "$said" ;; esac
}
healthz() {
	inside bash -c 'exec 3<>/dev/tcp/127.0.0.1/8451 && printf "GET /healthz HTTP/1.0\r\nHost: 127.0.0.1:8451\r\n\r\n" >&3 && cat <&3' 2>/dev/null |
		sed -n -e '1s/^[^ ]* \([0-9]*\).*/\1/p' -e '/^\r*$/,$p' | tr -d '\r' | grep .
}
worker_processes() {
	inside bash -c 'for list in /sys/fs/cgroup/system.slice/*/flopwatch-worker@*/cgroup.procs; do
		while read -r pid; do
			awk -v names="Name Uid CapEff NoNewPrivs" "BEGIN { FS = \":[ \\t]*|[ \\t]+\" }
				\$1 == \"Name\" { name = \$2 } \$1 == \"Uid\" { uid = \$2 \"/\" \$3 } \$1 == \"CapEff\" { caps = \$2 } \$1 == \"NoNewPrivs\" { nnp = \$2 }
				END { if (uid != \"\") print uid, name, caps, nnp }" "/proc/$pid/status"
		done <"$list"
	done' 2>/dev/null
}
no_systemd() { awk '$2 !~ /^\(/'; }
exposure() {
	local file
	file=$(inside sh -c 'ls "/usr/lib/systemd/system/$1" "/lib/systemd/system/$1" 2>/dev/null | head -n 1' sh "$1")
	inside systemd-analyze security --no-pager --offline=true "$file" | sed -n 's/.*exposure level for .*: \([0-9.]*\) .*/\1/p'
}
exposed_at_most() { awk -v a="$(exposure "$1")" -v b="$2" 'BEGIN { exit !(a != "" && a + 0 <= b) }'; }
