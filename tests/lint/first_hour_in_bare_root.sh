#!/bin/bash
# `make first-hour`: runs README's commands in a bare Debian, until three foreign repositories have a first verdict and a push of theirs is found
# slower. Prints commands, output and seconds in the format of tests/data/first-hour.md. As root. Takes minutes and the network, so `make test` leaves it
# out. BARE_ROOT names a tarball of such a Debian; without it mmdebstrap makes one from this machine's package sources.
set -eu
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
bare=${BARE_ROOT:-$root/build/bare.tar}
[ "$(id -u)" = 0 ] || { echo "first-hour: only root may make a bare Debian" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/root" "$root/build"

if [ ! -e "$bare" ]; then
	for source in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list; do [ -e "$source" ] && break; done
	mmdebstrap --quiet --variant=minbase "$(. /etc/os-release && echo "$VERSION_CODENAME")" "${bare%.tar}.new.tar" "$source"
	mv "${bare%.tar}.new.tar" "$bare"
fi
tar -xf "$bare" -C "$work/root" --exclude='./dev/*'
cp -L /etc/resolv.conf "$work/root/etc/resolv.conf"
printf '#!/bin/sh\nexit 101\n' >"$work/root/usr/sbin/policy-rc.d" # there is no init
chmod 755 "$work/root/usr/sbin/policy-rc.d"
git clone -q --bare "$root" "$work/root/srv/flopwatch.git"

# One command a line; a line that begins with # is the headline of the following ones.
cat >"$work/root/srv/typed" <<'TYPED'
# Nothing but a minimal Debian
apt-get -qq update
apt-get -qq -y --no-install-recommends install git make ca-certificates >/dev/null 2>&1
git clone -q /srv/flopwatch.git flopwatch
cd flopwatch
DEMO_EXIT=1 make demo 2>&1 | tail -n 24
export PATH=$PWD/build/bin:$PATH
# Three repositories without flopwatch
apt-get -qq -y --no-install-recommends install hyperfine g++ libbenchmark-dev >/dev/null 2>&1
repository sorting doc/examples/hyperfine/bench.sh
repository histogram doc/examples/google-benchmark/*
repository attention doc/examples/attention/* kernels/fw_kernel.h kernels/fw_attention.h
# init and try, without a daemon
flopwatch init /srv/sorting
flopwatch try --device cpu /srv/sorting
flopwatch init /srv/histogram
flopwatch try --device cpu /srv/histogram
flopwatch init /srv/attention
flopwatch try --device cpu /srv/attention
# A daemon that watches all three
cat /srv/flopwatchd.yml
flopwatch config check /srv/flopwatchd.yml
flopwatchd --config /srv/flopwatchd.yml >/srv/log 2>&1 &
publish sorting main
publish histogram main
publish attention main
sleep 2
export FLOPWATCH_SERVER=http://127.0.0.1:$(cat /srv/state/port)
# The first verdicts: main against itself
flopwatch wait main --repo sorting --quiet
flopwatch wait main --repo histogram --quiet
flopwatch wait main --repo attention --quiet
# And a push that is slower
git -C /srv/sorting checkout -q -b longer
sed -i 's/seq 200000/seq 300000/' /srv/sorting/bench.sh
publish sorting longer
flopwatch wait longer --repo sorting --quiet
flopwatch alerts
kill %1
TYPED
cat >"$work/root/srv/flopwatchd.yml" <<'YML'
state_dir: /srv/state
cache_dir: /srv/cache
listen: 127.0.0.1:0
workers:
  - {name: local, command: [flopwatch-worker, serve], device: cpu}
repos:
  - {name: sorting, url: /srv/sorting.git}
  - {name: histogram, url: /srv/histogram.git}
  - {name: attention, url: /srv/attention.git}
YML
cat >"$work/root/srv/play" <<'PLAY'
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=reader GIT_AUTHOR_EMAIL=reader@example.org
export GIT_COMMITTER_NAME=reader GIT_COMMITTER_EMAIL=reader@example.org
repository() { # name, files: a checkout of them, with a bare repository to push to
	git init -q --bare -b main "/srv/$1.git"
	git init -q -b main "/srv/$1"
	git -C "/srv/$1" remote add origin "/srv/$1.git"
	cp -r "${@:2}" "/srv/$1"
}
publish() { # name, branch
	git -C "/srv/$1" add -A
	git -C "/srv/$1" commit -q -m "$2"
	git -C "/srv/$1" push -q origin "$2"
}
cd /srv
mkdir -p state cache
printf '# The first hour\n\nOutput of `make first-hour` in a bare Debian 12, unchanged, with the seconds that each command took. '
printf 'A machine without a GPU.\n\n'
began=$SECONDS
while read -r line; do
	case $line in
	'# '*)
		[ "$SECONDS" = "$began" ] || printf '```\n\n'
		printf '## %s\n\n```\n' "${line#\# }"
		continue
		;;
	esac
	printf '$ %s\n' "$line"
	since=$SECONDS
	eval "$line" </dev/null # a line of the list above
	status=$?
	[ $((SECONDS - since)) -lt 2 ] || printf '(%s s)\n' "$((SECONDS - since))"
	[ "$status" = 0 ] || printf '(exit status %s)\n' "$status"
done <typed
printf '```\n\nIn all %d:%02d minutes.\n' $(((SECONDS - began) / 60)) $(((SECONDS - began) % 60))
PLAY
# a separate /proc, /dev, process namespace and loopback, which end with the command
unshare --mount --pid --fork --kill-child sh -c '
	for device in null zero random urandom full; do : >"$0/dev/$device" && mount --bind "/dev/$device" "$0/dev/$device" || exit 1; done
	mkdir -p "$0/dev/shm" && mount -t tmpfs tmpfs "$0/dev/shm" && ln -sf /proc/self/fd "$0/dev/fd"
	mount -t proc proc "$0/proc" && exec chroot "$0" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root \
		DEBIAN_FRONTEND=noninteractive bash /srv/play' "$work/root"
