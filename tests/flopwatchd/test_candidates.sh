#!/bin/bash
# Comparisons that the history of main queues automatically, with real pushes on device sim: one direct comparison for all cells with a step, and
# none while they drift.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

n=0
factor() { # work factor: a commit on main, pushed and judged; returns when all jobs of the history have ended
	n=$((n + 1))
	echo "$1" >"$tmp/kernels/kernels/factor"
	commit kernels "commit $n: $1"
	push kernels main
	await job_ended "$(head_of kernels)"
	await nothing_is_open
}
nothing_is_open() {
	[ "$(sql "SELECT count(*) FROM job WHERE state IN ('queued','assigned','building','checking','measuring')")" = 0 ]
}
verify_jobs() {
	sql "SELECT count(*) FROM job WHERE kind = 'verify'"
}

new_repo kernels
write_config
start_daemon
is "the daemon starts" $? 0
push kernels main
await job_ended "$(head_of kernels)"

for i in 1 2 3 4 5 6 7 8 9; do factor "1.000$((i % 3 + 1))"; done
is "nothing is asked for while nothing happens" "$(verify_jobs)" 0
factor 1.0120
step=$(head_of kernels)
for i in 1 2 3; do factor "1.012$((i % 3 + 1))"; done
stop_daemon KILL
start_daemon
for i in 4 5 6; do factor "1.012$((i % 3 + 1))"; done
is "a step of 1.2 % is confirmed in all four cells, at its commit" \
	"$(sql "SELECT count(*) || ' ' || group_concat(DISTINCT commit_sha) || ' ' || group_concat(DISTINCT state) FROM change_point WHERE kind = 'step'")" \
	"4 $step confirmed"
most=$(sql "SELECT max(n) FROM (SELECT count(*) AS n FROM job_cell c JOIN job j ON j.id = c.job WHERE j.kind = 'verify' GROUP BY j.id)")
ok "cells share a direct comparison" test "$most" -gt 1
ok "there are fewer of them than cells" test "$(verify_jobs)" -lt 4
is "each change point knows the job that confirmed it" \
	"$(sql "SELECT count(*) FROM change_point p JOIN job j ON j.id = p.job AND j.kind = 'verify' AND j.state = 'done'")" 4
is "they are one alert" "$(sql "SELECT group_concat(kind || ' ' || target_sha) FROM alert")" "regression $step"

before=$(verify_jobs)
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do factor "$(awk -v i="$i" 'BEGIN { printf "%.4f", 1.012 + i * 0.001 }')"; done
is "drift of 0.1 % a commit asks for nothing" "$(verify_jobs)" "$before"
is "and no other commit is blamed" "$(sql "SELECT count(*) FROM alert WHERE kind = 'regression'")" 1
stop_daemon
is "the daemon ends in order" $? 0
