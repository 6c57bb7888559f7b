#!/bin/bash
# flopwatch-worker profile and probe --counters, as users run them on a machine without counters.
cd "$(dirname "$0")/../.." || exit 1
worker=${FW_BIN:-build/bin}/flopwatch-worker
modules=$PWD/build/tests/modules
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
n=0 bad=0

ok() { # name, command...: passes when the command succeeds
	local name=$1
	shift
	n=$((n + 1))
	if "$@" >"$tmp/said" 2>&1; then
		echo "ok $n - $name"
	else
		sed 's/^/# /' "$tmp/said" "$tmp/out" "$tmp/err" 2>/dev/null | head -n 20
		echo "not ok $n - $name"
		bad=1
	fi
}
is() { [ "$1" = "$2" ] || { echo "is '$1', should be '$2'"; return 1; }; }

cat >"$tmp/suite.yaml" <<'SUITE'
suite: tiny
family: attention
common: {nhq: 4, nhk: 2, headdim: 32, dtype: bf16}
dense: {seqlens: [64], masks: [full, causal]}
directions: [forward, backward]
seed: 42
threshold_pct: 1.5
budget_s: 60
SUITE
profile() { timeout 120 "$worker" profile --suite "$tmp/suite.yaml" "$@" >"$tmp/out" 2>"$tmp/err"; status=$?; }

profile --device cpu --base "$modules/good.so" --target "$modules/slow.so" --json
ok "a profile of a CPU ends well" is $status 0
ok "with a line for each cell" is "$(jq -s '[.[] | select(.t == "profile")] | length' "$tmp/out")" 4
ok "whose path is machine code, and why" is "$(jq -rs '[.[] | select(.t == "profile") | "\(.path): \(.why)"] | unique[]' "$tmp/out")" \
	"code: device cpu has no counters; the modules hold no device code that can be read here"
ok "and no number that was not counted" is "$(jq -s '[.[] | select(.t == "kernel")] | length' "$tmp/out")" 0

profile --device sim --base "$modules/good.so" --target "$modules/good.so" --cells '*causal*backward'
ok "device sim in the same way, for users" grep -q "^attention/dense/causal/.*/backward: not counted: device sim has no counters" "$tmp/out"
ok "of the cells that were asked for" is "$(grep -c ': not counted' "$tmp/out")" 1

profile --device cpu --base "$modules/good.so" --target "$modules/crash_run.so" --cells '*full*forward' --json
ok "a module that crashes is no failure of the profile" is $status 0
ok "and is named" grep -q 'target: crash: killed by SIGSEGV' "$tmp/out"

profile --device cpu --path guess --base x --target y
ok "an unknown path is refused" is $status 2
profile --device cpu --base "$modules/good.so"
ok "a side that is missing, too" is $status 2
ok "whether counters can be read is asked by probe" is "$("$worker" probe --counters --device cpu | jq -r '"\(.path): \(.why)"')" \
	"code: device cpu has no counters"
echo "1..$n"
exit $bad
