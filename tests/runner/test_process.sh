#!/bin/bash
# flopwatch-runner as a process: correct, wrong and crashing modules; its arguments; capture.
cd "$(dirname "$0")/../.." || exit 1
runner=${FW_BIN:-build/bin}/flopwatch-runner
modules=build/tests/modules
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
		sed 's/^/# /' "$tmp/said" | head -n 20
		echo "not ok $n - $name"
		bad=1
	fi
}

# A task line: mode, device, module names (base, target, ...). Two small cells, numbers 3 and 4.
task() {
	local mode=$1 device=$2
	shift 2
	jq -cn --arg mode "$mode" --arg device "$device" --arg dir "$modules" '
		def cell($mask; $direction; $lengths; $i): { key: "attention/dense/\($mask)/s96/hq4/hk2/d32/bf16/\($direction)",
			family: "attention", direction: $direction, threshold_pct: 1.5, shape: {mask: $mask, seqlen: 96, nhq: 4, nhk: 2, headdim: 32,
			dtype: "bf16", lengths: $lengths, block: 0, sparsity_ratio: 0}, seed: "42", i: $i };
		{ t: "task", mode: $mode, device: $device, run: 2, set: 1, seed: "99",
		  sides: [$ARGS.positional | to_entries[] |
			{ role: ["base", "target", "reference"][.key], module: "\($dir)/\(.value).so", provider: "" }],
		  cells: [cell("full"; "forward"; []; 3), cell("varlen_causal"; "backward"; [50, 40, 6]; 4)],
		  rule: { version: 1, tau0: 0.0025, nu0: 6, k: 3.5, se_max: 0.003, runs_ok_min: 2, runs_regression_min: 4,
			runs_max: 12, pairs_min: 4, pairs_max: 32, pair_budget_s: 0.02, beta_min: -1.1,
			half_width_dense_pct: 0.4, half_width_sparse_pct: 0.6, confirm: true },
		  warm_s: 0.002, cell_warm_s: 0.001, phases: true, calls: true }' --args "$@"
}

# Run a task: records in $tmp/records, stdout in $tmp/out, exit status in $status.
run() {
	task "$@" >"$tmp/task"
	timeout 120 "$runner" <"$tmp/task" 3>"$tmp/records" >"$tmp/out" 2>"$tmp/err"
	status=$?
}
records() { jq -se "$1" "$tmp/records"; }
last_at() { jq -rs '[.[] | select(.t == "at")] | last | "\(.cell) \(.role) \(.step)"' "$tmp/records"; }
is() { [ "$1" = "$2" ] || { echo "is '$1', should be '$2'"; return 1; }; }

run check cpu good
ok "a good module is accepted" records '[.[] | select(.t == "check")] | length == 2 and all(.ok)'
ok "and its run ends with 0" is $status 0
ok "nothing of the runner's is on stdout" test ! -s "$tmp/out"
ok "cell numbers are the job's" records '[.[] | select(.t == "check") | .cell] == [3, 4]'

ok "and gives the same bits again" records 'all(.[] | select(.t == "check"); .repeats == "same")'
run check cpu unsteady
ok "one that does not is accepted too, and reported" records '[.[] | select(.t == "check")] | length == 2 and all(.ok and .repeats == "differs")'
run check cpu chatter
ok "what branch code prints is no record" records '[.[] | select(.t == "check")] | length == 2 and all(.role == "base")'
ok "and stays on stdout" grep -q '"role":"target"' "$tmp/out"

run check cpu one_mask
ok "a mask cached from the first call is wrong" records \
	'any(.[]; .t == "check" and (.ok | not) and .class == "wrong" and (.detail | contains("another mask")))'

run check cpu crash_run
ok "a crash ends the process by its signal" is $status 139
ok "and the last record says in whose step" is "$(last_at)" "3 base check"
run check cpu crash_plan
ok "a crash in plan likewise" is "$status $(last_at)" "139 3 base plan"
run check cpu exit_run
ok "an early _exit(0) leaves no check record" records 'all(.[]; .t != "check")'
ok "and the last record says in whose step" is "$(last_at)" "3 base check"

task check cpu hang_run >"$tmp/task"
"$runner" <"$tmp/task" 3>"$tmp/records" >"$tmp/out" 2>"$tmp/err" &
hangs() { [ "$(last_at)" = "3 base check" ]; }
until hangs || ! kill -0 $!; do sleep 0.05; done
ok "a hang is put on its step too" hangs
kill -KILL $!

for module in no_entry wrong_abi; do
	run check cpu $module
	ok "$module: a fault of class abi" records 'any(.[]; .t == "fault" and .class == "abi" and .role == "base")'
