#!/bin/bash
# Regressions that the history of main finds, with real pushes on device sim: accepted drift is the new level, a step and drift that are undone end
# automatically, and a distant reference commit is replaced by a nearer one.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

n=0
factor() { # work factor: a commit on main, pushed and judged; returns when no job of its cells is left
	n=$((n + 1))
	echo "$1" >"$tmp/kernels/kernels/factor"
	commit kernels "commit $n: $1"
	push kernels main
	await job_ended "$(head_of kernels)"
}
around() { # work factor, commits: so many, each a hundredth of a percent or two from the one before
	local i
	for ((i = 0; i < $2; i++)); do
		factor "$(awk -v f="$1" -v n="$n" 'BEGIN { printf "%.4f", f + (n * 7 % 5 - 2) * 1e-4 }')"
	done
	await nothing_is_open
}
nothing_is_open() {
	[ "$(sql "SELECT count(*) FROM job WHERE state IN ('queued','assigned','building','checking','measuring')")" = 0 ]
}
until_sql() { # rounds, work factor, query: add commits until it returns 1
	local i
	for ((i = 0; i < $1; i++)); do
		[ "$(sql "$3")" = 1 ] && return 0
		around "$2" 1
	done
	[ "$(sql "$3")" = 1 ]
}
alert_of() { # kind: the newest one's id
	sql "SELECT max(id) FROM alert WHERE kind = '$1'"
}
state_of() {
	sql "SELECT state FROM alert WHERE id = $1"
}

new_repo kernels
sed -i 's/masks: \[full, causal\]/masks: [full]/; s/directions: .*/directions: [forward]/' "$tmp/kernels/etc/suites/tiny.yaml"
git -C "$tmp/kernels" add -A
git -C "$tmp/kernels" commit -q --amend -m "the first"
write_config
start_daemon
cell=attention/dense/full/s64/hq2/hk1/d64/bf16/forward
push kernels main
reference=$(head_of kernels)
await job_ended "$reference"

# ---- a step that is taken back ----
around 1.0 9
factor 1.01
step=$(head_of kernels)
ok "a step of 1 % is found" until_sql 14 1.01 "SELECT count(*) FROM change_point WHERE kind = 'step' AND state = 'confirmed'"
history=$(alert_of regression)
is "and reported" "$(sql "SELECT target_sha || ' ' || state FROM alert WHERE id = $history")" "$step open"
ok "when main is back its alert ends by itself" until_sql 14 1.0 "SELECT state = 'resolved' FROM alert WHERE id = $history"
like "and reports the reason" "$(sql "SELECT reason FROM alert_event WHERE alert = $history AND state = 'resolved'")" "^recovered: the history is back"
is "flopwatch did it" "$(sql "SELECT who FROM alert_event WHERE alert = $history AND state = 'resolved'")" flopwatch
is "its message went out once" "$(sql "SELECT count(*) FROM event WHERE kind = 'alert.resolved' AND payload ->> 'alert' = $history")" 1
is "the history says when" "$(api "history?repo=kernels&branch=main&cell=$cell" | jq --argjson alert "$history" '[.change_points[] | select(.alert == $alert) | .ended_at != null]' | tr -d ' \n')" "[true]"
is "no other commit is blamed" "$(sql "SELECT count(*) FROM alert")" 1

# ---- drift that is accepted, and more of it ----
for i in 1 2 3 4 5 6 7; do factor "$(awk -v i="$i" 'BEGIN { printf "%.4f", 1 + i * 0.003 }')"; done
ok "drift of 2.1 % is reported" until_sql 14 1.021 "SELECT count(*) FROM alert WHERE kind = 'drift'"
is "and no single commit is blamed for it" "$(sql "SELECT count(*) FROM alert WHERE kind = 'regression'")" 1
drift=$(alert_of drift)
around 1.021 2
is "it is reported once, while it is open" "$(sql "SELECT count(*) FROM alert WHERE kind = 'drift'")" 1
post "alerts/$drift/accept" '{"reason": "the price of a feature"}' >/dev/null
around 1.022 6
is "accepted, it is the new level" "$(sql "SELECT count(*) || ' ' || max(state) FROM alert WHERE kind = 'drift'")" "1 accepted"
for i in 1 2 3 4 5 6 7; do factor "$(awk -v i="$i" 'BEGIN { printf "%.4f", 1.021 + i * 0.003 }')"; done
ok "as much again goes beyond it" until_sql 14 1.042 "SELECT count(*) = 2 FROM alert WHERE kind = 'drift'"
more=$(alert_of drift)
is "what is reported is what came on top" "$(sql "SELECT worst_pct BETWEEN -2.9 AND -1.5 FROM alert WHERE id = $more")" 1
is "no single commit is blamed for that either" "$(sql "SELECT count(*) FROM alert WHERE kind = 'regression'")" 1
ok "it ends when main is back" until_sql 10 1.0 "SELECT state = 'resolved' FROM alert WHERE id = $more"
is "what was accepted stays so" "$(state_of "$drift")" accepted
is "and is expected no longer" "$(sql "SELECT count(*) FROM change_point WHERE kind = 'drift' AND ended_at IS NULL")" 0

# ---- far from the reference commit ----
is "so far one reference did" "$(sql "SELECT count(*) FROM job WHERE origin = 'rereference'")" 0
factor 1.08
alerts=$(sql "SELECT count(*) FROM alert")
ok "8 % from its reference main gets a nearer one" until_sql 10 1.08 "SELECT count(*) FROM event WHERE kind = 'baseline_period.reference_moved'"
nearer=$(sql "SELECT reference_sha FROM baseline_period")
is "a commit of the new level" "$(sql "SELECT j.target_sha = '$nearer' AND j.base_sha = '$reference' AND j.kind = 'reference' FROM job j WHERE j.origin = 'rereference'")" 1
is "by twelve runs" "$(sql "SELECT min(l.runs) FROM cell l JOIN comparison c ON c.id = l.comparison JOIN job j ON j.id = c.job WHERE j.origin = 'rereference'")" 12
is "it is at the commit where it was measured" "$(sql "SELECT abs(x - ln(1.08)) < 5 * se AND se > 0.0002 FROM reference_link WHERE reference_sha = '$nearer'")" 1
around 1.08 3
last=$(head_of kernels)
is "later commits are timed against it" "$(sql "SELECT group_concat(DISTINCT k.side) FROM sample s JOIN sample_kind k ON k.id = s.kind JOIN cell c ON c.id = s.cell WHERE c.target_sha = '$last' AND k.side = 'reference'")" reference
is "and continue the same series, with the error of both" \
	"$(sql "SELECT abs(r.x - ln(1.08)) < 5 * r.se AND r.se > h.se FROM ratio r JOIN reference_link h ON h.baseline_period = r.baseline_period AND h.key = r.key WHERE r.target_sha = '$last'")" 1
is "the API says against what" "$(api "history?repo=kernels&branch=main&cell=$cell" | jq -r '.baseline_periods[0] | .reference + " " + .first_reference')" "$nearer $reference"
is "one baseline_period, and no alert for it" "$(sql "SELECT (SELECT count(*) FROM baseline_period) || ' ' || (SELECT count(*) FROM alert)")" "1 $alerts"
stop_daemon
is "the daemon ends in order" $? 0
