#!/bin/bash
# Kernels that cheat are found out, each for its own reason; honest fast ones are not accused. Real processes, the real clock.
. "$(dirname "$0")/tap.sh"
worker=$bin/flopwatch-worker
modules=$root/build/tests/modules
export FLOPWATCH_CPU_THREADS=2
cat >"$tmp/suite.yaml" <<'YAML'
suite: one
family: attention
common: {nhq: 2, nhk: 1, headdim: 32, dtype: bf16}
dense: {seqlens: [128], masks: [full]}
directions: [forward, backward]
seed: 42
threshold_pct: 1.5
budget_s: 60
YAML
compare() { # base, target, options...
	"$worker" compare --suite "$tmp/suite.yaml" --device cpu --quick --json --base "$modules/$1.so" --target "$modules/$2.so" "${@:3}"
}
forward() { compare "$@" --cells '*/forward' >"$tmp/json" 2>"$tmp/err"; }
cell() { jq -r "[.cells[0] | $1] | map(tostring) | join(\" \")" "$tmp/json"; }

# ---- ten and more ways to look faster than one is ----
caught() { # module, base, verdict and class, reason
	forward "$2" "$1"
	is "$1 is caught" "$(cell '.role, .verdict, .class')" "target $3"
	like "$1: the reason is named" "$(cell .detail)" "$4"
}
caught cheat_cached good 'failed wrong' '^with a few rows of its inputs changed: '
caught cheat_stale good 'failed wrong' '^with a few rows of its inputs changed: '
caught cheat_lazy good 'failed wrong' '^between the timed calls: '
caught cheat_partial good 'failed wrong' '^between the timed calls: '
caught cheat_mode good 'failed wrong' '^between the timed calls: '
caught cheat_thread good 'rejected escaped' 'still being written after the call was done'
caught cheat_exit good 'failed crash' 'ended the process \(exit 0\) before its timings'
caught cheat_leave good 'failed crash' 'ended the measuring thread by calling pthread_exit'
caught cheat_records good 'rejected forged' "wrote into the runner's records"
caught cheat_scribble good 'failed oob' '^wrote into its input V'
caught cheat_workspace good 'failed oob' '^wrote into the workspace of base'
caught cheat_clock good 'rejected clock' "by the supervisor's clock\$"

# ---- ten honest ones ----
believed() { # base, module
	forward "$1" "$2"
	like "$2 is not accused" "$(cell '.verdict, .class')" '^(unchanged|improvement|regression|undecided) $'
}
for module in openmp threads online backwards plans workspace memory persist padded; do
	believed good "honest_$module"
done
believed plodding good
compare good honest_persist >"$tmp/json" 2>"$tmp/err"
is "backward is not accused either" "$(jq '[.cells[] | select(.class != "")] | length' "$tmp/json")" 0