done

run time cpu good crash_run
ok "a death in a run names the side" is "$status $(last_at | cut -d' ' -f2)" "139 target"

run time sim good slow
ok "a run times every cell and series" records \
	'[.[] | select(.t == "cell") | "\(.cell) \(.series)"] | unique == ["3 call", "3 device", "3 phase", "4 call", "4 device", "4 phase"]'
ok "5 % more work shows" records 'def median: sort | .[length / 2 | floor];
	[.[] | select(.t == "cell" and .series == "device") | (.ms.target | median) / (.ms.base | median)] | all(. > 1.03 and . < 1.07)'
ok "order and clocks are reported" records '[.[] | select(.t == "cell" and .series == "device")] |
	all((.order | length) == 2 * .n and (.order[0:4] == "ABBA" or .order[0:4] == "BAAB") and (.mhz.base | length) == .n)'
cp "$tmp/records" "$tmp/first"
run time sim good slow
ok "the same seed gives the same run, byte for byte" cmp "$tmp/first" "$tmp/records"

run time cpu good good
ok "on the CPU times are its own, without a clock" records '[.[] | select(.t == "cell" and .series == "device")] |
	length == 2 and all(all(.ms.base[]; . > 0) and (has("mhz") | not))'

# Modules by descriptor, as the worker passes them.
task check cpu good | sed "s#$modules/good.so#/proc/self/fd/9#" >"$tmp/task"
"$runner" <"$tmp/task" 3>"$tmp/records" 9<"$modules/good.so" 2>"$tmp/err"
ok "a module can come as a descriptor" records '[.[] | select(.t == "check")] | length == 2 and all(.ok)'

"$runner" --list >"$tmp/list" 2>"$tmp/err"
ok "--list is a hello line with cpu and sim" jq -e '.t == "hello" and ([.devices[].kind] | contains(["cpu", "sim"]))' "$tmp/list"

usage() { # text that stderr must contain, arguments...
	local words=$1 status
	shift
	"$runner" "$@" </dev/null 3>/dev/null >"$tmp/out" 2>"$tmp/err"
	status=$?
	[ $status = 2 ] && grep -q -e "$words" "$tmp/err" && [ "$(wc -l <"$tmp/err")" = 1 ] || { echo "exit $status"; cat "$tmp/err"; return 1; }
}
ok "an empty stdin is no task" usage "ended before a whole line"
ok "an unknown option" usage "unrecognized" --nonsense
ok "an argument too many" usage "unexpected" extra
ok "--capture alone" usage "needs --module" --capture x
ok "a bad count" usage "calls" --calls 0
cat >"$tmp/suite.yaml" <<'SUITE'
suite: tiny
family: attention
common: {nhq: 4, nhk: 2, headdim: 32, dtype: bf16}
dense: {seqlens: [96], masks: [full, causal]}
directions: [forward, backward]
seed: 42
threshold_pct: 1.5
budget_s: 60
SUITE
cell=attention/dense/causal/s96/hq4/hk2/d32/bf16/forward
ok "an unknown cell names one that exists" usage "attention/dense/full" --capture nonesuch --module "$modules/good.so" --suite "$tmp/suite.yaml"
ok "a missing suite" usage "nonesuch.yaml" --capture $cell --module "$modules/good.so" --suite nonesuch.yaml

no_descriptor() {
	"$runner" <"$tmp/task" 3>&- 2>"$tmp/err"
	[ $? = 2 ] && grep -q "descriptor 3" "$tmp/err"
}
ok "descriptor 3 is needed" no_descriptor

