#!/bin/bash
# Losses of about 0.3 and 0.7 % in the forward cells of suite ffa at a threshold of 0.5 % on this GPU, within five minutes of device time.
# Cells whose sets end without a verdict get further runs while that lasts (doc/verdict.md#the-decision).
# Usage: tests/gpu/night.sh BUNDLE OUT
#   MODULES: folder with base.so and night.so (`etc/demo-slower.sh TREE cuda 0`, then plant `night` of plant.sh), built beforehand
#   BUDGET_S: default 290
# OUT gets night.txt, the comparison with its steps.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
bundle=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -n "${MODULES:-}" ]; then
	cp "$MODULES/base.so" "$MODULES/night.so" "$work/"
else
	for name in base night; do
		mkdir "$work/$name"
		cp -r "$bundle/kernels" "$work/$name/"
		"$root/etc/demo-slower.sh" "$work/$name" cuda 0
		[ $name = base ] || "$root/tests/gpu/plant.sh" "$work/$name" night
		make -s -j "$(nproc)" -C "$work/$name/kernels" DEVICE=cuda build/cuda/libattention.so
		strip -s -o "$work/$name.so" "$work/$name/kernels/build/cuda/libattention.so"
	done
fi
sed 's/^threshold_pct: .*/threshold_pct: 0.5/; s/^suite: .*/suite: ffa-night/' "$root/etc/suites/ffa.yaml" >"$work/ffa-night.yaml"
echo "$(date -u +%F), $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader)" | tee "$out/night.txt"
status=0
"$bundle/bin/flopwatch-worker" compare --cache "$work/cache" --device cuda:0 --suite "$work/ffa-night.yaml" --base "$work/base.so" \
	--target "$work/night.so" --budget-s "${BUDGET_S:-290}" >>"$out/night.txt" || status=$?
cat "$out/night.txt"
[ $status = 0 ] || [ $status = 3 ] || [ $status = 7 ]
