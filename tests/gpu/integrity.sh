#!/bin/bash
# On this GPU: modules that cheat are detected, each for its reason, similar honest ones are not accused, and changing K and V
# between calls costs almost nothing.
# Usage: tests/gpu/integrity.sh BUNDLE OUT
#   MODULES: folder with the output of `make gpu-modules`; else they are built here
#   BASE: module to compare with itself for the cost (default: kernels/build/cuda/libattention.so of the bundle, built here);
#     "none": no cost
#   BEFORE: another bundle, whose device time of the same comparison is printed next to this one's
#   SUITE: of that comparison; default ffa
# OUT gets every comparison as JSON, the other output, and summary.txt. Exit status 1: a check failed.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
bundle=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
suite=$bundle/share/suites/${SUITE:-ffa}.yaml
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 n=0

if [ -n "${MODULES:-}" ]; then
	modules=$(cd "$MODULES" && pwd)
else
	modules=$work/modules
	mkdir "$modules"
	for source in "$root"/tests/gpu/modules/*.cu; do
		nvcc -O2 -std=c++17 -arch=native -I"$root" -Xcompiler -fPIC,-fvisibility=hidden -shared -o "$modules/$(basename "$source" .cu).so" "$source" || exit 1
	done
fi
cat >"$work/suite.yaml" <<'YAML'
suite: naive
family: attention
common: {nhq: 8, nhk: 2, headdim: 64, dtype: bf16}
dense: {seqlens: [1024], masks: [full, causal]}
directions: [forward, backward]
seed: 42
threshold_pct: 1.5
budget_s: 60
YAML

sed 's/^seed:/decide: call\nseed:/' "$work/suite.yaml" >"$work/calls.yaml"

say() { echo "$*" | tee -a "$out/summary.txt"; }
: >"$out/summary.txt"
report() { # 0 or 1, text
	n=$((n + 1))
	[ "$1" = 0 ] || failed=$((failed + 1))
	say "$([ "$1" = 0 ] || echo 'not ')ok $n - $2"
}
decides=suite # or calls
looks=--quick # or none, so that the longest cell of a kind runs in sustained runs
compare() { # MODULE CELLS
	"$bundle/bin/flopwatch-worker" compare --suite "$work/$decides.yaml" --device cuda:0 $looks --json --cells "$2" \
		--base "$modules/good.so" --target "$modules/$1.so" >"$out/$1.json" 2>"$out/$1.err"
}
# Without jq, which may be missing on a GPU host: "role verdict class detail" of every cell.
cells() {
	python3 -c 'import json, sys
for c in json.load(open(sys.argv[1]))["cells"]: print(c["role"], c["verdict"], c["class"], c["detail"])' "$out/$1.json" 2>&1
}
caught() { # MODULE CELLS REGEX
	compare "$1" "$2"
	local all bad
	all=$(cells "$1")
	bad=$(grep -cvE "$3" <<<"$all")
	report $((bad > 0)) "$1: $(head -n 1 <<<"$all")"
	[ "$bad" = 0 ] || say "#   every cell should match: $3; $bad do not"
}
noted() { # MODULE REGEX
	compare "$1" '*/forward'
	grep -qE "^note: target: $2" "$out/$1.err"
	report $? "$1: $(grep -m 1 '^note: target' "$out/$1.err" || echo nothing is said)"
}
gains_nothing() { # MODULE CELLS: it is accused, or no cell is an improvement
	compare "$1" "$2"
	local gains
	gains=$(cells "$1" | grep -cE '^[a-z]* ?improvement ')
	report $((gains > 0)) "$1: $gains cells gain"
}
believed() { # MODULE
	compare "$1" '*'
	local bad
	bad=$(cells "$1" | grep -cvE '^[a-z]* ?(unchanged|improvement|regression|undecided)  ')
	report $((bad > 0)) "$1: $((4 - bad)) of 4 cells are believed"
	[ "$bad" = 0 ] || cells "$1" | sed 's/^/#   /' | tee -a "$out/summary.txt"
}

caught cheat_keeps '*' '^target failed wrong (with other K and V on the same plan|backward starts from)'
caught cheat_keeps_late '*/forward' '^target failed wrong (between|after) the timed calls'
caught cheat_stream '*/forward' '^(target|device) (rejected escaped|failed wrong)'
caught cheat_thread '*/forward' '^(target|device) (rejected escaped|failed wrong)'
caught cheat_burn '*/forward' '^(target|device) rejected (escaped|slowed)'
caught cheat_fork '*/forward' '^target rejected escaped left process'
caught cheat_middle '*/forward' "^(target rejected forged|device rejected device)"
noted cheat_limits 'changed persisting L2 bytes from 0 to [0-9]+, which was set back'
noted cheat_alarm 'changed an interval timer, which was set back'
caught cheat_graph_result '*/forward' '^target failed wrong (between|after) the timed calls'
caught cheat_graph_skips '*/forward' '^target failed wrong'
caught cheat_graph_branch '*/forward' '^(target|device) (rejected escaped|failed wrong)'
caught cheat_old_event '*/forward' '^(target|device) (rejected escaped|failed wrong)'
# its marks are those of the base's calls, too
caught cheat_marks '*/forward' '^(target rejected (clock|roofline)|base not_comparable roofline|device undecided unsure)'
caught cheat_eight_bits '*/forward' '^target failed wrong'
gains_nothing cheat_window '*/forward'
for module in honest_packs honest_stream honest_thread honest_graph honest_tunes; do believed "$module"; done

# ---- calls are watched in every pass that may decide, and made like its other calls ----
looks=
caught cheat_sustained '*/full/*/forward' '^target failed wrong between the timed calls'
for module in honest_packs honest_stream; do believed "$module"; done
decides=calls looks=--quick
caught cheat_bound '*/forward' '^target failed wrong between the timed calls'
for module in honest_packs honest_stream honest_thread; do believed "$module"; done

# ---- its cost: the same module on both sides, one byte longer on one; checks of both and a run ----
cost() { # BUNDLE NAME
	"$1/bin/flopwatch-worker" compare --suite "$suite" --device cuda:0 --quick --json --base "$work/base.so" --target "$work/twin.so" \
		>"$out/aa-$2.json" 2>"$out/aa-$2.err" || true
}
if [ "${BASE:-}" != none ]; then
	if [ -z "${BASE:-}" ]; then
		cp -r "$bundle/kernels" "$work/kernels"
		make -s -j "$(nproc)" -C "$work/kernels" DEVICE=cuda || exit 1
		BASE=$work/kernels/build/cuda/libattention.so
	fi
	strip -s -o "$work/base.so" "$BASE"
	cp "$work/base.so" "$work/twin.so"
	printf x >>"$work/twin.so"
	cost "$bundle" now-1
	if [ -n "${BEFORE:-}" ]; then
		cost "$BEFORE" before-1
		cost "$BEFORE" before-2
		cost "$bundle" now-2
	fi
	python3 "$root/tests/gpu/integrity_cost.py" "$out" | tee -a "$out/summary.txt"
fi
say "$((n - failed)) ok, $failed not ok"
[ "$failed" = 0 ]
