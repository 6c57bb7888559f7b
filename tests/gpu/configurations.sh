#!/bin/bash
# Providers and configurations of one commit through the daemon on this GPU: a requested one on each side, cuDNN against ours with
# the tried ones, and every cell of a suite with its configuration, its counters and its gain (flopwatch profile --suite).
# Usage: tests/gpu/configurations.sh BUNDLE OUT [SUITE]     default: ws
#   MODULES: folder with base.so, stripped; without it the kernels of the bundle are built
#   CELLS: only these of SUITE
# OUT gets the printed tables, and comparisons and profiles as the API serves them.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/gpu/daemon_lib.sh"
daemon_prepare "$1"
mkdir -p "$2"
out=$(cd "$2" && pwd) suite=${3:-ws}
mkdir -p "$state/tree/kernels"
if [ -n "${MODULES:-}" ]; then
	cp "$MODULES/base.so" "$state/tree/kernels/libattention.so"
else
	cp -r "$bundle/kernels" "$state/made"
	make -s -j "$(nproc)" -C "$state/made" DEVICE=cuda build/cuda/libattention.so
	strip -s -o "$state/tree/kernels/libattention.so" "$state/made/build/cuda/libattention.so"
fi
printf 'all:\n\tmkdir -p build/$(DEVICE)\n\tcp libattention.so build/$(DEVICE)/\n' >"$state/tree/kernels/Makefile"
daemon_repository "$state/tree/kernels"
daemon_start "$out/daemon.log" "ffa, traffic, $suite"

asked() { # NAME COMMAND...: the command's output and, as JSON, the API's answer
	local name=$1 status=0
	shift
	"$@" >"$out/$name.txt" 2>&1 || status=$?
	echo "$name: exit $status after $SECONDS s"
	head -n 30 "$out/$name.txt" | cut -c1-200
}
backward='attention/dense/causal/s8192/hq64/hk8/d128/bf16/backward'
one='BLOCK_M=64 BLOCK_N=128 STAGES=3 WARPGROUPS=3'
git push -q origin main
# No comparison of main with itself.
sleep 2
for job in $(curl -sf "$FLOPWATCH_SERVER/api/v1/jobs?state=open" | jq -r '.items[].id'); do
	flopwatch cancel "$job" || true
done
asked pins flopwatch compare --long main main --suite ffa --cells "$backward" --base-config "$one PARTS=4 PASSES=1" --target-config "$one PARTS=1 PASSES=1" --quiet
asked pins-why flopwatch profile main main --suite ffa --cells "$backward" --base-config "$one PARTS=4 PASSES=1" --target-config "$one PARTS=1 PASSES=1" --quiet
asked pins-refused flopwatch compare --long main main --suite ffa --cells "$backward" --target-config "$one PARTS=3 PASSES=1" --quiet
asked cudnn flopwatch compare --long main main --suite traffic --cells '*/full/s4096/*' --base-provider cudnn --target-provider hopper --quick --quiet
asked suite flopwatch profile --suite "$suite" --base-provider hopper.v1 --target-provider hopper --quiet ${CELLS:+--cells "$CELLS"}
asked suite-json flopwatch profile --suite "$suite" --base-provider hopper.v1 --target-provider hopper --quiet --json --cells '*/full/s1024/*'
for id in $(curl -sf "$FLOPWATCH_SERVER/api/v1/comparisons?limit=50" | jq -r '.items[].id'); do
	curl -sf "$FLOPWATCH_SERVER/api/v1/comparisons/$id" >"$out/comparison-$id.json"
done
curl -sf "$FLOPWATCH_SERVER/api/v1/profiles?limit=50" >"$out/profiles.json" || true
flopwatch backup "$out/flopwatch.db"
