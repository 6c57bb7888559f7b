#!/bin/bash
# Readings of the device, from a script on device sim: times discarded and measured again, given up, waited for, a device that is
# quarantined and returns through its health check. Then additions to a verdict: sustained runs, slow calls, host time.
# Starts early.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
worker=$bin/flopwatch-worker
modules=$root/build/tests/modules
cat >"$tmp/tiny.yaml" <<'YAML'
suite: tiny
family: attention
common: {nhq: 2, nhk: 1, headdim: 64, dtype: bf16}
dense: {seqlens: [64], masks: [full, causal]}
block_sparse: {seqlens: [256], sparsity_ratios: [0.5], block_sizes: [64]}
directions: [forward, backward]
seed: 42
threshold_pct: 1.5
budget_s: 300
YAML
guards=$tmp/guards
compare() { # script of readings, target, more options
	printf '%s\n' "$1" >"$guards"
	FLOPWATCH_SIM_DEVICE_CHECK=$guards "$worker" compare --suite "$tmp/tiny.yaml" --device sim --base "$modules/good.so" \
		--target "$modules/$2.so" "${@:3}"
}
sed 's/^directions/decide: call\n&/' "$tmp/tiny.yaml" >"$tmp/calls.yaml"
calls_compare() { # script of readings, more options: equal modules, whole calls decide
	printf '%s\n' "$1" >"$guards"
	FLOPWATCH_SIM_DEVICE_CHECK=$guards "$worker" compare --suite "$tmp/calls.yaml" --device sim --base "$modules/good.so" \
		--target "$modules/../same.so" --cells "$cell" "${@:2}"
}
cp "$modules/good.so" "$modules/../same.so" 2>/dev/null && printf x >>"$modules/../same.so"
cell='*full*forward'
flag_of() { jq -r --arg k "$1" '.cells[] | select(.cell | contains($k)) | .flags' <<<"$out"; }

# ---- readings ----
ok "a reading in the first pass" compare 'run=1 pass=0 reasons=0x20' ../same --cells "$cell" --json
is "is taken again and believed" "$(jq -r '.cells[0].verdict' <<<"$out")" unchanged
ok "a power cap is normal" compare 'reasons=0x4 power_w=699' ../same --cells "$cell" --json
is "and nothing is thrown away" "$(jq -r '.cells[0].verdict, .runs - .cells[0].runs' <<<"$out" | tr '\n' ' ')" "unchanged 0 "
ok "a run under heat" compare 'run=1 reasons=0x40 temp_c=93' ../same --cells "$cell" --json
is "is left out" "$(jq -r '.cells[0].verdict, .runs - .cells[0].runs' <<<"$out" | tr '\n' ' ')" "unchanged 1 "
ok "a series that decides, under heat for a run" calls_compare 'run=1 reasons=0x40 temp_c=93' --json
is "is left out too" "$(jq -r '.cells[0].verdict, .runs - .cells[0].runs' <<<"$out" | tr '\n' ' ')" "unchanged 1 "
for reading in 'reasons=0x8:a hardware slowdown' 'reasons=0x20:heat reduced' 'reasons=0x80:the power brake' 'foreign=2:2 other processes' \
	'xid=31:reported XID 31' 'ecc=1:uncorrected memory error'; do
	fails "${reading%%:*} in every pass" 1 compare "${reading%%:*}" ../same --cells "$cell"
	like "${reading%%:*}: unmeasured, with the reason" "$out" "rejected: device device: not measured: .*${reading#*:}.*, in 3 runs"
	fails "${reading%%:*} where whole calls decide" 1 calls_compare "${reading%%:*}"
	like "${reading%%:*}: their times are void, too" "$out" "rejected: device device: not measured: .*${reading#*:}.*, in 3 runs"
done
fails "one cell of two" 1 compare 'cell=0 reasons=0x8' ../same --cells '*full*'
like "the other is measured" "$out" 'backward .* unchanged'

# ---- waiting ----
ok "another process for a while" compare 'at=idle run=1-4 foreign=2' ../same --cells "$cell"
like "is waited for, visibly" "$out" '^note: device: waiting for 2 other processes on sim-0; 0 of at most 600 s'
like "and then measured" "$out" 'unchanged'

# ---- a device that fails ----
fails "an XID that means a broken device" 7 compare 'run=2 xid=79' ../same --cells "$cell"
like "ends all work on it, visibly" "$out" '^note: device: the driver reported XID 79'
fails "one that shows while whole calls decide" 1 calls_compare 'xid=79'
like "ends all work on it as well" "$out" 'device lost: the driver reported XID 79'
ok "a context that is lost once" compare 'run=1 lost=1' ../same --cells "$cell"
like "the health check passes, and the next runs measure" "$out" '^unchanged: simulated device'
fails "one that stays lost" 1 compare $'run=1 lost=1\nat=health_check lost=1' ../same --cells "$cell"
like "fails its health check" "$out" 'device lost: after .*fails its health check: its context is lost'

