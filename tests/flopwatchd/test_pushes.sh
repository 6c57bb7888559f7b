#!/bin/bash
# flopwatchd with real pushes, real builds and the real worker on device sim: from push to verdict, and through all failures.
# Starts first.  it waits most of its time
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

# ---- usage and start ----
ok "--help" "$bin/flopwatchd" --help
like "it names the signals" "$out" 'HUP reads FILE again'
ok "--version" "$bin/flopwatchd" --version
fails "no configuration" 2 "$bin/flopwatchd"
fails "an unknown option" 2 "$bin/flopwatchd" --force
fails "a configuration that is not there" 2 "$bin/flopwatchd" --config "$tmp/none.yml"
like "it is named" "$out" "cannot read the configuration $tmp/none.yml: No such file"
printf 'listen: everywhere\nrepo: []\nlimits: {build: 3}\n' >"$tmp/bad.yml"
fails "--check-config of a bad file" 2 "$bin/flopwatchd" --check-config --config "$tmp/bad.yml"
like "every mistake with its place: the address" "$out" 'bad.yml:1:9: listen: is not ADDRESS:PORT'
like "the key" "$out" 'bad.yml:2:1: repo: unknown key; did you mean .repos.'
like "the unit" "$out" 'bad.yml:3:17: limits.build: .3. is not a duration'
fails "starting with it starts nothing" 2 "$bin/flopwatchd" --config "$tmp/bad.yml"
is "the unit does not start it again after that, nor after a database that is of no use" \
	"$(grep '^RestartPreventExitStatus=' "$root/systemd/flopwatchd.service")" "RestartPreventExitStatus=2 3"
new_repo kernels
write_config
ok "--check-config of a good file" "$bin/flopwatchd" --check-config --config "$tmp/c.yml"
is "it says what it holds" "$out" "$tmp/c.yml: fine; 1 repository, 1 worker, 0 webhooks"
start_daemon
is "the daemon starts" $? 0
fails "a second one on the same state does not" 1 "$bin/flopwatchd" --config "$tmp/c.yml"
like "and says who has it" "$out" "another flopwatchd \(process $daemon_pid\) uses $tmp/state"
sed "s#/state#/other#; s#127.0.0.1:0#127.0.0.1:$(port)#" "$tmp/c.yml" >"$tmp/port.yml"
fails "a port in use" 1 "$bin/flopwatchd" --config "$tmp/port.yml"
like "is named" "$out" "$(port).*in use"

# ---- verdicts ----
push kernels main
first=$(head_of kernels)
is "the first push of main is measured against itself" "$(result_of "$first")" "done unchanged"
is "as a selfcheck" "$(job_field "$(job_of "$first")" kind) $(job_field "$(job_of "$first")" base_how)" "selfcheck self"

branch kernels slow main
echo 1.03 >"$tmp/kernels/kernels/factor"
commit kernels "slower by 3 %"
push kernels slow
slow=$(head_of kernels)
is "a branch that is 3 % slower is a regression" "$(result_of "$slow")" "done regression"
is "against its merge-base" "$(job_field "$(job_of "$slow")" 'base + " " + .base_how')" "$first merge-base"
is "with an open alert" "$(api 'alerts?state=open' | jq -r '.items[].target')" "$slow"

branch kernels words main
echo words >"$tmp/kernels/README"
commit kernels "words only"
push kernels words
words=$(head_of kernels)
is "a branch with equal inputs is identical" "$(result_of "$words")" "done identical"
is "by tree, and no worker was asked" "$(job_field "$(job_of "$words")" 'attempt | tostring')" 0

branch kernels same main
echo '# a comment changes the tree, not the module' >>"$tmp/kernels/kernels/Makefile"
commit kernels "same module"
push kernels same
is "equal modules of other sources are identical too" "$(result_of "$(head_of kernels)")" "done identical"

branch kernels skipped main
echo 2.0 >"$tmp/kernels/kernels/factor"
commit kernels "not ready [skip flopwatch]"
push kernels skipped
skipped=$(head_of kernels)
is "a commit that asks for it is skipped" "$(result_of "$skipped")" "cancelled -"
like "and shown with the reason" "$(why_of "$skipped")" 'skipped by \[skip flopwatch\] in the commit message'

branch kernels empty main
git -C "$tmp/kernels" rm -rq kernels
commit kernels "no kernels"
push kernels empty
empty=$(head_of kernels)
is "a commit without its inputs fails" "$(result_of "$empty")" "failed -"
is "with the reason" "$(why_of "$empty")" "commit ${empty:0:12} has no kernels, which its inputs name (see doc/troubleshooting.md#missing-input)"