capture() {
	"$runner" --capture "$1" --module "$modules/good.so" --suite "$tmp/suite.yaml" --calls 2 --warmup 1 --device sim >"$tmp/out" &&
		grep -q '2 calls, median' "$tmp/out" && [ "$(wc -l <"$tmp/out")" = 1 ]
}
ok "capture runs a forward cell" capture $cell
ok "capture runs a backward cell" capture ${cell%forward}backward
json='{"key":"'$cell'","family":"attention","direction":"forward","threshold_pct":1.5,"shape":{"mask":"causal","seqlen":96,"nhq":4,"nhk":2,"headdim":32,"dtype":"bf16","lengths":[],"block":0,"sparsity_ratio":0},"seed":"42"}'
alone() { # the environment, the expected line
	env $1 "$runner" --capture "$json" --module "$modules/good.so" --calls 2 --warmup 1 --device sim >"$tmp/out" 2>"$tmp/err" &&
		grep -q "$2" "$tmp/out" && [ "$(wc -l <"$tmp/out")" = 1 ] || { cat "$tmp/out" "$tmp/err"; return 1; }
}
ok "a cell as JSON needs no suite" alone "" "^$cell .* 2 calls, median"
traced() { # device: five calls, whose phases follow each other on the device
	"$runner" --capture $cell --module "$modules/good.so" --suite "$tmp/suite.yaml" --calls 2 --warmup 1 --device "$1" --trace >"$tmp/out" &&
		tail -n 1 "$tmp/out" | python3 -c '
import json, sys
trace = json.load(sys.stdin)
events = [e for e in trace["traceEvents"] if e["ph"] == "X"]
calls, phases = [e for e in events if e["name"].startswith("call ")], [e for e in events if e["tid"] == 2]
assert len(calls) == 5 and len(phases) % 5 == 0 and phases, events
assert {e["name"] for e in phases} <= {e["name"] for e in events if e["tid"] == 1}
for a, b in zip(calls, calls[1:]):
    assert b["ts"] >= a["ts"] + a["dur"]
for call in calls:
    own = [e for e in phases if e["args"]["call"] == int(call["name"][5:])]
    assert own and own[0]["ts"] == call["ts"] and all(e["dur"] > 0 for e in own)
    assert all(abs(a["ts"] + a["dur"] - b["ts"]) < 0.01 for a, b in zip(own, own[1:]))
'
}
ok "a timeline of calls on device sim" traced sim
ok "and on a CPU" traced cpu
ok "of a cell that is none the place is reported" usage "cell.family: " --capture '{"key":"x"}' --module "$modules/good.so"
# A tool that receives NVTX ranges. It is loaded only where the runner is built with CUDA's headers.
ranges() {
	rm -f "$tmp/ranges"
	alone "FAKE_NVTX=$tmp/ranges NVTX_INJECTION64_PATH=$PWD/$modules/fake_nvtx.so $1" "2 calls" && cat "$tmp/ranges"
}
if ranges "" >"$tmp/plain" && [ -s "$tmp/plain" ]; then
	ok "a call is a range of its cell's, by a registered name and with a payload" is "$(sed -n 3,4p "$tmp/plain")" \
		"push flopwatch target $cell registered 42.0.1.0
pop"
	ok "calls that warm up are none of the cell's" is "$(head -n 1 "$tmp/plain")" "push flopwatch phase warm plain"
	ranges NV_COMPUTE_PROFILER_TEST=1 >"$tmp/profiled"
	ok "under a profiler phases are ranges within" is "$(tail -n 4 "$tmp/profiled" | tr '\n' ' ')" \
		"push flopwatch target $cell registered 42.0.1.1 push flopwatch phase run plain pop pop "
else
	n=$((n + 1))
	echo "ok $n - ranges of NVTX # SKIP the runner is built without CUDA's headers"
fi
counters() { "$runner" --counters "$@" | jq -r '"\(.t) \(.path) \(.why)"'; }
ok "a device without counters reports that" is "$(counters --device cpu)" "profile code device cpu has no counters"
ok "and one that is not there" grep -q "^profile code no device 'cuda:63' here" <<<"$(counters --device cuda:63)"
no_times() { alone "$1" "2 calls, no times: $2 would distort them"'$' && ! grep -q median "$tmp/out"; }
ok "under ncu there are no times" no_times NV_NSIGHT_INJECTION_PORT_BASE=49152 'ncu (NV_NSIGHT_INJECTION_PORT_BASE)'
ok "nor under nsys" no_times NSYS_PROFILING_SESSION_ID=7 'nsys (NSYS_PROFILING_SESSION_ID)'
ok "nor where something is injected into CUDA" no_times CUDA_INJECTION64_PATH=/x.so 'a CUDA injection (CUDA_INJECTION64_PATH)'
ok "an empty variable is none" alone NSYS_PROFILING_SESSION_ID= median
gcc -shared -fPIC -x c -o "$tmp/libTreeLauncherTargetInjection.so" - <<<'int nothing;'
ok "nor with a profiler's library in the process" no_times "LD_PRELOAD=$tmp/libTreeLauncherTargetInjection.so" 'an Nsight tool (libTreeLauncherTargetInjection.so)'
fails() { ! "$@"; }
ok "capture of a broken module fails" fails "$runner" --capture $cell --module "$modules/wrong_abi.so" --suite "$tmp/suite.yaml"
ok "--help and --version" bash -c "'$runner' --help | grep -q capture && '$runner' --version | grep -q '^flopwatch-runner [0-9]'"

echo "1..$n"
exit $bad
