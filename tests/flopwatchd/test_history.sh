#!/bin/bash
# The history of main with real pushes on device sim: the reference commit as a third side, steps too small for one comparison, skipped commits
# measured later, drift, and the effect of a restart and of a new environment.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

factor() { # work factor, subject: a commit on main, pushed and judged
	echo "$1" >"$tmp/kernels/kernels/factor"
	commit kernels "$2"
	push kernels main
	head_of kernels
}
judged() { # the commit's comparison has ended
	await job_ended "$1"
}
nothing_is_open() {
	[ "$(sql "SELECT count(*) FROM job WHERE state IN ('queued','assigned','building','checking','measuring')")" = 0 ]
}

new_repo kernels
sed -i 's/masks: \[full, causal\]/masks: [full]/; s/directions: .*/directions: [forward]/' "$tmp/kernels/etc/suites/tiny.yaml"
git -C "$tmp/kernels" add -A
git -C "$tmp/kernels" commit -q --amend -m "the first"
write_config
start_daemon
cell=attention/dense/full/s64/hq2/hk1/d64/bf16/forward

# ---- the reference commit ----
push kernels main
reference=$(head_of kernels)
judged "$reference"
is "the first commit of main is pinned" "$(sql "SELECT reference_sha FROM baseline_period")" "$reference"
is "an event has that" "$(sql "SELECT count(*) FROM event WHERE kind = 'baseline_period.reference_set'")" 1
second=$(factor 1.001 "0.1 % slower")
judged "$second"
is "its child is compared with it alone" "$(sql "SELECT group_concat(DISTINCT k.side) FROM sample s JOIN sample_kind k ON k.id = s.kind")" "base,target"
third=$(factor 1.002 "0.2 % slower")
judged "$third"
is "later commits are timed against base and reference commit" \
	"$(sql "SELECT group_concat(side) FROM (SELECT DISTINCT k.side FROM sample s JOIN sample_kind k ON k.id = s.kind JOIN cell c ON c.id = s.cell WHERE c.target_sha = '$third' ORDER BY 1)")" \
	"base,reference,target"
is "each is a point of the series" "$(sql "SELECT count(*) FROM ratio")" 3
# the interval covers one measurement in 95 of 100 cases, so it may miss; five standard errors may not
is "the third commit's loss against the reference commit is stored with the error that it has" \
	"$(sql "SELECT abs(x - 0.002) < 5 * se AND se BETWEEN 0.0002 AND 0.003 FROM ratio WHERE target_sha = '$third'")" 1
is "and the API gives it with its interval" \
	"$(api "history?repo=kernels&branch=main&cell=$cell" | jq '.items[0] | .reference_ci_low_pct < .reference_change_pct and .reference_ci_high_pct > .reference_change_pct and .reference_ci_high_pct - .reference_ci_low_pct < 1.5')" true


# ---- a step that no comparison calls, in a commit that was skipped ----
for i in 1 2 3 4 5 6; do
	judged "$(factor "1.00$((1 + i % 2))" "level $i")"
done
before=$(head_of kernels)
echo 1.012 >"$tmp/kernels/kernels/factor"
commit kernels "1 % slower, and never measured: the next commit is pushed with it"
step=$(head_of kernels)
echo 1.0121 >"$tmp/kernels/kernels/factor"
commit kernels "pushed together"
push kernels main
judged "$(head_of kernels)"
is "no comparison calls it a regression" "$(sql "SELECT count(*) FROM cell WHERE verdict = 'regression'")" 0
for i in 1 2 3; do
	judged "$(factor "1.01$((2 + i % 2))" "after $i")"
done
# all running jobs continue after a crash
stop_daemon KILL
start_daemon
for i in 4 5 6; do
	judged "$(factor "1.01$((2 + i % 2))" "after $i")"
done
await nothing_is_open
is "the history finds it, and names the commit that was skipped" \
	"$(sql "SELECT before_sha || ' ' || commit_sha || ' ' || state FROM change_point WHERE kind = 'step'")" "$before $step confirmed"
is "two commits were compared directly, with half the step as threshold" \
	"$(sql "SELECT count(*) >= 1 AND min(threshold_pct) > 0.3 AND max(threshold_pct) < 0.8 FROM job WHERE kind = 'verify' AND state = 'done'")" 1
is "the skipped commit was measured, after everything else" \
	"$(sql "SELECT target_sha, origin, priority < 0 FROM job WHERE kind = 'backfill'")" "$step|backfill|1"
is "it is reported as the culprit" "$(sql "SELECT group_concat(kind || ' ' || target_sha) FROM alert")" "regression $step"
like "as a sentence" "$(sql "SELECT title FROM alert")" "^[01]\.[0-9]+ % lost at ${step:0:12}, seen in the history$"
is "the API has it with the points" \
	"$(api "history?repo=kernels&branch=main&cell=$cell" | jq -r '(.change_points[0] | .commit + " " + .state), .alerts[0].commit, (.baseline_periods | length | tostring)' | xargs)" \
	"$step confirmed $step 1"
is "the skipped commit is a point among them" \
	"$(api "history?repo=kernels&branch=main&cell=$cell" | jq --arg sha "$step" '[.items[] | select(.commit == $sha)] | length')" 1

# ---- drift: eight commits, none of them much ----
for i in 1 2 3 4 5 6 7 8; do
	judged "$(factor "1.0$((130 + 25 * i))" "drift $i")"
done
for i in 1 2 3 4; do
	judged "$(factor "1.0$((330 + i))" "then still $i")"
done
await nothing_is_open
is "what was lost bit by bit is reported once" "$(sql "SELECT count(*) FROM change_point WHERE kind = 'drift'")" 1
is "as an alert of its own kind" "$(sql "SELECT count(*) FROM alert WHERE kind = 'drift' AND state = 'open'")" 1
like "that names the reference" "$(sql "SELECT title FROM alert WHERE kind = 'drift'")" "lost since the reference commit ${reference:0:12}, although no commit lost that much"
is "no single commit is blamed for it" "$(sql "SELECT count(*) FROM alert WHERE kind <> 'drift'")" 1

# ---- another environment ----
sed -i 's/seed: 42/seed: 43/' "$tmp/kernels/etc/suites/tiny.yaml"
judged "$(factor 1.0340 "the suite is another from here on")"
alerts=$(sql "SELECT count(*) FROM alert")
last=$(factor 1.0341 "and used")
judged "$last"
await nothing_is_open
is "a new baseline_period keeps the reference" "$(sql "SELECT count(*) || ' ' || count(DISTINCT reference_sha) FROM baseline_period")" "2 1"
is "which is measured in it" "$(sql "SELECT count(*) > 0 FROM ratio r JOIN baseline_period e ON e.id = r.baseline_period WHERE e.id = 2 AND r.target_sha = '$last'")" 1
is "it is an event" "$(sql "SELECT count(*) FROM event WHERE kind = 'baseline_period.reference_set'")" 2
is "and no alert" "$(sql "SELECT count(*) FROM alert")" "$alerts"
stop_daemon
is "the daemon ends in order" $? 0