branch kernels broken main
echo 'int x = ;' >"$tmp/kernels/kernels/good.c"
commit kernels "does not compile"
push kernels broken
broken=$(head_of kernels)
is "a build that breaks is a result" "$(result_of "$broken")" "done failed"
like "with its log" "$(api "jobs/$(job_of "$broken")/log")" 'good.c.*error'

branch kernels mistaken main
sed -i 's/inputs/imputs/' "$tmp/kernels/.flopwatch.yaml"
commit kernels "a mistake in the manifest"
push kernels mistaken
mistaken=$(head_of kernels)
is "a manifest with a mistake fails" "$(result_of "$mistaken")" "failed -"
like "at its line" "$(why_of "$mistaken")" 'commit [0-9a-f]{12}: .flopwatch.yaml:2:1: imputs: unknown key; did you mean .inputs.'

git -C "$tmp/kernels" checkout -q --orphan foreign main
echo 1.0 >"$tmp/kernels/kernels/factor"
commit kernels "no common history"
push kernels foreign
foreign=$(head_of kernels)
is "a branch without a base is not measured against itself" "$(result_of "$foreign")" "failed -"
like "with the reason" "$(why_of "$foreign")" '^branch foreign has no commit in common with its upstream main, so there is nothing to compare it with; name a commit: flopwatch compare COMMIT foreign$'

branch kernels 'odd/<b>&"$(id)-;é' main
echo 0.9 >"$tmp/kernels/kernels/factor"
commit kernels "an odd name"
push kernels 'odd/<b>&"$(id)-;é'
odd=$(head_of kernels)
is "a branch with an unusual name is measured like others" "$(result_of "$odd")" "done improvement"

# ---- main continues ----
git -C "$tmp/kernels" checkout -q main
echo 1.05 >"$tmp/kernels/kernels/factor"
commit kernels "main is slower"
push kernels main
second=$(head_of kernels)
is "main is compared with its last measured ancestor" "$(result_of "$second") $(job_field "$(job_of "$second")" 'base_how + " " + .base')" "done regression first-parent $first"
echo 1.0 >"$tmp/kernels/kernels/factor"
commit kernels "main recovers"
push kernels main
third=$(head_of kernels)
is "the next with that" "$(result_of "$third") $(job_field "$(job_of "$third")" base)" "done improvement $second"
is "and the alert is resolved" "$(api 'alerts?state=resolved' | jq -r '.items[].target')" "$second"
git -C "$tmp/kernels" reset -q --hard "$second"
echo 1.5 >"$tmp/kernels/kernels/factor"
commit kernels "history rewritten"
push kernels main
forced=$(head_of kernels)
is "after a forced push" "$(result_of "$forced") $(job_field "$(job_of "$forced")" base)" "done regression $second"

# ---- requested ----
asked=$(post jobs "{\"repo\":\"kernels\",\"target\":\"slow\",\"base\":\"$third\",\"cells\":\"*/full/*\"}" | jq -r .id)
await job_is "$asked" done
is "a job asked for: base given, some cells" "$(job_field "$asked" 'verdict + " " + .base_how + " " + .origin')" "regression given api"
is "only those cells" "$(api "comparisons/$(job_field "$asked" comparison)" | jq '.cells | length')" 2
again=$(post "jobs/$asked/retry" | jq -r .id)
await job_is "$again" done
is "and asked for again" "$(job_field "$again" 'origin + " " + .base')" "retry $third"
like "an unknown branch is reported" "$(post jobs '{"repo":"kernels","target":"nope"}' | jq -r .detail)" 'no branch or known commit nope'
gone=$(post jobs "{\"repo\":\"kernels\",\"target\":\"$(printf '%040d' 1)\"}" | jq -r .id)
await job_is "$gone" gone
like "a missing commit is reported as deleted" "$(job_field "$gone" state_why)" 'is not in'
asked=$(post jobs '{"repo":"kernels","target":"slow","suite":"nope"}' | jq -r .id)
await job_is "$asked" failed
like "a suite that is nowhere" "$(job_field "$asked" state_why)" 'there is no suite nope'

# ---- pause, cancel, supersede ----
post devices/sim-0/pause >/dev/null
branch kernels busy main
for n in 1 2 3; do
	echo "1.$n" >"$tmp/kernels/kernels/factor"
	commit kernels "try $n"
	push kernels busy
	eval "busy$n=$(head_of kernels)"
	await has_job "$(head_of kernels)"