# ---- leaked state of modules ----
ok "a module that leaves things behind" compare '' leftover --cells "$cell"
like "its rounding mode is named" "$out" '^note: target: changed rounding mode from 0 to [0-9]+, which was set back'
like "a sentence reports that denormals count as zero" "$out" '^note: target: changed whether denormal numbers count as zero, which was set back'
like "and its memory" "$out" '^note: target: leaked heap bytes: 4[0-9]{6}'
is "each once" "$(grep -c '^note: target' <<<"$out")" 3

# ---- sustained runs, slow calls ----
fails "a target that draws more power" 3 compare '' hungry --json
is "is as fast in pairs" "$(jq '[.cells[] | select(.change_pct < -1)] | length' <<<"$out")" 0
is "and a sustained regression" "$(flag_of block_sparse/s256/r0.5/b64/hq2/hk1/d64/bf16/backward)" sustained
like "by the clock it settles at" "$(jq '.cells[] | select(.cell | endswith("b64/hq2/hk1/d64/bf16/backward")).sustained_pct' <<<"$out")" '^-[45]\.'
fails "a target that is slow in one call of ten" 3 compare '' tail --json
is "loses on average, and not in its typical call" "$(jq -c '[.cells[] | select(.verdict == "regression") | [(.flags | split(" ") | contains(["tail"])), .change_pct > -1, .mean_pct < -1.5]] | unique' <<<"$out")" '[[true,true,true]]'
is "in at least five of six cells" "$(jq '[.cells[] | select(.verdict == "regression")] | length >= 5' <<<"$out")" true
out=$(compare '' tail 2>&1)
like "the table reports that" "$out" 'regression \(tail\)'
like "and as a sentence how many take how much longer" "$out" 'warning: .*: 1 call in ([89]|1[0-2]) takes 2[0-9] % longer.*: on average 2\.[0-9]+ % less TFLOP/s than the base .*; the typical call'
sed 's/^dense.*//; s/\[0.5\], block_sizes: \[64\]/[0.5, 0.75], block_sizes: [16, 32, 64]/; s/^directions.*/directions: [forward]/' "$tmp/tiny.yaml" >"$tmp/long.yaml"
out=$("$worker" compare --suite "$tmp/long.yaml" --device sim --base "$modules/long.so" --target "$modules/long_tail.so" --json)
is "calls too long to be made often show it together" "$(jq '[.cells[] | select(.verdict == "regression" and (.flags | contains("tail")))] | length >= 4' <<<"$out")" true
cp "$modules/long.so" "$modules/../same_long.so" && printf x >>"$modules/../same_long.so"
out=$("$worker" compare --suite "$tmp/long.yaml" --device sim --base "$modules/long.so" --target "$modules/../same_long.so" --json)
is "and equal ones show none" "$(jq -r '[.cells[].flags] | unique | join(",")' <<<"$out")" ""
ok "equal modules" compare '' ../same --json
is "have no flags" "$(jq -r '[.cells[].flags] | unique | join(",")' <<<"$out")" ""

# ---- through the daemon ----
new_repo kernels
printf '#!/bin/sh\nexport FLOPWATCH_SIM_DEVICE_CHECK=%s\nexec "%s" "$@"\n' "$guards" "$worker" >"$tmp/worker"
chmod +x "$tmp/worker"
: >"$guards"
new_lines() { # a benchmark program
	git init -q --bare -b main "$tmp/lines.git"
	git init -q -b main "$tmp/lines"
	git -C "$tmp/lines" remote add origin "$tmp/lines.git"
	echo 'echo "{\"cell\":\"one\",\"ms\":[1.0,1.0]}"' >"$tmp/lines/bench.sh"
	printf 'flopwatch: 1\nbenchmarks: {one: {command: [sh, bench.sh], reader: flopwatch, budget_s: 30}}\n' >"$tmp/lines/.flopwatch.yaml"
	commit lines "first"
}
new_lines
write_config "workers: [{name: sim, command: [$tmp/worker, serve], device: sim}]" \
	"repos: [{name: kernels, url: $tmp/kernels.git}, {name: lines, url: $tmp/lines.git}]"
start_daemon
is "the daemon starts" $? 0
push kernels main
is "a first measurement" "$(result_of "$(head_of kernels)")" "done unchanged"
body_of() { api "comparisons/$(job_field "$(job_of "$1")" comparison)"; }

