#!/bin/bash
# Two GPUs of one host: pushes judged on both at once, equal builds unchanged there, one comparison split over both, and every device's
# class and pace. Usage: tests/gpu/two.sh BUNDLE OUT [SUITE]
#   DEVICE: cuda (default) sim; device sim pretends to have two
#   SEQLENS: "64, 128": other lengths than those of an H200, for device sim
#   MODULES: folder with base.so, stripped; without it the kernels of the bundle are built before anything is measured
# OUT gets a JSON of each branch, two.txt, which says what was seen, and the daemons' logs.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/gpu/daemon_lib.sh"
daemon_prepare "$1"
mkdir -p "$2"
out=$(cd "$2" && pwd) suite=${3:-two}
export DEVICE=${DEVICE:-cuda}
[ "$DEVICE" != sim ] || export WORKER="[env, \"FLOPWATCH_SIM_DEVICES=0,1\", \"$bundle/bin/flopwatch-worker\", serve]"

mkdir -p "$state/tree/kernels" "$state/tree/etc/suites"
if [ -n "${MODULES:-}" ]; then
	cp "$MODULES/base.so" "$state/tree/kernels/libattention.so"
else
	cp -r "$bundle/kernels" "$state/made"
	make -s -j "$(nproc)" -C "$state/made" "DEVICE=${DEVICE/sim/cpu}"
	strip -s -o "$state/tree/kernels/libattention.so" "$state/made/build/${DEVICE/sim/cpu}/libattention.so"
fi
printf 'all:\n\tmkdir -p build/$(DEVICE)\n\tcp libattention.so build/$(DEVICE)/\n' >"$state/tree/kernels/Makefile"
cat >"$state/tree/etc/suites/two.yaml" <<YML
suite: two
family: attention
common: {nhq: 64, nhk: 8, headdim: 128, dtype: bf16}
dense: {seqlens: [${SEQLENS:-4096, 8192, 16384, 24576, 32768}], masks: [full, causal]}
directions: [forward, backward]
seed: 42
threshold_pct: 1.5
budget_s: 60
YML
daemon_repository "$state/tree/kernels" "$state/tree/etc"

# NAME: a branch whose module is another file and the same machine code
equal_push() {
	git checkout -q -B "$1" main
	cp kernels/libattention.so same.so
	printf 'flopwatch %s' "$1" >>same.so
	mv same.so kernels/libattention.so
	git commit -q -a -m "equal: $1"
	git push -q origin "$1"
}
asked() { # SQL
	sqlite3 -readonly "$state/state/flopwatch.db" "$1"
}
say() {
	echo "$*" | tee -a "$out/two.txt"
}
: >"$out/two.txt"
of_branch() { echo "comparison c JOIN job j ON j.id = c.job WHERE j.branch = '$1'"; }

# ---- two pushes at once, each on a device of its own ----------------------------------------------------------------------------
daemon_start "$out/daemon.log" "$suite"
git push -q origin main
daemon_judge main "$out"
equal_push one
equal_push two
daemon_judge one "$out"
daemon_judge two "$out"
say "devices: $(asked "SELECT group_concat(uuid || ' class ' || class, ', ') FROM device")"
for branch in one two; do
	say "$branch: $(asked "SELECT c.verdict || ' on ' || d.uuid || ', furthest from 0: ' || (SELECT round(max(abs(change_pct)), 3) FROM cell x WHERE x.comparison = c.id) || ' %' FROM $(of_branch $branch | sed 's/ WHERE/ JOIN device d ON d.id = c.device WHERE/')")"
done
say "at the same time for $(asked "SELECT round((min(ended_at) - max(started_at)) / 1e3, 1) FROM job WHERE branch IN ('one', 'two')") s"
kill "$daemon_pid"
wait "$daemon_pid" || true

# ---- one comparison over both, beside the same on one -----------------------------------------------------------------------------
seconds() { asked "SELECT round((j.ended_at - j.started_at) / 1e3, 2) FROM $(of_branch "$1")"; }
daemon_start "$out/daemon-alone.log" "$suite"
equal_push alone
daemon_judge alone "$out"
kill "$daemon_pid"
wait "$daemon_pid" || true
daemon_start "$out/daemon-split.log" "$suite" "split: true
confirm: other_device"
equal_push split
daemon_judge split "$out"
say "split: $(asked "SELECT c.verdict FROM $(of_branch split)"), $(asked "SELECT group_concat(t, ', ') FROM (SELECT count(*) || ' cells on ' || d.uuid AS t FROM cell x JOIN device d ON d.id = x.device WHERE x.comparison = (SELECT c.id FROM $(of_branch split)) GROUP BY d.uuid)")"
say "seconds: $(seconds alone) on one, $(seconds split) on both"
say "stands out: $(asked "SELECT coalesce(group_concat(uuid || ': ' || stands_out, '; '), 'nobody') FROM device WHERE stands_out <> ''")"
