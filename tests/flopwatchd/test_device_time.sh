#!/bin/bash
# Device time: its steps are in a comparison, in the job's log, on the page and in /metrics; all suites of a commit share one build; a push that
# a client waits for goes before the profile of an alert, and others after it.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
new_repo kernels
sed -i 's,libattention.so"},libattention.so"\, layernorm: "build/{device}/liblayernorm.so"},; s/suites: .*/suites: [tiny, norms]/' "$tmp/kernels/.flopwatch.yaml"
printf '\tcp build/$(DEVICE)/libattention.so build/$(DEVICE)/liblayernorm.so\n' >>"$tmp/kernels/kernels/Makefile"
cat >"$tmp/kernels/etc/suites/norms.yaml" <<'YAML'
suite: norms
family: layernorm
rows: [64]
columns: [64]
directions: [forward]
seed: 42
threshold_pct: 1.5
budget_s: 60
YAML
commit kernels "two families"
write_config
start_daemon || exit 1
ended() { # commit, number of jobs
	[ "$(sql "SELECT count(*) FROM job WHERE target_sha = '$1' AND state IN ('done', 'failed')")" = "$2" ]
}
builds() { sql "SELECT count(*) FROM build WHERE length(log) > 0"; }
push kernels main
main=$(head_of kernels)
await ended "$main" 1 # before its suites are known
before=$(builds)
branch kernels slow main
echo 1.06 >"$tmp/kernels/kernels/factor"
commit kernels "slower"
push kernels slow
slow=$(head_of kernels)
await ended "$slow" 2
is "two suites of a commit share one build, and the base is cached" "$(($(builds) - before))" 1
is "each suite reports that" "$(sql "SELECT count(*) FROM job_log WHERE line LIKE 'build of target was cached%'")" 1
job=$(sql "SELECT id FROM job WHERE target_sha = '$slow' AND suite = 'tiny'")
is "its loss is found" "$(job_field "$job" verdict)" regression

# ---- steps ----
comparison=$(job_field "$job" comparison)
api "comparisons/$comparison" >"$tmp/json"
is "steps make up the time that the device was held" "$(jq '([.steps[]] | add) - .gpu_s | fabs < 0.01' "$tmp/json")" true
is "calls are timed, references computed, processes started" "$(jq '[.steps.timed, .steps.reference, .steps.start, .steps.sustained] | map(. > 0)' -c "$tmp/json")" "[true,true,true,true]"
like "the job's log has it" "$(api "jobs/$job/log")" 'measured: device held [0-9.]+ s, [0-9.]+ s in all; of the held time: [a-z]+ [0-9]+ %, '
like "the page shows it" "$(http GET "/comparisons/$comparison")" '<dt>Device time</dt><dd><svg [^>]*aria-label="[a-z]+ [0-9]+ %'
like "/metrics counts it" "$(http GET /metrics)" '^flopwatch_device_step_seconds_total\{device="sim-0",step="timed"\} [0-9.e-]+$'

# ---- a push that a client waits for ----
api "commits/$main/verdict?repo=kernels&waits=no" -o "$tmp/said" -w '%{http_code}' >"$tmp/code"
is "waits is yes or absent" "$(cat "$tmp/code")" 400
device=$(api devices | jq -r '.items[0].uuid')
post "devices/$device/pause" >/dev/null
for name in one two; do
	branch kernels "$name" main
	echo "# $name" >>"$tmp/kernels/kernels/good.c"
	commit kernels "$name"
	push kernels "$name"
	eval "$name=\$(head_of kernels)"
	await eval "[ \"\$(sql \"SELECT count(*) FROM job WHERE target_sha = '$(head_of kernels)' AND suite <> ''\")\" = 2 ]"
done
priority() { sql "SELECT group_concat(DISTINCT priority) FROM job WHERE target_sha = '$1'"; }
is "pushes are queued in the same way" "$(priority "$one") $(priority "$two")" "0 0"
"$bin/flopwatch" --server "http://127.0.0.1:$(port)" --quiet wait "$two" --repo kernels --timeout 1 >"$tmp/said" 2>&1
profile=$(sql "SELECT DISTINCT priority FROM job WHERE kind = 'profile'")
is "the one that is waited for goes before a profile, the other after it" "$(($(priority "$two") > ${profile:-1})) $(($(priority "$one") < ${profile:-1}))" "1 1"

# ---- the profile of a new alert ----
post "devices/$device/resume" >/dev/null
all_ended() { [ "$(sql "SELECT count(*) FROM job WHERE state NOT IN ('done', 'failed')")" = 0 ]; }
await all_ended
stop_daemon
sed -i 's/^profile: off/profile: on/' "$tmp/c.yml"
start_daemon
await eval '[ "$(api devices | jq -r .items[0].state)" = ok ]'
post "devices/$device/pause" >/dev/null
branch kernels three main
echo 1.07 >"$tmp/kernels/kernels/factor"
commit kernels "slower again"
push kernels three
three=$(head_of kernels)
await eval "[ \"\$(sql \"SELECT count(*) FROM job_plan JOIN job ON id = job WHERE target_sha = '$three'\")\" = 2 ]"
sqlite3 "$tmp/state/flopwatch.db" "PRAGMA busy_timeout = 5000; UPDATE job SET priority = 1 WHERE target_sha = '$three' AND suite = 'tiny'" >/dev/null
branch kernels four main
echo "# four" >>"$tmp/kernels/kernels/good.c"
commit kernels "four"
push kernels four
await eval "[ \"\$(sql \"SELECT count(*) FROM job_plan JOIN job ON id = job WHERE target_sha = '$(head_of kernels)'\")\" = 2 ]"
post "devices/$device/resume" >/dev/null
profile_started() { [ "$(sql "SELECT count(*) FROM job WHERE kind = 'profile' AND target_sha = '$three' AND started_at > 0")" = 1 ]; }
await profile_started
is "it starts before pushes that were resolved before it" "$(sql "SELECT group_concat(b.kind || ' ' || b.suite) FROM job a JOIN job p ON p.kind = 'profile' AND p.target_sha = '$three' JOIN job b ON b.started_at >= a.ended_at AND b.started_at <= p.started_at WHERE a.target_sha = '$three' AND a.suite = 'tiny' AND a.kind = 'compare'")" "profile tiny"
stop_daemon
