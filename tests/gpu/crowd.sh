#!/bin/bash
# Effect of many readers on a job on this machine: 100 readers of events and 50 browsers, while main is compared with itself.
# Usage: tests/gpu/crowd.sh BUNDLE OUT [SUITE]     default: a few cells of ffa
#   DEVICE: cuda (default) cpu sim
#   CORES: the measuring cores, if there are too few for "auto"
#   MODULES: folder with base.so, stripped; without it the kernels of the bundle are built before anything is measured
# OUT gets <device>-<date>-crowd.jsonl and the daemon's log.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/gpu/daemon_lib.sh"
daemon_prepare "$1"
mkdir -p "$2"
out=$(cd "$2" && pwd) suite=${3:-crowd}
export DEVICE=${DEVICE:-cuda}

# The build in the daemon's sandbox is a copy: the repository contains the module.
mkdir -p "$state/tree/kernels" "$state/tree/etc/suites"
if [ -n "${MODULES:-}" ]; then
	cp "$MODULES/base.so" "$state/tree/kernels/libattention.so"
else
	cp -r "$bundle/kernels" "$state/made"
	make -s -j "$(nproc)" -C "$state/made" "DEVICE=${DEVICE/sim/cpu}"
	strip -s -o "$state/tree/kernels/libattention.so" "$state/made/build/${DEVICE/sim/cpu}/libattention.so"
fi
printf 'all:\n\tmkdir -p build/$(DEVICE)\n\tcp libattention.so build/$(DEVICE)/\n' >"$state/tree/kernels/Makefile"
cat >"$state/tree/etc/suites/crowd.yaml" <<'YML'
suite: crowd
family: attention
common: {nhq: 64, nhk: 8, headdim: 128, dtype: bf16}
dense: {seqlens: [8192], masks: [full, causal]}
block_sparse: {seqlens: [49152], sparsity_ratios: [0.1], block_sizes: [128]}
directions: [forward, backward]
seed: 42
threshold_pct: 1.5
budget_s: 30
YML
daemon_repository "$state/tree/kernels" "$state/tree/etc"
daemon_start "$out/daemon.log" "$suite" "${CORES:+cores: {measure: \"$CORES\"\}}"
git push -q origin main
daemon_judge main "$out"
"$root/tests/support/crowd.py" "$FLOPWATCH_SERVER" --cores "$(awk '/^Cpus_allowed_list/ { print $2 }' "/proc/$daemon_pid/status")" \
	--out "$out/crowd.jsonl" --commit "$(git -C "$root" rev-parse --verify -q HEAD 2>/dev/null || echo unknown)"
device=$(python3 -c 'import json, sys; print("".join(c if c.isalnum() else "-" for c in str(json.loads(sys.stdin.readline())["device"]).lower()).strip("-"))' <"$out/crowd.jsonl")
mv "$out/crowd.jsonl" "$out/$device-$(date -u +%F)-crowd.jsonl"
