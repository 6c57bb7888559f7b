#!/bin/bash
# Check that a profile names the planted cause: for each plant of plant.sh (and needless products of demo-slower.sh) a comparison
# of the cell that it slows, then a profile of it, stored as a recording that tests/profile/test_cause.c reads; and profiles of
# equal modules, which must name no cause.
# Usage: tests/gpu/why.sh BUNDLE OUT [PLANT...]     all plants, and "equal"
#   OUT gets a file PLANT.jsonl for each, equal-N.jsonl, why.txt (the output, seconds). It needs nvcc.
#   MODULES: folder with plain.so and NAME.so, stripped, which are then not built
# For serial and barrier the samples have to be after the instructions that they added (why_stalls.py).
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
bundle=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
shift 2
export PATH=$bundle/bin:/usr/local/cuda/bin:$PATH LC_ALL=C.UTF-8
suite=$bundle/share/suites/ffa.yaml heads=$root/tests/gpu/why-heads.yaml
forward='*/causal/s8192/*/forward' backward='*/causal/s8192/*/backward'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
say() { echo "$*" | tee -a "$out/why.txt"; }

# NAME -> $work/NAME.so
build() {
	if [ -n "${MODULES:-}" ]; then
		cp "$MODULES/$1.so" "$work/"
		return
	fi
	mkdir -p "$work/$1"
	cp -r "$bundle/kernels" "$work/$1/"
	case $1 in
	plain) ;;
	needless-*) "$root/etc/demo-slower.sh" "$work/$1" cuda "${1#needless-}" ;;
	*) "$root/tests/gpu/plant.sh" "$work/$1" "$1" ;;
	esac && make -s -j4 -C "$work/$1/kernels" DEVICE=cuda >"$work/$1.log" 2>&1 && cp "$work/$1/kernels/build/cuda/libattention.so" "$work/$1.so" ||
		say "$1: it does not build: $(tail -n 3 "$work/$1.log")"
}
# NAME CELL BASE SUITE: the comparison, the profile, and both as one recording
plant() {
	local began=$SECONDS compared suite=${4:-$suite}
	flopwatch-worker compare --suite "$suite" --base "$work/${3:-plain}.so" --target "$work/$1.so" --cells "$2" --device cuda --budget-s 12 --json \
		>"$work/$1.json" 2>"$work/$1.err"
	compared=$((SECONDS - began))
	began=$(date +%s%N)
	timeout 90 flopwatch-worker profile --suite "$suite" --base "$work/${3:-plain}.so" --target "$work/$1.so" --cells "$2" --device cuda --json \
		>"$work/$1.lines" 2>"$work/$1.err2" || say "$1: no profile: $(tail -n 2 "$work/$1.err2")"
	say "$1: compared in $compared s, profiled in $((($(date +%s%N) - began) / 1000000)) ms"
	"$root/tests/gpu/why_recording.py" "$1" "$work/$1.json" "$work/$1.lines" >"$out/$1.jsonl" || say "$1: no recording"
	head -n 1 "$out/$1.jsonl" | cut -c1-200
	case $1 in serial | barrier) say "$("$root/tests/gpu/why_stalls.py" "$1" "$work/$1.lines" || echo "$1: NOT where it was planted")" ;; esac
}
equal() {
	local n=0 cells
	for cells in '*/full/s8192/*' "$forward" "$backward" '*/varlen_*/*' '*/r0.1/*' '*/r0.2/*' '*/r0.5/*'; do
		n=$((n + 1))
		timeout 90 flopwatch-worker profile --suite "$suite" --base "$work/plain.so" --target "$work/plain.so" --cells "$cells" --device cuda --json \
			>"$out/equal-$n.jsonl" 2>"$work/equal.err" || say "equal $cells: $(tail -n 2 "$work/equal.err")"
	done
	say "equal: $(cat "$out"/equal-*.jsonl | grep -c '"t":"profile"') cells"
}

all="products balance spills banks order twice parts overlap serial barrier exponentials grid scalar memset"
wanted=${*:-$all equal}
(
	build plain &
	for name in $wanted; do
		case $name in
		products)
			build needless-0 &
			build needless-80 &
			;;
		equal) ;;
		*) build "$name" & ;;
		esac
	done
	wait
)
say "built after $SECONDS s"
for name in $wanted; do
	case $name in
	products)
		plant needless-80 "$forward" needless-0
		mv "$out/needless-80.jsonl" "$out/products.jsonl"
		;;
	spills | banks | twice | overlap | barrier | exponentials | grid | memset | tail | evict) plant "$name" "$forward" ;;
	balance | parts | serial | scalar) plant "$name" "$backward" ;;
	order) plant "$name" '*' plain "$heads" ;;
	equal) equal ;;
	esac
done
say "$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader), after $SECONDS s"
