#!/bin/bash
# `make check-deb`: what lintian says of the package in build/deb; in a Debian that holds nothing else it is installed, its daemon starts
# under its own user and answers, and a purge leaves the two users and nothing else. Takes minutes and the network, so `make test` leaves
# it out. BARE_ROOT names a tarball of such a Debian; without it mmdebstrap makes one from this machine's own sources of packages.
. "$(dirname "$0")/../lib/tap.sh"
deb=$(ls "$root"/build/deb/flopwatch_*.deb) || exit 1
bare=${BARE_ROOT:-$root/build/bare.tar}

if command -v lintian >/dev/null; then
	ok "lintian finds neither error nor warning" lintian --allow-root --fail-on error,warning "$root"/build/deb/*.changes
	is "and says nothing" "$out" ""
else
	skip "lintian finds neither error nor warning" "lintian is not installed"
fi
if [ "$(id -u)" != 0 ]; then
	skip "the package in a bare Debian" "only root may make one"
	exit 0
fi
if [ ! -e "$bare" ] && ! command -v mmdebstrap >/dev/null; then
	skip "the package in a bare Debian" "mmdebstrap is not installed, and BARE_ROOT names none"
	exit 0
fi

# ---- a bare Debian, with what the package depends on ----
if [ ! -e "$bare" ]; then
	shopt -s nullglob
	sources=(/etc/apt/sources.list.d/debian.sources /etc/apt/sources.list)
	shopt -u nullglob
	for source in "${sources[@]}"; do [ -e "$source" ] && break; done
	ok "a bare Debian is made" mmdebstrap --quiet --variant=minbase "$(. /etc/os-release && echo "$VERSION_CODENAME")" "${bare%.tar}.new.tar" "$source"
	mv "${bare%.tar}.new.tar" "$bare" || exit 1
fi
bare_root=$tmp/root
mkdir "$bare_root"
tar -xf "$bare" -C "$bare_root" --exclude='./dev/*'
cp -L /etc/resolv.conf "$bare_root/etc/resolv.conf"
cp "$deb" "$bare_root/tmp/flopwatch.deb"
printf '#!/bin/sh\nexit 101\n' >"$bare_root/usr/sbin/policy-rc.d" # there is no init that could start anything
chmod 755 "$bare_root/usr/sbin/policy-rc.d"
# /proc, /dev and processes of its own, which end with the command
within() { # command...: by the bare Debian
	unshare --mount --pid --fork --kill-child sh -c '
		for device in null zero random urandom full; do : >"$0/dev/$device" && mount --bind "/dev/$device" "$0/dev/$device" || exit 1; done
		mount -t proc proc "$0/proc" && exec chroot "$0" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
			DEBIAN_FRONTEND=noninteractive "$@"' "$bare_root" "$@"
}
apt() { within apt-get -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 "$@"; }
ok "its lists are read" apt update
ok "what the package depends on is there" apt satisfy "$(dpkg-deb -f "$deb" Depends), systemd"
all_files() { # but what packages keep of themselves, what the linker keeps of libraries, and what every change of users leaves beside them
	(cd "$bare_root" && find . -xdev \( -path ./proc -o -path ./dev -o -path ./tmp -o -path ./var/lib/dpkg -o -path ./var/log -o -path ./var/cache/apt \
		-o -path ./var/cache/ldconfig -o -name '*-' -o -name .pwd.lock \) -prune -o -printf '%y %m %u:%g %p\n' | sort)
}
all_files >"$tmp/before"

# ---- installed ----
ok "the package installs" within dpkg -i /tmp/flopwatch.deb
unlike "without a word of warning" "$out" '[Ww]arning|[Ee]rror|failed'
is "dpkg has it whole" "$(within dpkg-query -W -f '${Status}' flopwatch)" "install ok installed"
is "and finds no file changed" "$(within dpkg -V flopwatch)" ""
is "its users are there" "$(grep -o '^flopwatch[^:]*' "$bare_root/etc/passwd" | sort | paste -sd' ')" "flopwatch flopwatch-run"
is "the daemon's user alone reads the configuration" "$(within stat -c '%U:%G %a' /etc/flopwatch/flopwatchd.yml)" "root:flopwatch 640"
is "the state is its own" "$(within stat -c '%U %a' /var/lib/flopwatch)" "flopwatch 700"
is "the units are enabled" "$(cd "$bare_root/etc/systemd/system" && ls -d */flopwatch* | paste -sd' ')" \
	"multi-user.target.wants/flopwatchd.service sockets.target.wants/flopwatch-worker.socket"
version=$(dpkg-deb -f "$deb" Version)
is "the version is the package's" "$(within flopwatch --version)" "flopwatch $version"
like "a worker says what there is" "$(within /usr/libexec/flopwatch/flopwatch-worker probe 2>/dev/null)" '"t":"hello"'
like "the configuration that comes with it is good" "$(within flopwatch config check 2>&1)" ': fine; '

# ---- the daemon, as its unit starts it, on a loopback of its own ----
cat >"$bare_root/tmp/session" <<'SESSION'
ask() { # path: the daemon's answer
	exec 3<>/dev/tcp/127.0.0.1/8451 || return 1
	printf 'GET %s HTTP/1.0\r\nHost: 127.0.0.1:8451\r\n\r\n' "$1" >&3
	cat <&3
}
setpriv --reuid=flopwatch --regid=flopwatch --init-groups /usr/sbin/flopwatchd --config /etc/flopwatch/flopwatchd.yml >/tmp/daemon.log 2>&1 &
daemon=$!
until ask /healthz >/tmp/health 2>/dev/null; do
	kill -0 "$daemon" || { cat /tmp/daemon.log; exit 1; }
	sleep 0.1
done
ask / >/tmp/page
flopwatch status >/tmp/status 2>&1
echo "$?" >>/tmp/status
kill "$daemon"
wait "$daemon"
SESSION
export -f within
export bare_root
on_a_loopback() { unshare --net bash -c 'ip link set lo up && within "$@"' bash "$@"; }
ok "the daemon starts, and ends when it is told to" on_a_loopback timeout -k 5 300 bash /tmp/session
like "it is well" "$(cat "$bare_root/tmp/health")" 'HTTP/1.[01] 200'
like "it serves its pages" "$(cat "$bare_root/tmp/page")" "<span>flopwatch $version</span>"
is "the command line reaches it" "$(tail -n 1 "$bare_root/tmp/status")" 0
is "its database is there" "$(within stat -c '%U' /var/lib/flopwatch/flopwatch.db)" "flopwatch"

# ---- gone again ----
ok "removed" within dpkg --remove flopwatch
ok "the database stays" test -s "$bare_root/var/lib/flopwatch/flopwatch.db"
ok "purged" within dpkg --purge flopwatch
unlike "without a word of warning" "$out" '[Ww]arning|[Ee]rror|failed'
all_files >"$tmp/after"
is "nothing is left" "$(diff "$tmp/before" "$tmp/after")" ""
is "but the users, whose numbers nobody else is to be given" "$(grep -o '^flopwatch[^:]*' "$bare_root/etc/passwd" | sort | paste -sd' ')" "flopwatch flopwatch-run"