done
sleep 0.3
is "nothing runs on a paused device" "$(job_field "$(job_of "$busy3")" state)" queued
is "a newer tip supersedes older ones that wait" "$(job_field "$(job_of "$busy1")" state) $(job_field "$(job_of "$busy2")" state)" "superseded superseded"
waiting=$(job_of "$busy3")
post "jobs/$waiting/cancel" >/dev/null
is "a waiting job is cancelled" "$(job_field "$waiting" state)" cancelled
like "an ended one is not" "$(post "jobs/$waiting/cancel" | jq -r .detail)" 'has ended already'
post devices/sim-0/resume >/dev/null

echo 'sleep 1000' >"$tmp/kernels/kernels/recipe"
commit kernels "builds for ever"
push kernels busy
endless=$(head_of kernels)
await has_job "$endless"
endless=$(job_of "$endless")
await job_is "$endless" building
post "jobs/$endless/cancel" >/dev/null
is "a running job is cancelled at once" "$(job_field "$endless" state)" cancelled
branch kernels after main
commit kernels "after it"
echo 1.01 >"$tmp/kernels/kernels/factor"
commit kernels "another"
push kernels after
is "and the worker is free again" "$(result_of "$(head_of kernels)")" "done improvement"

# ---- reading the configuration again ----
new_repo more
echo 'suites: [ffa]' >>"$tmp/c.yml"
kill -HUP "$daemon_pid"
await grep -q 'config.rejected' "$tmp/log"
like "a wrong configuration is reported and not used" "$(cat "$tmp/log")" "config.mistake .*c.yml:$(wc -l <"$tmp/c.yml"):1: suites: unknown key"
write_config 'workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]' \
	"repos: [{name: kernels, url: $tmp/kernels.git}, {name: more, url: $tmp/more.git}]"
kill -HUP "$daemon_pid"
await grep -q 'config.read' "$tmp/log"
push more main
is "a repository that was added is watched" "$(result_of "$(head_of more)")" "done unchanged"

# ---- stopping in the middle ----
branch kernels busy2 main
echo 'sleep 2' >"$tmp/kernels/kernels/recipe"
echo 1.2 >"$tmp/kernels/kernels/factor"
commit kernels "builds for a while"
push kernels busy2
long=$(head_of kernels)
await has_job "$long"
long=$(job_of "$long")
await job_is "$long" building
began=$(date +%s%N)
stop_daemon
is "SIGTERM ends it in order" $? 0
took=$((($(date +%s%N) - began) / 1000000))
ok "within 5 s ($took ms)" test $took -lt 5000
is "the running job waits again, and lost no attempt" "$(sql "SELECT state, attempt FROM job WHERE id = $long")" "queued|0"
start_daemon
is "it starts again" $? 0
is "and measures it" "$(result_of "$(head_of kernels)")" "done improvement"

# ---- a disk that is full ----
branch kernels full main
echo 'until [ -e go ]; do sleep 0.05; done' >"$tmp/kernels/kernels/recipe"
echo 1.25 >"$tmp/kernels/kernels/factor"
commit kernels "finishes while nothing can be written"
push kernels full
full=$(head_of kernels)
await has_job "$full"
full=$(job_of "$full")
await job_is "$full" building
await test -d "$tmp/cache/job/kernels"
prlimit --pid "$daemon_pid" --fsize=1:unlimited # every write of a file fails from here on
go() { touch "$tmp/cache/job/kernels/go" 2>/dev/null; grep -q 'db.down' "$tmp/log"; }
await go
await grep -q 'db.down' "$tmp/log"
is "/healthz reports that" "$(curl -s -o "$tmp/health" -w '%{http_code}' "http://127.0.0.1:$(port)/healthz")" 503
like "and the reason" "$(cat "$tmp/health")" 'cannot be written'
sleep 2.5
is "it is reported once" "$(grep -c 'db.down' "$tmp/log")" 1
unlike "pages continue" "$(api jobs)" '^$'
prlimit --pid "$daemon_pid" --fsize=unlimited:unlimited
await job_is "$full" done
is "the result is stored once there is room" "$(job_field "$full" 'state + " " + .verdict + " " + (.attempt | tostring)')" "done improvement 1"
is "/healthz is fine again" "$(curl -s -o "$tmp/health" -w '%{http_code}' "http://127.0.0.1:$(port)/healthz")" 200

