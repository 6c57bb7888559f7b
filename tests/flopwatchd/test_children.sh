#!/bin/bash
# Children of flopwatchd that fail: every push is still judged, and no commit is blamed, if one of them was killed, crashed, or did not find its
# repository for a moment. A program named flopwatch-git replaces the real one and executes, once, the order in order.VERB.
# Starts first.  it waits most of its time
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

real=$bin
mkdir "$tmp/bin"
cp "$real/flopwatchd" "$tmp/bin" # a copy: the daemon finds our programs next to the running one
ln -s "$real/flopwatch-worker" "$real/flopwatch-runner" "$real/flopwatch-send" "$tmp/bin"
bin=$tmp/bin
cat >"$bin/flopwatch-git" <<SH
#!/bin/bash
tmp=$tmp verb=\$1
echo \$verb >>$tmp/calls
run() { "$real/flopwatch-git" "\${args[@]}"; }
away() { mv "$tmp/kernels.git" "$tmp/away"; }
back() { mv "$tmp/away" "$tmp/kernels.git"; }
args=("\$@")
if [ -e "$tmp/always.\$verb" ]; then
	. "$tmp/always.\$verb"
elif mv "$tmp/order.\$verb" "$tmp/done.\$verb" 2>/dev/null; then
	. "$tmp/done.\$verb"
fi
exec "$real/flopwatch-git" "\$@"
SH
chmod +x "$bin/flopwatch-git"

new_repo kernels
write_config
start_daemon
push kernels main
is "with nothing in the way main is measured" "$(result_of "$(head_of kernels)")" "done unchanged"

n=0
pushed() { # $sha on a new branch, with a tree that the worker has not cached
	n=$((n + 1))
	branch kernels "try$n" "${from:-main}"
	echo 0.9 >"$tmp/kernels/kernels/factor"
	echo "# $n" >>"$tmp/kernels/kernels/Makefile"
	commit kernels "try $n"
	push kernels "try$n"
	sha=$(head_of kernels)
	await has_job "$sha"
}
calls_of() { # verb of flopwatch-git, as an extended expression
	grep -cxE "$1" "$tmp/calls"
}
log_of() { # of the commit's job, one line
	api "jobs/$(job_of "$1")/log" | tr '\n' ' '
}

while read -r verb what; do
	rm -f "$tmp/done.$verb"
	echo "$what" >"$tmp/order.$verb"
	: >"$tmp/calls"
	pushed
	is "$verb: $what: the tip is judged" "$(result_of "$sha")" "done improvement"
	ok "after that child" test -e "$tmp/done.$verb"
	is "and the job lost no attempt" "$(job_field "$(job_of "$sha")" attempt)" 1
	[ "$verb" != tar ] || is "and was not resolved again" "$(calls_of tree) $(calls_of base)" "3 1"
done <<'CASES'
tips kill -KILL $$
tips away; run; status=$?; back; exit $status
tree kill -KILL $$
tree kill -TERM $$
tree echo 'flopwatch-git: fork: no memory' >&2; exit 75
tree ulimit -c 0; kill -SEGV $$
tree away; run; status=$?; back; exit $status
base kill -KILL $$
base away; run; status=$?; back; exit $status
tar kill -KILL $$
tar head -c 600 /dev/zero; kill -KILL $$
tar away; run; status=$?; back; exit $status
CASES

# ---- a job is resolved once ----
post devices/sim-0/pause >/dev/null
: >"$tmp/calls"
pushed
resolved() { [ -n "$(job_field "$(job_of "$sha")" 'base // ""')" ]; }
await resolved
is "a branch is resolved by three trees, a base and a list of commits" "$(calls_of tree) $(calls_of base) $(calls_of log)" "3 1 1"
stop_daemon
start_daemon
: >"$tmp/calls"
post devices/sim-0/resume >/dev/null
is "a job that waited over a restart is judged" "$(result_of "$sha")" "done improvement"
is "by its stored plan" "$(calls_of 'tree|base|log')" 0
is "which ended with it" "$(sql "SELECT count(*) FROM job_plan")" 0

