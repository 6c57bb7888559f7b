#!/bin/bash
# A commit that only the noise of runs left undecided is measured again once, automatically. The noise cannot be produced: the test writes it.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

asked() { # number of jobs that were queued for the tip
	sql "SELECT count(*) FROM job WHERE target_sha = '$(head_of kernels)'"
}
twice() { [ "$(asked)" = 2 ]; }
is_idle() { [ "$(sql "SELECT count(*) FROM job WHERE state IN ('queued', 'assigned', 'building', 'checking', 'measuring')")" = 0 ]; }

new_repo kernels
sed -i 's/masks: \[full, causal\]/masks: [full]/; s/directions: .*/directions: [forward]/' "$tmp/kernels/etc/suites/tiny.yaml"
commit kernels "one cell"
write_config
start_daemon
push kernels main
await job_ended "$(head_of kernels)"
branch kernels slow main
echo 1.05 >"$tmp/kernels/kernels/factor"
commit kernels "slower"
push kernels slow
is "a branch" "$(result_of "$(head_of kernels)")" "done regression"
first=$(job_of "$(head_of kernels)")
is "of which all agreed is not asked again" "$(job_field "$first" again_at) $(asked)" "null 1"
stop_daemon

sqlite3 "$tmp/state/flopwatch.db" "UPDATE comparison SET verdict = 'undecided' WHERE job = $first; UPDATE job SET again_at = 1000 * (unixepoch() + 3600) WHERE id = $first"
start_daemon
like "one that noise left undecided says when it will be" "$(http GET "/jobs/$first")" 'Retry</dt>'
stop_daemon
sqlite3 "$tmp/state/flopwatch.db" "UPDATE job SET again_at = 1000 WHERE id = $first"
start_daemon
ok "in that hour it is, by itself" await twice
again=$(sql "SELECT max(id) FROM job")
is "with the same question" "$(sql "SELECT a.base_sha = b.base_sha AND a.suite = b.suite AND a.branch = b.branch AND a.kind = b.kind FROM job a, job b WHERE a.id = $first AND b.id = $again")" 1
is "which says what it asks" "$(api "jobs/$again" | jq -c '[.again_of, .again_at, .origin, .kind]')" "[$first,null,\"retry\",\"compare\"]"
like "in its log" "$(api "jobs/$again/log")" "queued: retry of J$first, whose runs varied too much"
like "and on its page" "$(http GET "/jobs/$again")" "Retry of</dt><dd><a href=\"/jobs/$first\">"
ok "it is measured" await is_idle
is "and its answer is that of the branch" "$(api 'branches?repo=kernels' | jq -r '.items[] | select(.name == "slow").verdict')" regression
is "once is enough" "$(sql "SELECT count(*) FROM job WHERE again_at IS NOT NULL") $(asked)" "0 2"
stop_daemon
is "the daemon ends in order" $? 0
