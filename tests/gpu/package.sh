#!/bin/bash
# The units of the package, on a GPU machine without network and without systemd running: daemon and worker are started by hand
# with the ExecStart of their units, each as a separate user, from a bundle. Two commits are pushed, the second is judged.
# Usage, as root: tests/gpu/package.sh [BUNDLE] [OUT]     DEVICE=cpu: without a GPU, with gcc. Ends within 120 s.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
bundle=${1:-$root/build/bundle} device=${DEVICE:-cuda}
[ "$(id -u)" = 0 ] || { echo "package.sh: only root starts the worker and the daemon as two users" >&2; exit 1; }
out=${2:-$root/build/gpu-package}
mkdir -p "$out"
out=$(cd "$out" && pwd)
state=$(mktemp -d)
chmod 755 "$state"
pids=()
clean() {
	for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
	wait
	rm -rf "$state"
}
trap clean EXIT
say() { echo "$*" | tee -a "$out/summary.txt"; }
: >"$out/summary.txt"
fail() { say "not ok - $*"; exit 1; }
export LC_ALL=C.UTF-8 GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 HOME=$state
export GIT_AUTHOR_NAME=gpu GIT_AUTHOR_EMAIL=gpu@example.org GIT_COMMITTER_NAME=gpu GIT_COMMITTER_EMAIL=gpu@example.org