branch kernels tail main
echo "'-DCONFIG=\"SIM_SLOW_PCT=10 SIM_SLOW_FACTOR=1.25\"'" >"$tmp/kernels/kernels/flags"
commit kernels "slow now and then"
push kernels tail
tail=$(head_of kernels)
is "a branch with slow calls lost" "$(result_of "$tail")" "done regression"
is "its cells carry the flag" "$(body_of "$tail" | jq -r '[.cells[].flags[]] | unique | join(" ")')" tail
page=$(curl -s "http://127.0.0.1:$(port)/comparisons/$(job_field "$(job_of "$tail")" comparison)?open=0")
like "its page reports that" "$page" 'slow calls became more frequent'
like "and draws every call" "$page" '<svg[^>]*every timed call of base and target'
like "with the shares" "$(body_of "$tail" | jq -c '.cells[0].slow_calls')" '"target_pct":[0-9]'

branch kernels host main
echo "'-DCONFIG=\"SIM_HOST_US=60\"'" >"$tmp/kernels/kernels/flags"
commit kernels "a slower host side"
push kernels host
host=$(head_of kernels)
is "a slower enqueue is no regression of the device" "$(result_of "$host")" "done unchanged"
is "but a warning of both host series" "$(body_of "$host" | jq -r '[.cells[].flags[]] | unique | join(" ")')" "call enqueue"
sed -i 's/^directions/decide: call\n&/' "$tmp/kernels/etc/suites/tiny.yaml"
echo >"$tmp/kernels/kernels/flags"
commit kernels "the suite says that calls decide"
push kernels calls
calls=$(head_of kernels)
is "a suite may let calls decide" "$(result_of "$calls" | cut -d' ' -f1)" done
branch kernels host2 "$calls"
echo "'-DCONFIG=\"SIM_HOST_US=60\"'" >"$tmp/kernels/kernels/flags"
commit kernels "a slower host side"
push kernels host2
host2=$(post jobs "{\"repo\":\"kernels\",\"target\":\"$(head_of kernels)\",\"base\":\"$calls\"}" | jq -r .id)
await job_is "$host2" done
is "then the same change is a regression" "$(job_field "$host2" verdict)" regression
is "of series call" "$(api "comparisons/$(job_field "$host2" comparison)" | jq -r '[.cells[].series] | unique | join(" ")')" call

branch kernels long main
echo 2000 >"$tmp/kernels/kernels/factor"
commit kernels "calls that are so long that they are few"
push kernels long
is "long calls" "$(result_of "$(head_of kernels)")" "done regression"
page=$(curl -s "http://127.0.0.1:$(port)/comparisons/$(job_field "$(job_of "$(head_of kernels)")" comparison)?open=0")
like "the page says that they are too few to warn of" "$page" 'Whole calls: 1 pair, too few for a warning, which needs 4'
page=$(curl -s "http://127.0.0.1:$(port)/comparisons/$(job_field "$(job_of "$host")" comparison)?open=0")
unlike "and only there" "$page" 'too few for a warning'

branch kernels hungry main # calls long enough for the governor: the draw between short ones hides their effect
sed -i 's/seqlens: \[64\]/seqlens: [512]/; s/masks: .*/masks: [full]}/' "$tmp/kernels/etc/suites/tiny.yaml"
commit kernels "longer calls"
long=$(head_of kernels)
echo "'-DCONFIG=\"SIM_POWER_W=900\"' -DPADDING" >"$tmp/kernels/kernels/flags"
commit kernels "draws more power"
push kernels hungry
await job_ended "$(head_of kernels)"
hungry=$(post jobs "{\"repo\":\"kernels\",\"target\":\"$(head_of kernels)\",\"base\":\"$long\"}" | jq -r .id)
await job_is "$hungry" done
is "a hungrier branch" "$(job_field "$hungry" verdict)" regression
is "in both directions, by its sustained runs" "$(api "comparisons/$(job_field "$hungry" comparison)" | jq -c '[.cells[] | select(.flags | index("sustained")) | .sustained.change_pct < -7 and .change_pct > -1.5]')" "[true,true]"