make_old() { sqlite3 "$tmp/state/flopwatch.db" "UPDATE job_plan SET format = 0"; }
post devices/sim-0/pause >/dev/null
pushed
await resolved
stop_daemon
ok "its plan is that of another daemon" make_old
: >"$tmp/calls"
start_daemon
post devices/sim-0/resume >/dev/null
is "then it is resolved once more, and judged" "$(result_of "$sha")" "done improvement"
is "with its base, which stays" "$(calls_of tree) $(calls_of base)" "2 0"

# ---- the list of a search ----
git -C "$tmp/kernels" checkout -q main
good=$(head_of kernels)
for factor in 1.0 1.2 1.2; do
	echo $factor >"$tmp/kernels/kernels/factor"
	commit kernels "factor $factor"
done
push kernels main
is "main is slower" "$(result_of "$(head_of kernels)")" "done regression"
echo 'kill -KILL $$' >"$tmp/order.log"
searched=$(post bisects "{\"repo\":\"kernels\",\"good\":\"$good\",\"bad\":\"$(head_of kernels)\"}" | jq -r .id)
over() { [[ "$(api "bisects/$searched" | jq -r .state)" =~ ^(done|failed|cancelled)$ ]]; }
await over
is "a bisect whose list of commits was killed continues" "$(api "bisects/$searched" | jq -r .state)" done
ok "after that child" test -e "$tmp/done.log"

# ---- permanent failures ----
from=$good
echo 'kill -KILL $$' >"$tmp/always.tree"
pushed
waits() { [ "$(job_field "$(job_of "$sha")" state_why)" = "flopwatch-git: killed by SIGKILL" ]; }
await waits
is "while every child is killed the job waits" "$(job_field "$(job_of "$sha")" state)" queued
: >"$tmp/tries"
tries() { [ "$(wc -l <"$tmp/tries")" -ge 3 ]; }
echo "echo >>$tmp/tries; kill -KILL \$\$" >"$tmp/always.tree"
await tries
is "and reports the reason once" "$(log_of "$sha" | grep -o 'killed by SIGKILL' | wc -l)" 1
rm "$tmp/always.tree"
is "until they live" "$(result_of "$sha")" "done improvement"
is "then nothing is left of the reason" "$(job_field "$(job_of "$sha")" 'state_why // ""')" ""

echo 'ulimit -c 0; kill -SEGV $$' >"$tmp/always.tree"
pushed
is "what crashes twice at the same commit fails" "$(result_of "$sha")" "failed -"
is "and is named" "$(why_of "$sha")" "flopwatch-git: killed by SIGSEGV"
rm "$tmp/always.tree"
is "without blaming a side" "$(api 'alerts?state=open' | jq '[.items[] | select(.kind != "regression")] | length')" 0

# ---- a child that writes into a repository when the daemon ends ----
write_config 'workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]' \
	"repos: [{name: kernels, url: $tmp/kernels.git, notes: write}]"
lock=$tmp/kernels.git/refs/notes/flopwatch.lock
ok "a library that stops it" gcc -std=gnu17 -O1 -shared -fPIC -o "$tmp/at_call.so" "$root/tests/support/at_call.c" -ldl
noted() { git -C "$tmp/kernels.git" notes --ref flopwatch show "$sha" >/dev/null 2>&1; }
unlocked() { [ ! -e "$lock" ]; }
written() { [ "$(sql "SELECT state FROM outbox WHERE kind = 'note' AND subject = '$sha'")" = sent ]; }
for signal in TERM KILL; do
	stop_daemon
	start_daemon
	cat >"$tmp/order.note" <<-SH
		echo \$\$ >$tmp/writer
		AT_CALL="link 1 STOP" LD_PRELOAD=$tmp/at_call.so exec "$real/flopwatch-git" "\$@"
	SH
	pushed
	await test -e "$lock"
	ok "a note is being written" test -e "$lock"
	stop_daemon $signal
	is "SIG$signal: the daemon has ended, the note not yet" "$?$(ls "$lock")" "$([ $signal = TERM ] && echo 0 || echo 137)$lock"
	kill -CONT "$(cat "$tmp/writer")"
	ok "it ends by itself" await unlocked
	await noted
	ok "and the note is there" noted
	start_daemon
	await written
	ok "the next start has nothing in its way" written
done
ok "the repository is sound" git -C "$tmp/kernels.git" fsck
