#!/bin/bash
# A request is executed once, and the end of each job is reported: the daemon is killed before its first writes to the database and every fourth
# later one while it answers a POST with a key (part kill of the campaign has them all), and the POST is sent again; jobs that are given up at a start are reported like all others.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

real=$bin
mkdir "$tmp/bin"
gcc -std=gnu17 -O1 -shared -fPIC -o "$tmp/at_call.so" "$root/tests/support/at_call.c" -ldl
{ AT_CALL=@$tmp/early LD_PRELOAD=$tmp/at_call.so bash -c ': >"$0/early"; : >"$0/first"; echo "open 1 KILL $0/second" >>"$0/early"; : >"$0/second"' "$tmp"; } 2>/dev/null # bash reports a killed one
is "a plan is read when it is whole, not when its file is made" "$? $(ls "$tmp" | grep -cxE 'first|second')" "137 1"
ln -s "$real"/flopwatch* "$tmp/bin"
rm "$tmp/bin/flopwatchd"
cp "$real/flopwatchd" "$tmp/bin/flopwatchd.real"
printf '#!/bin/bash\nAT_CALL=@%s LD_PRELOAD=%s exec %s "$@"\n' "$tmp/plan" "$tmp/at_call.so" "$real/flopwatchd" >"$tmp/bin/flopwatchd"
chmod +x "$tmp/bin/flopwatchd"
bin=$tmp/bin

echo a-token-of-a-forge >"$tmp/token"
chmod 600 "$tmp/token"
new_repo kernels
write_config 'workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]' \
	"repos: [{name: kernels, url: $tmp/kernels.git, status: {kind: github, api: \"http://127.0.0.1:9\", project: a/b, token_file: $tmp/token, allow_internal: true}}]"
start_daemon
push kernels main
main=$(head_of kernels)
is "main is measured" "$(result_of "$main")" "done unchanged"
commit kernels "the same again"
push kernels main
second=$(head_of kernels)
await job_ended "$second"
post devices/sim-0/pause >/dev/null