# ---- verdicts again ----
is_idle() { [ "$(sql "SELECT (SELECT count(*) FROM job WHERE state IN ('queued', 'assigned', 'building', 'checking', 'measuring')) + (SELECT count(*) FROM bisect WHERE state IN ('listing', 'measuring'))")" = 0 ]; }
await is_idle
FLOPWATCH_SERVER="http://127.0.0.1:$(port)"
export FLOPWATCH_SERVER
before=$(sql 'SELECT group_concat(etag) FROM (SELECT etag FROM comparison ORDER BY id)')
ok "judge --again" "$bin/flopwatch" judge --again
like "judges every comparison and changes none" "$out" '^[0-9]+ judged again, 0 changed$'
is "not one byte of their bodies" "$(sql 'SELECT group_concat(etag) FROM (SELECT etag FROM comparison ORDER BY id)')" "$before"
fails "judge of one that is not there" 4 "$bin/flopwatch" judge --again 99999
fails "judge alone says what to write" 2 "$bin/flopwatch" judge

# ---- a benchmark program ----
echo 'at=idle run=1-2 foreign=2' >"$guards"
push lines main
is "a program of its own is measured" "$(result_of "$(head_of lines)" | cut -d' ' -f1)" done
like "when the others have left the device" "$(body_of "$(head_of lines)" | jq -c '[.notes[].text]')" 'waiting for 2 other processes on sim-0; 0 of at most 600 s'
: >"$guards"
lines() { # script of readings, subject: a commit on branch work, measured under them; its first cell
	echo "$1" >"$guards"
	echo "# $2" >>"$tmp/lines/bench.sh"
	commit lines "$2"
	push lines work
	result_of "$(head_of lines)"
}
lost_runs() { body_of "$(head_of lines)" | jq -r '.runs - .cells[0].runs'; }
why_lines() { body_of "$(head_of lines)" | jq -r '.cells[0].reason'; }
is "a reading in a first round, which is taken again" "$(lines 'run=1 pass=0 reasons=0x20' once) $(lost_runs)" "done unchanged 0"
is "heat in a whole run" "$(lines 'run=2 reasons=0x40' run) $(lost_runs)" "done unchanged 1"
is "a slowdown in every round" "$(lines 'reasons=0x8' always)" "done rejected"
like "is no measurement" "$(why_lines)" 'not measured: a hardware slowdown .*, in 3 runs'
is "others on the device while programs run" "$(lines 'foreign=2' crowd)" "done rejected"
like "are named" "$(why_lines)" 'not measured: 2 other processes used the device, in 3 runs'
sed -i 's/budget_s: 30/&, gpu: false/' "$tmp/lines/.flopwatch.yaml"
commit lines "it uses no GPU"
push lines main
result_of "$(head_of lines)" >/dev/null
is "what uses no GPU is not asked about one" "$(lines 'reasons=0x8' cpu)" "done unchanged"
: >"$guards"

# ---- quarantine ----
device_state() { api devices | jq -r '.items[] | select(.kind == "sim") | .state'; }
device_is() { [ "$(device_state)" = "$1" ]; }
printf 'run=1 lost=1\nat=health_check lost=1\n' >"$guards"
branch kernels lost main
echo 1.01 >"$tmp/kernels/kernels/factor"
commit kernels "meets a broken device"
push kernels lost
lost=$(head_of kernels)
await device_is quarantined
is "a device that does not recover is quarantined" "$(device_state)" quarantined
like "with the reason" "$(api devices | jq -r '.items[] | select(.kind == "sim") | .state_why')" 'fails its health check: its context is lost'
is "as an event" "$(sql "SELECT count(*) FROM event WHERE kind = 'device.state' AND payload ->> 'state' = 'quarantined'")" 1
await job_is "$(job_of "$lost")" queued
is "its job waits" "$(job_field "$(job_of "$lost")" state)" queued
quarantine_alerts() { api alerts | jq -r '[.items[] | select(.kind == "quarantined") | "\(.state) \(.title)"] | join("; ")'; }
is_told() { quarantine_alerts | grep -q "$1"; }
await is_told '^open'
like "an alert has the reason, and that a job waits" "$(quarantine_alerts)" '^open device sim-0 is quarantined: .*fails its health check: its context is lost; 1 job waits$'
ok "resume asks for a health check" "$bin/flopwatch" resume sim-0
like "and reports that" "$out" 'a health check tries it now'
failed_again() { [ "$(sql "SELECT count(*) FROM event WHERE kind = 'device.state' AND payload ->> 'state' = 'quarantined'")" = 2 ]; }
await failed_again
is "which fails while the fault lasts" "$(device_state)" quarantined
fails "it cannot be paused meanwhile" 1 "$bin/flopwatch" pause sim-0
: >"$guards"
ok "resume after the fault" "$bin/flopwatch" resume sim-0
await device_is ok
is "the health check passes and it is back" "$(device_state)" ok
is "and the job is measured" "$(result_of "$lost")" "done unchanged"
await is_told '^resolved'
like "the alert is resolved" "$(quarantine_alerts)" '^resolved device sim-0 '
