#!/bin/bash
# A demonstration of flopwatch on this machine: a bare repository made from kernels/, a daemon on loopback, a pushed regression and
# a harmless push, both judged. State is stored in build/demo; the dashboard keeps running unless DEMO_EXIT is set.
# DEMO_DIR: another folder for the state. DEMO_DEVICE: cpu or cuda instead of the detected device. DEMO_SUITE: another suite.
set -eu
cd "$(dirname "$0")/.."
export LC_ALL=C.UTF-8 GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=demo GIT_AUTHOR_EMAIL=demo@example.org GIT_COMMITTER_NAME=demo GIT_COMMITTER_EMAIL=demo@example.org
bin=$PWD/build/bin
state=${DEMO_DIR:-$PWD/build/demo}

say() { printf '\n== %s\n' "$*"; }
die() { printf 'demo: %s\n' "$*" >&2; tail -n 20 "$state/flopwatchd.log" >&2 || true; exit 1; }

is_ours() { # pid: whether it is a flopwatchd with the demo's configuration; a pid from a file may belong to another process
	local words=() # none: the process is ending
	[[ $1 =~ ^[1-9][0-9]*$ ]] && mapfile -d '' -t words 2>/dev/null <"/proc/$1/cmdline" || return 1
	[ "${#words[@]}" -gt 0 ] && [ "${words[0]##*/}" = flopwatchd ] && [ "${words[1]-}" = --config ] && [ "${words[2]-}" = "$state/flopwatchd.yml" ]
}
stop_daemon() { # waits until it has exited; 1: there was none
	local pid
	pid=$(cat "$state/pid" 2>/dev/null) || return 1
	is_ours "$pid" && kill "$pid" 2>/dev/null || return 1
	for _ in $(seq 100); do
		is_ours "$pid" || return 0
		sleep 0.1
	done
	echo "demo: flopwatchd, process $pid, did not stop within 10 s; stop it with: kill -9 $pid" >&2
	exit 1
}
stop_daemon || : # from an earlier demo
if [ -e "$state" ] && [ ! -e "$state/flopwatchd.yml" ] && [ -n "$(ls -A "$state")" ]; then
	echo "demo: $state holds files, and no demo of before; move them away, or name another folder by DEMO_DIR" >&2
	exit 1
fi
rm -rf "$state"
mkdir -p "$state"

has_device() { "$bin/flopwatch-runner" --list | grep -q "\"kind\":\"$1\""; }
has_device cpu || { echo "demo: flopwatch-runner --list names no CPU" >&2; exit 1; }
device=${DEMO_DEVICE:-cpu}
[ -n "${DEMO_DEVICE-}" ] || ! has_device cuda || device=cuda
if [ "$device" = cuda ]; then suite=${DEMO_SUITE:-ffa}; else suite=${DEMO_SUITE:-demo}; fi

say "a bare repository with the kernels of this checkout ($device)"
git init -q --bare -b main "$state/kernels.git"
git init -q -b main "$state/work"
git ls-files -z kernels | xargs -0 cp --parents -t "$state/work"
# Without this manifest a build makes the modules of all families.
cat >"$state/work/.flopwatch.yaml" <<YML
flopwatch: 1
build: {dir: kernels, command: [make, "DEVICE={device}", "build/{device}/libattention.so"], outputs: {attention: "build/{device}/libattention.so"}}
YML
git -C "$state/work" add -A
git -C "$state/work" commit -q -m "kernels as they are"
git -C "$state/work" remote add origin "$state/kernels.git"

# A busy machine needs more runs for the same evidence, and a clear result ends early.
mkdir "$state/suites"
cp etc/suites/*.yaml "$state/suites"
sed -i 's/^budget_s: .*/budget_s: 600/' "$state/suites/demo.yaml"

port=8451
if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then port=0; fi
cat >"$state/flopwatchd.yml" <<YML
state_dir: $state/state
cache_dir: $state/cache
suites_dir: $state/suites
listen: 127.0.0.1:$port
sandbox: auto
workers:
  - {name: local, command: ["$bin/flopwatch-worker", serve], device: $device}
repos:
  - {name: kernels, url: "$state/kernels.git", upstream: main, suites: [$suite]}
YML
mkdir -p "$state/state" "$state/cache"

say "the daemon"
setsid "$bin/flopwatchd" --config "$state/flopwatchd.yml" >"$state/flopwatchd.log" 2>&1 </dev/null &
echo $! >"$state/pid"
address=""
for _ in $(seq 100); do
	address=$(sed -n 's/^listening on //p' "$state/flopwatchd.log")
	[ -z "$address" ] || break
	kill -0 "$!" 2>/dev/null || die "the daemon did not start"
	sleep 0.1
done
[ -n "$address" ] || die "the daemon did not say where it listens"
export FLOPWATCH_SERVER=$address
"$bin/flopwatch" devices

push() { # branch
	git -C "$state/work" push -q origin "$1" || die "git push failed"
}
wait_for() { # branch; leaves the exit status in $status
	status=0
	"$bin/flopwatch" wait "$1" --repo kernels --progress --timeout 3000 || status=$?
}

say "first push of main: nothing to compare with, so it is measured against itself"
push main
wait_for main
[ "$status" = 0 ] || [ "$status" = 7 ] || die "main: exit $status"

say "a branch that is slower, and one that changes only a comment"
git -C "$state/work" checkout -q -b slower
"$PWD/etc/demo-slower.sh" "$state/work" "$device"
git -C "$state/work" commit -q -a -m "attention: another tile shape"
git -C "$state/work" checkout -q -b harmless main
printf '\n/* The list is built on the device, so building it is on the clock. */\n' >>"$state/work/kernels/attention/module.c"
git -C "$state/work" commit -q -a -m "attention: say why"
push slower
push harmless
wait_for harmless
harmless=$status
wait_for slower
slower=$status

say "alerts"
"$bin/flopwatch" alerts --repo kernels --state open
"$bin/flopwatch" status --repo kernels
listed=$("$bin/flopwatch" alerts --repo kernels --state open)
open=$(grep -c '^A[0-9]' <<<"$listed") || open=0
alert=$(grep -o -m 1 '^A[0-9]*' <<<"$listed") || alert=""

if [ -n "${DEMO_EXIT-}" ]; then
	stop_daemon || :
	rm -f "$state/pid"
	[ "$harmless" = 0 ] || { echo "demo: the harmless branch ended with $harmless, not 0"; exit 1; }
	[ "$slower" = 3 ] || { echo "demo: the slower branch ended with $slower, not 3 (regression)"; exit 1; }
	[ "$open" = 1 ] || { echo "demo: $open alerts are open, not 1"; exit 1; }
	say "as expected: slower is a regression with its alert, harmless is not"
	exit 0
fi
say "dashboard: $FLOPWATCH_SERVER/   (stop it with: kill $(cat "$state/pid"))"
printf 'in a shell, for the commands above: export PATH=%s:$PATH FLOPWATCH_SERVER=%s\n' "$bin" "$FLOPWATCH_SERVER"
if [ -n "$alert" ]; then
	next="flopwatch why $alert"
elif [ "$slower" = 3 ]; then
	next="flopwatch wait slower --repo kernels"
else
	echo "the branch slower has no regression and no alert, because its comparison ended with status $slower (man flopwatch): times on a busy machine vary too much; run the demo again while less runs on it"
	next="flopwatch wait slower --repo kernels, which gives the reason"
fi
echo "next: $next; then your own kernels, in their checkout: flopwatch init (doc/quickstart.md)"