# ---- workers that are disconnected ----
stop_daemon
lost_worker() { # a script that sends hello and then...
	printf '#!/bin/sh\necho %s\n%s\n' "'{\"t\":\"hello\",\"protocol\":1,\"version\":\"0\",\"isolation\":\"none\",\"devices\":[{\"kind\":\"sim\",\"uuid\":\"fake\",\"name\":\"f\",\"driver\":\"\",\"toolkit\":\"x\"}]}'" "$1" >"$tmp/worker"
	chmod +x "$tmp/worker"
}
lost_worker 'read job || exit 0; echo "out of luck" >&2; kill -9 $$'
write_config "workers: [{name: bad, command: [$tmp/worker]}]" "repos: [{name: kernels, url: $tmp/kernels.git}]"
start_daemon
branch kernels lost main
echo 1.3 >"$tmp/kernels/kernels/factor"
commit kernels "its worker dies"
push kernels lost
lost=$(head_of kernels)
is "a worker that dies three times" "$(result_of "$lost")" "failed -"
like "interrupts the job with the reason" "$(why_of "$lost")" 'interrupted: .*killed by SIGKILL.*out of luck.*attempt 3 of 3'
is "no row of it is stored" "$(sql "SELECT count(*) FROM comparison WHERE target_sha = '$lost'")" 0
stop_daemon
lost_worker 'exit 3'
sed -i 's/echo .{/exit 3; &/' "$tmp/worker"
start_daemon
branch kernels unlucky main
echo 1.4 >"$tmp/kernels/kernels/factor"
commit kernels "its worker never comes"
push kernels unlucky
unlucky=$(head_of kernels)
await has_job "$unlucky"
await grep -q 'worker.down.*before its hello' "$tmp/log"
is "a worker that never says hello costs no attempt" "$(job_field "$(job_of "$unlucky")" 'state + " " + (.attempt | tostring)')" "queued 0"
like "the list of workers says why" "$(api workers | jq -r '.items[] | "\(.name) \(.state): \(.why)"')" '^bad down: the worker ended before its hello \(exit 3\)'
like "so do the pages" "$(http GET /)" 'Worker <b>bad</b> is down; the daemon restarts it: the worker ended before its hello'
like "and the command line" "$("$bin/flopwatch" --server "http://127.0.0.1:$(port)" status)" 'WARNING worker bad is down: the worker ended before'
stop_daemon
write_config
start_daemon
is "and another one measures the job" "$(result_of "$unlucky")" "done improvement"
like "which is free then" "$(api workers | jq -c '[.items[] | [.name, .state, .why, .job]]')" '^\[\["sim","(free|busy)",null,'

# ---- workers that are elsewhere ----
stop_daemon
behind_socket() { # path, options: like systemd with Accept=yes, one worker process a connection
	python3 -c '
import os, socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
while True:
    line, _ = listener.accept()
    if os.fork() == 0:
        os.dup2(line.fileno(), 0)
        os.dup2(line.fileno(), 1)
        os.execv(sys.argv[2], sys.argv[2:])
    line.close()
' "$1" "$bin/flopwatch-worker" serve --device sim "${@:2}" 2>"$tmp/socket.log" &
	on_exit kill $!
	await test -S "$1"
}
behind_socket "$tmp/worker.sock" --cache "$tmp/cache"
write_config "workers: [{name: near, socket: $tmp/worker.sock}]" "repos: [{name: kernels, url: $tmp/kernels.git}]"
start_daemon
branch kernels socket main
echo 1.02 >"$tmp/kernels/kernels/factor"
commit kernels "through a socket"
push kernels socket
is "a worker behind a unix socket measures" "$(result_of "$(head_of kernels)")" "done improvement"
stop_daemon
behind_socket "$tmp/refuses.sock" --cache /proc/none
write_config "workers: [{name: near, socket: $tmp/refuses.sock}]" "repos: [{name: kernels, url: $tmp/kernels.git}]"
start_daemon
is_down() { [ "$(api workers | jq -r '.items[0].state')" = down ]; }
await is_down
is "one that cannot begin reports the reason, even if its stderr is not read" "$(api workers | jq -r '.items[0].why')" \
	"cache /proc/none cannot be made; give --cache DIR: No such file or directory"
stop_daemon
printf '#!/bin/sh\necho "Welcome to the GPU host"; echo "{}"\nexec "%s" "$@"\n' "$bin/flopwatch-worker" >"$tmp/ssh"
chmod +x "$tmp/ssh"
write_config "workers: [{name: far, command: [$tmp/ssh, serve], device: sim}]" "repos: [{name: kernels, url: $tmp/kernels.git}]"
start_daemon
branch kernels banner main
echo 1.04 >"$tmp/kernels/kernels/factor"
commit kernels "after a banner"
push kernels banner
is "a worker that greets first measures too" "$(result_of "$(head_of kernels)")" "done improvement"
stop_daemon
write_config
start_daemon

