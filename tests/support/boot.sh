#!/bin/bash
# boot.sh [--over FOLDER] ROOT PIDFILE - boot the Debian tree ROOT with its own systemd, in separate namespaces and a cgroup,
# until this script ends.
#
# --over: the tree is this machine's with the files of FOLDER as an overlay, without the units that its administrator enabled and
# without data of an installed flopwatch; ROOT is an empty folder for it. Changes are in memory and discarded at the end.
#
# Needs root and cgroup v2. The pid of the tree's first process, as seen by this machine, is written to PIDFILE; `nsenter -a -t
# PID` enters the tree. The tree has only a loopback network. Mounts are in namespaces that end with the last process; the cgroup
# is removed at the end, or, if this script was killed by SIGKILL, by the next one that starts.
set -eu
prefix=flopwatch-boot-

if [ "${1-}" = inside ]; then # ROOT PIDFILE: the first process of the new namespaces
	root=$2
	read -r pid _ </proc/self/stat # /proc is still the machine's
	mount --make-rprivate /
	mount --bind "$root" "$root"
	cd "$root"
	mount -t proc -o nosuid,nodev,noexec proc proc
	mount -t sysfs -o nosuid,nodev,noexec,ro sysfs sys
	mount -t cgroup2 -o nosuid,nodev,noexec cgroup2 sys/fs/cgroup
	mount -t tmpfs -o mode=755,nosuid tmpfs dev
	for device in null zero full random urandom tty; do
		: >"dev/$device"
		mount --bind "/dev/$device" "dev/$device"
	done
	mkdir dev/pts dev/shm
	mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts dev/pts
	mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs dev/shm
	ln -s pts/ptmx dev/ptmx
	ln -s /proc/self/fd dev/fd
	for n in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/${n%:*}" "dev/${n#*:}"; done
	mount -t tmpfs -o mode=755,nosuid,nodev tmpfs run
	echo "$pid" >"$3"
	mkdir -p run/machine
	pivot_root . run/machine
	umount -l /run/machine
	rmdir /run/machine
	# with `container` systemd does not change the kernel's settings and devices
	exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 container=flopwatch /lib/systemd/systemd --unit=multi-user.target
fi

if [ -z "${BOOT_MOUNTS-}" ]; then
	BOOT_MOUNTS=1 exec unshare --mount --propagation private bash "$0" "$@"
fi
if [ "$1" = --over ]; then
	over=$2 place=$3
	mount -t tmpfs -o mode=755 tmpfs "$place"
	mkdir "$place/upper" "$place/work" "$place/tree"
	cp -a "$over/." "$place/upper"
	mount -t overlay -o "lowerdir=/,upperdir=$place/upper,workdir=$place/work" overlay "$place/tree"
	rm -rf "$place"/tree/etc/systemd/system/* "$place"/tree/var/{lib,cache}/flopwatch*
	set -- "$place/tree" "$4"
fi
remove_group() { find "$1" -depth -type d -exec rmdir {} + 2>/dev/null || :; }
groups=$1/mnt
mount -t cgroup2 cgroup2 "$groups"
for old in "$groups/$prefix"*; do # of those that could not remove theirs
	[ ! -d "$old" ] || kill -0 "${old##*"$prefix"}" 2>/dev/null || remove_group "$old"
done
group=$groups/$prefix$$ first=$2
rm -f "$first"
child=""
# shellcheck disable=SC2329  # a trap calls it
clean() {
	trap '' TERM INT HUP
	if [ -n "$child" ]; then # all others end with the first process of the tree
		kill -KILL "$(cat "$first" 2>/dev/null || echo "$child")" 2>/dev/null || :
		wait "$child" 2>/dev/null || :
	fi
	for _ in $(seq 100); do
		remove_group "$group"
		[ -d "$group" ] || break
		[ ! -e "$group/cgroup.kill" ] || echo 1 >"$group/cgroup.kill" || :
		sleep 0.1
	done
}
trap clean EXIT
trap 'exit 143' TERM INT HUP
mkdir "$group"
sh -c 'echo $$ >"$0/cgroup.procs" && exec setpriv --pdeathsig KILL unshare --mount --pid --cgroup --net --uts --ipc --fork --kill-child bash "$@"' \
	"$group" "$0" inside "$1" "$2" &
child=$!
wait "$child"
