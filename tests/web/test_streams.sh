#!/bin/bash
# The daemon stays responsive: readers of events that were disconnected, that do not read, that are many; clients that never finish a request; and
# the values of /metrics under this load, read strictly.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

new_repo kernels
write_config 'workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]' \
	"repos: [{name: kernels, url: $tmp/kernels.git}, {name: 'gone', url: $tmp/nowhere.git, poll: 1 s}]"
push kernels main
start_daemon || exit 1
is "main is judged" "$(result_of "$(head_of kernels)")" "done unchanged"
is "a job that cannot be" "$(post jobs '{"repo":"kernels","target":"nobody"}' | jq .status)" 404

# ---- metrics ----
metrics() { http GET /metrics | python3 "$root/tests/support/metrics.py"; }
api jobs >/dev/null
ok "metrics are in the format, word for word" metrics
figures=$out
value() { grep -F -- "$1 " <<<"$figures" | sed 's/.* //'; }
is "one job was done" "$(value 'flopwatch_jobs_total{result="done"}')" 1
is "its duration is in the histogram" "$(value 'flopwatch_job_duration_seconds_bucket{le="+Inf"}')" 1
is "requests are counted by route and code" "$(value 'flopwatch_http_requests_total{method="POST",route="/api/v1/jobs",code="404"}')" 1
like "and of lists" "$figures" 'http_requests_total\{method="GET",route="/api/v1/jobs",code="200"\} [1-9]'
is "no alert is open" "$(value 'flopwatch_alerts{state="open"}')" 0
ok "a repository that is not there failed" test "$(value 'flopwatch_fetch_failures_total{repo="gone"}')" -ge 1
is "the other did not" "$(value 'flopwatch_fetch_failures_total{repo="kernels"}')" 0
ok "it was read just now" test "$(value 'flopwatch_last_fetch_timestamp_seconds{repo="kernels"}' | cut -d. -f1)" -ge $(($(date +%s) - 120))
ok "the database has a size" test "$(value flopwatch_db_size_bytes)" -gt 100000
ok "the daemon has started, not in the future" test "$(value process_start_time_seconds | cut -d. -f1)" -le "$(date +%s)"
ok "and not long ago" test "$(value process_start_time_seconds | cut -d. -f1)" -ge $(($(date +%s) - 300))
is "descriptors are those of the process" "$(value process_max_fds)" "$(awk '/Max open files/ { print $4 }' "/proc/$daemon_pid/limits")"
like "false alarms are counted" "$figures" 'flopwatch_aa_alarms_total\{device="sim-0"\} 0'

like "clocks that were never held back are counted, too" "$figures" 'flopwatch_gpu_throttle_seconds_total\{gpu="sim-0",reason="hw_thermal"\} 0$'
is "every reason that limits is there" "$(grep -c '^flopwatch_gpu_throttle_seconds_total{gpu="sim-0"' <<<"$figures")" 7
is "notifications are counted by state" "$(grep -oE 'flopwatch_notifications\{state="[a-z]+"' <<<"$figures" | cut -d'"' -f2 | tr '\n' ' ')" "failed sent superseded waiting "

# ---- more branches than a client reads at once, and events ----
stop_daemon
sqlite3 "$tmp/state/flopwatch.db" "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
	INSERT INTO branch_tip (repo, name, display, commit_sha, watched, seen_at)
	SELECT (SELECT id FROM repo WHERE name = 'gone'), printf('b%04d', i), printf('b%04d', i), printf('%040d', i), 1, 1 FROM n"
sqlite3 "$tmp/state/flopwatch.db" "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
	INSERT INTO event (at, kind, payload) SELECT 1000 * unixepoch(), 'device.state', '{\"device\":\"sim-0\"}' FROM n; DELETE FROM event WHERE id < 5"
start_daemon || exit 1
server=http://127.0.0.1:$(port)
is "a page of branches is a page" "$(api branches | jq -c '[(.items | length), .items[0].name, .next_cursor != null]')" '[50,"b0001",true]'
is "the command line shows all of them" "$("$bin/flopwatch" --server "$server" --json status | jq -c '[(.items | length), (.items | map(.repo + "/" + .name) | unique | length), .next_cursor]')" '[1201,1201,null]'
is "or those of a repository" "$("$bin/flopwatch" --server "$server" --repo kernels --json status | jq '.items | length')" 1
ok "it waits for one by its name" "$bin/flopwatch" --server "$server" --quiet wait main
fails "and for none of another" 4 "$bin/flopwatch" --server "$server" wait b1201
page=$(curl -s "$server/")
is "the overview shows a hundred of a repository" "$(grep -c 'branch=b[0-9]*"' <<<"$page")" 100
next=$(grep -o '/repos/gone?cursor=[0-9]*' <<<"$page")
is "then the next" "$(curl -s "$server$next" | grep -o 'branch=b[0-9]*"' | sed -n '1p;$p' | tr '\n' ' ')" 'branch=b0101" branch=b0200" '
is "who chooses among so many types" "$(curl -s "$server/comparisons?repo=gone" | grep -c '<input name=branch value=""')" 1
is "a search shows what fits" "$(curl -s "$server/search?q=b0" | grep -c '<li>branch')" 1
like "and says what it left out" "$(curl -s "$server/search?q=b0")" '200 of 999; type more of the name'
check_streams "" 160 "http://127.0.0.1:$(port)" "$(sql 'SELECT max(id) FROM event')"
ok "metrics still are in the format" metrics
stop_daemon
is "the daemon ends in order" $? 0
