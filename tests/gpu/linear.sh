#!/bin/bash
# Two families of one commit on this GPU: a daemon judges a suite of linear layers of 40 cells, one of transformer blocks and one
# of attention, whose modules are in one manifest. Main against itself is unchanged; a regression of some 2 % in one recipe is
# found only in its cells; a wrong scale of one group is found with its element; attention is unchanged by either. Then layer
# normalisation: accepted, and its share of the rate of a copy.
# Usage: tests/gpu/linear.sh BUNDLE OUT
#   DEVICE: cuda (default), or sim: CPU kernels and small sizes, which tests/flopwatchd/test_families.sh runs without a GPU
#   MODULES: folder with base.so, loss.so, group.so (linear), attention.so, layernorm.so, stripped; missing ones are built
#   LIMIT_S: branches that are not judged by then are left out
# OUT gets the database, the output of `flopwatch wait` for each branch, layernorm.json, copy_gb_s.txt (cuda: of 1 GiB, then of a
# matrix of each size), summary.txt. Exit status 1: a check failed.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/gpu/daemon_lib.sh"
daemon_prepare "$1"
mkdir -p "$2"
out=$(cd "$2" && pwd)
export DEVICE=${DEVICE:-cuda}
kind=cuda
[ "$DEVICE" != sim ] || kind=cpu
: >"$out/summary.txt"
say() { echo "$*" | tee -a "$out/summary.txt"; }

# ---- modules; main's under another name is the equal side of a comparison ----
mkdir "$state/modules"
make_module() { # NAME, family, [plant]
	local tree=$state/build
	if [ -e "${MODULES:-/nowhere}/$1.so" ]; then
		cp "$MODULES/$1.so" "$state/modules/"
		return
	fi
	[ -d "$tree" ] || { mkdir "$tree" && cp -r "$bundle/kernels" "$tree/" && rm -rf "$tree/kernels/build"; }
	[ -z "${3:-}" ] || "$root/tests/gpu/plant_linear.sh" "$tree" "$kind" "$3"
	make -s -j "$(nproc)" -C "$tree/kernels" DEVICE=$kind "build/$kind/lib$2.so"
	strip -s -o "$state/modules/$1.so" "$tree/kernels/build/$kind/lib$2.so"
	[ -z "${3:-}" ] || cp -r "$bundle/kernels/linear" "$tree/kernels/" # newer than the plant's build
	[ -z "${3:-}" ] || find "$tree/kernels/linear" -name '*.c*' -exec touch {} +
}
make_module base linear
make_module loss linear loss
make_module group linear group
make_module attention attention
make_module layernorm layernorm
# Other files with the same code: a text has FOR instead of for, and one byte more.
LC_ALL=C sed 's/ for \(CUDA\|CPUs\|tests\)/ FOR \1/' "$state/modules/attention.so" >"$state/modules/attention-twin.so"
cmp -s "$state/modules/attention.so" "$state/modules/attention-twin.so" && { echo "attention says nothing of itself"; exit 1; }
cp "$state/modules/layernorm.so" "$state/modules/layernorm-twin.so"
printf x >>"$state/modules/layernorm-twin.so"
say "modules after $SECONDS s"

# ---- a repository of both ----
mkdir -p "$state/tree/kernels" "$state/tree/etc/suites"
printf 'all:\n\tmkdir -p build/$(DEVICE)\n\tcp *.so build/$(DEVICE)/\n' >"$state/tree/kernels/Makefile"
cp "$state/modules/base.so" "$state/tree/kernels/liblinear.so"
cp "$state/modules/attention.so" "$state/tree/kernels/libattention.so"
cat >"$state/tree/.flopwatch.yaml" <<'YAML'
flopwatch: 1
inputs: [kernels]
build:
  dir: kernels
  command: [make, "DEVICE={device}"]
  outputs: {attention: "build/{device}/libattention.so", linear: "build/{device}/liblinear.so"}
suites: [layers, blocks, heads]
YAML
case $DEVICE in
sim)
	shapes='{name: custom, shapes: [[1, 256, 24], [2, 256, 40], [5, 512, 16], [16, 256, 48], [17, 512, 40], [33, 256, 8], [48, 128, 64], [64, 256, 32]]}'
	blocks='[1, 256, 1]' heads='common: {nhq: 2, nhk: 1, headdim: 64, dtype: bf16}
dense: {seqlens: [64], masks: [full, causal]}'
	;;
*)
	shapes='{name: llama}, {name: llama, rows: [16]}'
	blocks='[128, 1024, 1]' heads='common: {nhq: 16, nhk: 4, headdim: 128, dtype: bf16}
dense: {seqlens: [8192], masks: [full, causal]}'
	;;
esac
suite() { # name, family, further lines
	printf 'suite: %s\nfamily: %s\nseed: 42\nthreshold_pct: 1.5\nbudget_s: 110\n%s\n' "$@" >"$state/tree/etc/suites/$1.yaml"
}
suite layers linear "shapes: [$shapes]
recipes: [baseline, int8wo, int4wo-128, float8wo, float8dq-row]
directions: [forward]"
suite blocks linear "shapes: [{name: custom, shapes: [$blocks]}]
model_types: [transformer_block]
recipes: [baseline, int4wo-128, float8wo, float8dq-row]
directions: [forward]"
suite heads attention "$heads
directions: [forward, backward]"
daemon_repository "$state/tree/kernels" "$state/tree/etc" "$state/tree/.flopwatch.yaml"
daemon_start "$out/daemon.log" "layers, blocks, heads" "profile: off"

judged=
judge() { # BRANCH
	local left=$((${LIMIT_S:-86400} - SECONDS))
	if [ $left -lt 1 ] || ! daemon_judge "$1" "$out" "$left"; then
		say "$1: not judged within $LIMIT_S s"
		return
	fi
	judged="$judged $1"
}
push() { # BRANCH: main with that plant, and attention's other file
	git checkout -q -b "$1" main
	cp "$state/modules/$1.so" kernels/liblinear.so
	[ "$1" != loss ] || cp "$state/modules/attention-twin.so" kernels/libattention.so
	git commit -q -a -m "linear: $1"
	git push -q origin "$1"
}
git push -q origin main
judge main
push loss
judge loss
push group
judge group
say "judged after $SECONDS s"

# ---- layer normalisation ----
flopwatch-worker compare --suite "$root/etc/suites/layernorm.yaml" --device "$DEVICE" --base "$state/modules/layernorm.so" \
	--target "$state/modules/layernorm-twin.so" --json ${LAYERNORM_CELLS:+--cells "$LAYERNORM_CELLS"} --quick >"$out/layernorm.json" 2>"$out/layernorm.err" || true
if [ "$DEVICE" != sim ]; then
	sizes=$(jq -r '[.cells[].cell | capture("r(?<r>[0-9]+)/c(?<c>[0-9]+)") | (.r | tonumber) * (.c | tonumber) * 2] | unique[]' "$out/layernorm.json")
	# shellcheck disable=SC2086
	nvcc -O2 -o "$state/copy_rate" "$root/tests/gpu/copy_rate.cu" && "$state/copy_rate" >"$out/copy_gb_s.txt" &&
		"$state/copy_rate" $sizes >>"$out/copy_gb_s.txt" || say "copy: not measured"
fi

status=0
flopwatch backup "$out/flopwatch.db"
"$root/tests/gpu/linear_report.py" "$out" $judged >"$out/report.txt" || status=$?
tee -a "$out/summary.txt" <"$out/report.txt"
say "all after $SECONDS s"
exit $status
