# integrity.sh - comparisons of modules of tests/modules, one small cell, real processes, the real clock. Source it after tap.sh.
#
#   compare BASE TARGET [OPTIONS...]      flopwatch-worker compare, as JSON
#   forward BASE TARGET [OPTIONS...]      only its forward cell, into $tmp/json
#   backward BASE TARGET [OPTIONS...]     only its backward cell
#   cell EXPRESSION                       of the cell in $tmp/json, values on one line
#   caught MODULE BASE "VERDICT CLASS" REASON [ROLE]
#   not_accused NAME                      the cell in $tmp/json is not accused; prints an accusation
#   believed BASE MODULE                  no accusation of its forward cell
#   believed_faster MODULE                against a slow base, so that the supervisor's clock must agree
#   real_writes, short_writes             whether device cpu writes twice its cache before each cold call, as it does from the start, or
#                                         4 MiB: these are two fifths of the CPU time, and late work has to be noticed behind the real
#                                         ones, too. Short ones are for modules that do everything in their calls
worker=$bin/flopwatch-worker
modules=$root/build/tests/modules
export FLOPWATCH_CPU_THREADS=2
real_writes() { unset FLOPWATCH_CPU_CACHE_MIB; }
short_writes() { export FLOPWATCH_CPU_CACHE_MIB=2; }
real_writes
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
compare() {
	"$worker" compare --suite "$tmp/suite.yaml" --device cpu --quick --json --base "$modules/$1.so" --target "$modules/$2.so" "${@:3}"
}
forward() { compare "$@" --cells '*/forward' >"$tmp/json" 2>"$tmp/err"; }
backward() { compare "$@" --cells '*/backward' >"$tmp/json" 2>"$tmp/err"; }
cell() { jq -r "[.cells[0] | $1] | map(tostring) | join(\" \")" "$tmp/json"; }
caught() {
	forward "$2" "$1"
	like "$1 is caught" "$(cell '.role, .verdict, .class')" "^${5:-target} $3\$"
	like "$1: the reason is named" "$(cell .detail)" "$4"
}
not_accused() {
	like "$1" "$(cell '.verdict, .class')" '^(unchanged|improvement|regression|undecided) $' ||
		cell '.role, .detail' | sed 's/^/#   /'
}
believed() {
	forward "$1" "$2"
	not_accused "$2 is not rejected"
}
believed_faster() {
	forward plodding "$1"
	is "$1 is far faster than a slow base, and believed" "$(cell '.class, .change_pct > 100')" " true" # by 330 to 1,700 %, by module and processor
}