# ---- a database of an unknown version ----
stop_daemon
cp -r "$tmp/state" "$tmp/newer"
sqlite3 "$tmp/newer/flopwatch.db" 'PRAGMA user_version = 999'
sed "s#/state#/newer#" "$tmp/c.yml" >"$tmp/newer.yml"
fails "a database of a newer version" 3 "$bin/flopwatchd" --config "$tmp/newer.yml"
like "is left alone and named" "$out" '^flopwatchd: .*newer'
is "one line" "$(wc -l <<<"$out")" 1
chmod 755 "$tmp"
cp "$bin/flopwatchd" "$tmp/readable"
for folder in state cache; do
	if [ "$(id -u)" != 0 ]; then
		skip "a $folder folder of another user" "not root"
		continue
	fi
	mkdir -m 755 "$tmp/foreign-$folder" && mkdir -m 700 "$tmp/foreign-$folder/state" "$tmp/foreign-$folder/cache"
	chown 31337:31337 "$tmp/foreign-$folder/state" "$tmp/foreign-$folder/cache"
	chown 0:0 "$tmp/foreign-$folder/$folder"
	sed "s#$tmp/state#$tmp/foreign-$folder/state#; s#$tmp/cache#$tmp/foreign-$folder/cache#" "$tmp/c.yml" >"$tmp/foreign.yml"
	chmod 644 "$tmp/foreign.yml"
	fails "a $folder folder of another user" 2 setpriv --reuid=31337 --regid=31337 --clear-groups "$tmp/readable" --config "$tmp/foreign.yml"
	is "it is named" "$out" "flopwatchd: $tmp/foreign-$folder/$folder must belong to the user of flopwatchd, who has no right to read and write it"
done
fails "no room at all" 1 prlimit --fsize=1:unlimited "$bin/flopwatchd" --config "$tmp/c.yml"
like "is one line too" "$out" "^flopwatchd: cannot write $tmp/state/lock: "

# ---- killed at any moment ----
start_daemon
shas=()
for n in $(seq 12); do
	branch kernels "kill/$n" main
	echo "1.$((n % 3))" >"$tmp/kernels/kernels/factor"
	echo "# $n" >>"$tmp/kernels/kernels/Makefile"
	commit kernels "round $n"
	push kernels "kill/$n"
	shas+=("$(head_of kernels)")
	sleep "0.$((RANDOM % 6))$((RANDOM % 10))"
	stop_daemon KILL
	start_daemon || break
done
for sha in "${shas[@]}"; do await job_ended "$sha"; done
wanted=$(for sha in "${shas[@]}"; do echo "$sha"; done | sort)
is "no push is lost over 12 kills" "$(sql "SELECT target_sha FROM job WHERE branch LIKE 'kill/%' ORDER BY 1")" "$wanted"
is "every job ended with its result, or was interrupted three times" \
	"$(sql "SELECT count(*) FROM job WHERE branch LIKE 'kill/%' AND NOT (state = 'done' OR (state = 'failed' AND attempt = 3 AND state_why LIKE 'interrupted%'))")" 0
for job in $(sql "SELECT id FROM job WHERE branch LIKE 'kill/%' AND state = 'failed'"); do
	await job_is "$(post "jobs/$job/retry" | jq -r .id)" done
done
is "each has one comparison" "$(sql "SELECT target_sha FROM comparison WHERE branch LIKE 'kill/%' ORDER BY 1")" "$wanted"
is "of four cells" "$(sql "SELECT DISTINCT (SELECT count(*) FROM cell WHERE comparison = c.id) FROM comparison c WHERE branch LIKE 'kill/%'")" 4
is "with its body" "$(sql "SELECT count(*) FROM comparison WHERE length(body) = 0 OR etag = ''")" 0
is "the database is sound" "$(sql 'PRAGMA integrity_check')" ok
is "nothing in it hangs loose" "$(sql 'PRAGMA foreign_key_check')" ""
is "no job is left open" "$(sql "SELECT count(*) FROM job WHERE state NOT IN ('done','failed','cancelled','superseded', 'target_missing')")" 0

# ---- idle ----
no_children() { [ "$(pgrep -c -P "$daemon_pid" flopwatch)" = 0 ]; }
ok "no child of ours is left" await no_children
ok "resident size is below 20 MB ($(awk '/VmRSS/ {print $2}' "/proc/$daemon_pid/status") KiB)" test "$(awk '/VmRSS/ {print $2}' "/proc/$daemon_pid/status")" -lt 20480
stop_daemon
is "it ends in order" $? 0
unlike "nothing went wrong unseen" "$(cat "$tmp/log")" 'ERROR: AddressSanitizer|runtime error'