# ---- once ----
n_of() { # rows that such a POST makes
	case $1 in
	jobs) sql "SELECT count(*) FROM job_cell WHERE word = '$2'" ;;
	calibrate) sql "SELECT count(*) FROM job WHERE kind = 'calibrate' AND suite = '$2'" ;;
	bisects) sql "SELECT count(*) FROM bisect_cell WHERE word = '$2'" ;;
	imports) sql "SELECT count(*) FROM job WHERE kind = 'import' AND suite = '$2'" ;;
	esac
}
ask() { # path, key, body: status of the answer, 000 none
	curl -s -o "$tmp/answer" -w '%{http_code}' --max-time 20 -H 'Content-Type: application/json' -H "Idempotency-Key: $2" -d "$3" "http://127.0.0.1:$(port)/api/v1/$1"
}
while read -r path made body; do
	n=0 kills=0 twice="" lost="" status=000
	while [ "$status" = 000 ] && [ $n -lt 300 ]; do
		n=$((n + (n < 4 ? 1 : 4)))
		kills=$((kills + 1))
		mark=$path-$n
		wanted=${body//MARK/$mark}
		put "$tmp/plan" "any $n KILL flopwatch.db"
		status=$(ask "$path" "$mark" "$wanted")
		rm "$tmp/plan"
		if [ "$status" = 000 ]; then
			wait "$daemon_pid"
			daemon_pid=""
			start_daemon || exit 1
			again=$(ask "$path" "$mark" "$wanted")
			[ "$again" = 201 ] || lost+=" $n:$again"
		fi
		found=$(n_of "$path" "$mark")
		[ "$found" = "$made" ] || twice+=" $n:$found"
	done
	ok "$path: the daemon was killed before $((kills - 1)) of its writes" test $kills -gt 3 -a "$status" = 201
	is "the POST was answered when it was sent again" "$lost" ""
	is "and has happened once each time" "$twice" ""
	stop_daemon KILL # the plan that it read stays valid
	start_daemon || exit 1
done 2>/dev/null <<CASES # bash reports each killed one
jobs 1 {"repo":"kernels","target":"$main","base":"$second","cells":"MARK"}
calibrate 2 {"repo":"kernels","suite":"MARK","runs":2}
bisects 1 {"repo":"kernels","good":"$main","bad":"$second","cells":"MARK"}
imports 1 {"repo":"kernels","commit":"$main","name":"MARK","rows":[{"cell":"a","ms":1}]}
CASES
is "the database is sound" "$(sql 'PRAGMA integrity_check')" ok
like "the same key for something else is refused" "$(ask jobs jobs-1 '{"repo":"kernels","target":"main"}')" 422

# ---- a full disk when the answer is stored ----
put "$tmp/plan" "write 1 ENOSPC flopwatch.db"
is "a POST that cannot be stored is answered so" "$(ask jobs full '{"repo":"kernels","target":"'"$main"'","base":"'"$second"'","cells":"full"}')" 503
rm "$tmp/plan"
is "and has not happened" "$(n_of jobs full)" 0
stop_daemon KILL
start_daemon || exit 1
is "the next one has, once there is room" "$(ask jobs full '{"repo":"kernels","target":"'"$main"'","base":"'"$second"'","cells":"full"}') $(n_of jobs full)" "201 1"

# ---- reported ----
for job in $(sql "SELECT id FROM job WHERE state = 'queued'"); do post "jobs/$job/cancel" >/dev/null; done
post devices/sim-0/resume >/dev/null
branch kernels endless main
echo 'sleep 1000' >"$tmp/kernels/kernels/recipe"
commit kernels "builds for ever"
push kernels endless
endless=$(head_of kernels)
await has_job "$endless"
job=$(job_of "$endless")
building() { job_is "$job" building; }
for end in 1 2 3 4; do
	ok "it builds, and the daemon is killed: $end" await building
	is "which is no attempt of the worker" "$(job_field "$job" attempt)" 1
	stop_daemon KILL
	[ $end != 4 ] || sqlite3 "$tmp/state/flopwatch.db" "UPDATE job SET daemon_ends = 19 WHERE id = $job"
	start_daemon || exit 1
done
is "a job that is given up at a start is failed" "$(job_field "$job" 'state + ": " + .state_why')" "failed: interrupted: flopwatchd was killed 20 times while the job ran"
is "its events say all of it" "$(sql "SELECT group_concat(payload ->> 'state') FROM event WHERE kind = 'job.state' AND payload ->> 'job' = $job AND payload ->> 'state' IN ('queued', 'failed')")" "queued,queued,queued,failed"
is "so does its log" "$(api "jobs/$job/log" | grep -cE ' (queued: interrupted, queued again|failed: interrupted: flopwatchd was killed 20 times while the job ran)$')" 4
like "and its commit status" "$(sql "SELECT payload FROM outbox WHERE kind = 'status' AND subject LIKE '$endless%tiny' ORDER BY id DESC LIMIT 1")" '"state":"error".*not measured: interrupted'

post devices/sim-0/pause >/dev/null
branch kernels deleted main
echo "# waits" >>"$tmp/kernels/kernels/Makefile"
commit kernels "waits"
push kernels deleted
deleted=$(head_of kernels)
await has_job "$deleted"
waits() { [ -n "$(sql "SELECT 1 FROM outbox WHERE kind = 'status' AND subject LIKE '$deleted%' AND payload LIKE '%pending%'")" ]; }
await waits
git -C "$tmp/kernels" push -q origin :deleted
await job_is "$(job_of "$deleted")" target_missing
like "a job that goes with its branch is reported, too" "$(sql "SELECT payload FROM outbox WHERE kind = 'status' AND subject LIKE '$deleted%' ORDER BY id DESC LIMIT 1")" '"state":"cancelled".*the branch was deleted'
is "with its event" "$(sql "SELECT count(*) FROM event WHERE kind = 'job.state' AND payload ->> 'job' = $(job_of "$deleted") AND payload ->> 'state' = 'target_missing'")" 1