# ---- the units ----
if command -v systemd-analyze >/dev/null; then
	units=$state/units
	mkdir -p "$units/usr/lib/systemd/system" "$units/usr/libexec/flopwatch" "$units/usr/sbin" "$units/bin" "$units/lib/systemd/system"
	cp "$root"/systemd/*.service "$root"/systemd/*.socket "$units/usr/lib/systemd/system/"
	cp "$bundle/bin/flopwatch-worker" "$units/usr/libexec/flopwatch/"
	cp "$bundle/bin/flopwatchd" "$units/usr/sbin/"
	cp /bin/kill "$units/bin/"
	cp -r /lib/systemd/system/*.target "$units/lib/systemd/system/" 2>/dev/null || true
	for unit in flopwatchd.service flopwatch-worker.socket flopwatch-worker@.service; do
		found=$(systemd-analyze verify --man=no --root="$units" "$unit" 2>&1) && [ -z "$found" ] || fail "$unit: $found"
		say "ok - systemd-analyze verify $unit"
	done
else
	say "ok - systemd-analyze verify # SKIP systemd-analyze is not installed"
fi
exec_start() { # unit: its command, with our folders instead of the system's
	sed -n 's/^ExecStart=//p' "$root/systemd/$1" | sed "s,/usr/sbin/\|/usr/libexec/flopwatch/,$state/bundle/bin/,; s,/etc/flopwatch/,$state/,; s,/var/cache/flopwatch-worker,$state/worker,; s, \$OPTIONS,,"
}

# ---- two users ----
daemon=31338 worker=31339
as() { # uid, command...: with the restrictions of both units: no capability, no new privileges
	local uid=$1
	shift
	setpriv --reuid="$uid" --regid="$uid" --clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs -- "$@"
}
cp -r "$bundle" "$state/bundle"
chmod -R go+rX "$state/bundle"
mkdir "$state/daemon" "$state/worker" "$state/push"
chown "$daemon:$daemon" "$state/daemon" "$state/push"
chown "$worker:$worker" "$state/worker"
chmod 700 "$state/worker"

# ---- the worker's socket, as in flopwatch-worker.socket: one process per connection, without network ----
cat >"$state/listen.py" <<'PYTHON'
import os, socket, subprocess, sys
path, owner, *command = sys.argv[1:]
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
os.chmod(path, 0o600)
os.chown(path, int(owner), int(owner))
listener.listen(8)
running = []
while True:
    peer, _ = listener.accept()
    running = [child for child in running if child.poll() is None]
    running.append(subprocess.Popen(command, stdin=peer, stdout=peer))
    peer.close()
PYTHON
read -ra worker_start <<<"$(exec_start flopwatch-worker@.service)"
python3 "$state/listen.py" "$state/worker.sock" "$daemon" unshare --net setpriv --reuid=$worker --regid=$worker --clear-groups \
	--bounding-set=-all --inh-caps=-all --no-new-privs -- "${worker_start[@]}" >"$out/worker.log" 2>&1 &
pids+=($!)
until [ -S "$state/worker.sock" ]; do sleep 0.1; done

# ---- the daemon ----
cat >"$state/flopwatchd.yml" <<YML
state_dir: $state/daemon/state
cache_dir: $state/daemon/cache
suites_dir: $state/bundle/share/suites
listen: 127.0.0.1:0
sandbox: required
profile: off
workers: [{name: gpu, socket: $state/worker.sock, device: $device}]
repos: [{name: kernels, url: "$state/push/kernels.git", upstream: main}]
YML
read -ra daemon_start <<<"$(exec_start flopwatchd.service)"
boxed=("$state/bundle/bin/bwrap" --unshare-user --unshare-ipc --unshare-uts --ro-bind / / --dev /dev --bind "$state/daemon" "$state/daemon" --)
as "$daemon" "${boxed[@]}" true 2>"$out/box.log" || { boxed=(); say "# the daemon runs without bubblewrap: $(head -n 1 "$out/box.log")"; }

# ---- two commits ----
git_as() { as "$daemon" git -C "$state/push/work" "$@"; }
as "$daemon" git init -q --bare -b main "$state/push/kernels.git"
as "$daemon" git init -q -b main "$state/push/work"
mkdir -p "$state/push/work/kernels" "$state/push/work/etc/suites"
if [ "$device" = cuda ]; then
	cp "$root"/tests/gpu/modules/good.cu "$root"/tests/gpu/modules/good.cuh "$state/push/work/"
	capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .) # a build sees no GPU
	compile="nvcc -O2 -std=c++17 -arch=sm_$capability -I. -Xcompiler -fPIC,-fvisibility=hidden -shared -o"
	source=good.cu shape='seqlens: [512], masks: [full]'
else
	cp "$root/tests/modules/good.c" "$state/push/work/"
	compile='gcc -std=gnu17 -O2 -fPIC -shared -fvisibility=hidden -I. -o'
	source=good.c shape='seqlens: [64], masks: [full]'
fi
cp "$root"/kernels/fw_*.h "$state/push/work/kernels/"
libraries=$([ "$device" = cuda ] || echo ' -lm')
printf 'all:\n\tmkdir -p build\n\t%s build/libattention.so %s%s\n' "$compile" "$source" "$libraries" >"$state/push/work/Makefile"
cat >"$state/push/work/.flopwatch.yaml" <<'YAML'
flopwatch: 1
inputs: [.]
build: {dir: ., command: [make], outputs: {attention: build/libattention.so}}
suites: [package]
YAML
cat >"$state/push/work/etc/suites/package.yaml" <<YAML
suite: package
family: attention
common: {nhq: 2, nhk: 1, headdim: 64, dtype: bf16}
dense: {$shape}
directions: [forward]
seed: 42
threshold_pct: 10
budget_s: 10
YAML
chown -R "$daemon:$daemon" "$state/push/work"
push() { # subject
	git_as add -A
	git_as commit -q -m "$1"
	git_as push -q "$state/push/kernels.git" HEAD:main
}
push "first"

as "$daemon" "${boxed[@]}" "${daemon_start[@]}" >"$out/daemon.log" 2>&1 &
pids+=($!)
for _ in $(seq 100); do
	FLOPWATCH_SERVER=$(sed -n 's/^listening on //p' "$out/daemon.log")
	[ -z "$FLOPWATCH_SERVER" ] || break
	sleep 0.1
done
[ -n "$FLOPWATCH_SERVER" ] || fail "the daemon does not start: $(tail -n 1 "$out/daemon.log")"
export FLOPWATCH_SERVER
flopwatch=$state/bundle/bin/flopwatch
judge() { # commit, OUT file
	local status=0
	timeout $((115 - SECONDS)) "$flopwatch" wait "$1" --long --quiet --timeout 100 >"$out/$2.txt" || status=$?
	"$flopwatch" wait "$1" --quiet --json >"$out/$2.json" || true
	say "$2: exit $status after $SECONDS s"
	[ "$status" = 0 ] || [ "$status" = 7 ] || { "$flopwatch" jobs | tee -a "$out/summary.txt"; fail "$2 has no verdict"; }
}
judge "$(git_as rev-parse HEAD)" first
sed -i '1i /* a comment more, and another constant in the module */\nextern "C" const char package_second[];\nconst char package_second[] __attribute__((used)) = "second";' "$state/push/work/$source"
[ "$device" = cuda ] || sed -i 's/^extern "C" const/extern const/' "$state/push/work/$source"
push "second"
judge "$(git_as rev-parse HEAD)" second
cat "$out/second.txt"

# ---- users of the processes ----
say "daemon: uid $(stat -c %u "$state/daemon/state/flopwatch.db"), worker: uid $(find "$state/worker" -mindepth 1 -maxdepth 1 -printf '%U\n' | sort -u | paste -sd' ')"
[ "$(stat -c %u "$state/daemon/state/flopwatch.db")" = "$daemon" ] || fail "the database is another user's"
say "device: $("$flopwatch" devices | sed -n 2p)"
say "driver: $(cat /sys/module/nvidia/version 2>/dev/null || echo none); system: $(. /etc/os-release && echo "$PRETTY_NAME"), Linux $(uname -r)"
say "date: $(date -u +%FT%TZ); commit: $(git -C "$root" -c safe.directory="$root" rev-parse --verify -q HEAD 2>/dev/null || echo unknown)"
say "ok - judged from the bundle by two users in $SECONDS s"
