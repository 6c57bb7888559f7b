#!/bin/bash
# The command line against the real daemon: what a person types, what it prints, and how it ends.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/daemon.sh"
fw() { "$bin/flopwatch" --server "http://127.0.0.1:$(cat "$tmp/state/port")" "$@"; }
json() { # filter: the last output, which has to be JSON, shows this
	jq -e "$1" >/dev/null <<<"$out"
}
# a command's standard output alone, its errors in $errors
run() {
	out=$("$@" 2>"$tmp/errors")
	status=$?
	errors=$(cat "$tmp/errors")
}

# ---- without a daemon ----
fails "no arguments" 2 "$bin/flopwatch"
ok "--help" "$bin/flopwatch" --help
like "it shows the exit status" "$out" '3 regression, 4 not found, 5 daemon unreachable, 6 timeout, 7 undecided'
ok "--version" "$bin/flopwatch" --version
fails "an unknown verb" 2 "$bin/flopwatch" comparr
like "has a suggestion" "$out" 'did you mean compare\?'
fails "an unknown option" 2 "$bin/flopwatch" status --frobnicate
fails "too few arguments" 2 "$bin/flopwatch" compare main
fails "too many" 2 "$bin/flopwatch" status main
fails "--timeout is a number" 2 "$bin/flopwatch" wait main --timeout soon
fails "--server is an address" 2 "$bin/flopwatch" --server ftp://x status
fails "a daemon that is not there" 5 "$bin/flopwatch" --server http://127.0.0.1:1 status
like "is named" "$out" '^flopwatch: cannot reach flopwatchd at http://127.0.0.1:1: .*is it running\?$'
fails "also for a backup" 5 "$bin/flopwatch" --server http://127.0.0.1:1 backup "$tmp/none.db"
ok "which leaves no file" test ! -e "$tmp/none.db" -a ! -e "$tmp/none.db.part"
like "FLOPWATCH_SERVER counts too" "$(FLOPWATCH_SERVER=http://127.0.0.1:2 "$bin/flopwatch" status 2>&1)" '127.0.0.1:2'

# ---- a daemon that reads a checkout in place ----
new_repo kernels
write_config 'workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]' "repos: [{name: kernels, url: $tmp/kernels}]"
ok "config check of a good file" fw config check "$tmp/c.yml"
like "says what it holds" "$out" 'fine; 1 repositories, 1 workers'
echo 'listne: 1' >"$tmp/bad.yml"
fails "config check of a bad one" 2 fw config check "$tmp/bad.yml"
like "says where" "$out" 'bad.yml:1:1: listne: unknown key; did you mean .listen.'
fails "config of another word" 2 fw config chekc
start_daemon || exit 1
main=$(head_of kernels)
run fw wait main --timeout 100 --progress
is "wait for the first push" "$status" 0
like "progress is one line a step on standard error" "$errors" '^job 1: (sent|building|checking|measuring)'
is "up to its end" "$(tail -n 1 <<<"$errors")" "job 1: done"
like "the table shows the cells" "$out" 'attention/dense/full/s64/hq2/hk1/d64/bf16/backward +[0-9.]+ +[0-9.]+ '
branch kernels slow main
echo 1.05 >"$tmp/kernels/kernels/factor"
commit kernels "slower"
slow=$(head_of kernels)
branch kernels 'team/a+b' main
echo hello >"$tmp/kernels/README"
commit kernels "words"
git -C "$tmp/kernels" checkout -q main

run fw wait slow --timeout 100 --quiet
is "a slower branch ends with 3" "$status" 3
like "the head line says so" "$out" "^comparison [0-9]+  kernels  tiny  ${main:0:12}\.\.${slow:0:12}  verdict: regression"
is "each cell has its warning" "$(grep -cE '^WARNING attention/.* lost [45]\.[0-9]+ % TFLOP/s \(threshold 1\.50 %\)' <<<"$out")" 4
is "and progress is not in the output" "$errors" ""
run fw wait 'team/a+b' --timeout 100 --quiet
is "a harmless one with 0" "$status" 0
like "because it is the same tree" "$out" 'verdict: identical, same code by tree'
run fw wait "${slow:0:10}" --timeout 100 --quiet --json
is "a commit's digits do too" "$status" 3
ok "--json is the API's body" json '.verdict == "regression" and (.cells | length) == 4'
fails "a branch that is not there" 4 fw wait nothing-like-it
fails "a job that is not there" 4 fw wait 999

# ---- compare ----
run fw compare main slow --quiet --timeout 100
is "compare main slow" "$status" 3
run fw compare main 'team/a+b' --quiet --timeout 100
is "compare with a harmless branch" "$status" 0
run fw compare main slow --cells '*/full/*/forward' --quick --quiet --json --timeout 100
ok "compare --cells --quick --json" json '(.cells | length) == 1 and .quick and .launches == 1 and .rule.launches_max == 1'
fails "compare with nothing" 4 fw compare main nothing
like "says what is missing" "$out" 'no branch or known commit nothing'
fails "compare in a repository that is not there" 4 fw compare main slow --repo other
echo 1.08 >"$tmp/kernels/kernels/factor"
in_tree() { (cd "$tmp/kernels/kernels" && fw "$@"); }
run in_tree compare main . --quiet --timeout 100
is "compare main . sees what is not committed" "$status" 3
like "and how much slower it is" "$out" 'lost 7\.[0-9]+ %'
is "the work tree is as it was" "$(git -C "$tmp/kernels" status --short)" " M kernels/factor"
git -C "$tmp/kernels" checkout -q kernels/factor
run in_tree compare main . --quiet --timeout 100
is "and 0 when nothing was changed" "$status" 0
cd "$tmp" || exit 1
fails "compare . outside a checkout" 4 fw compare main .
like "says what to do" "$out" 'not inside a git checkout'
cd "$root" || exit 1

# ---- reading ----
ok "status" fw status
like "lists branches as people write them" "$out" '^ +kernels +team/a\+b +[0-9a-f]{10} +identical'
ok "status --json" fw status --json
ok "is JSON" json '.items | length == 3'
cell=attention/dense/full/s64/hq2/hk1/d64/bf16/forward
ok "history of a cell" fw history "$cell"
like "shows the regression" "$out" "${slow:0:10} .* -4\.[0-9]+ % .*regression"
ok "history --branch --limit --json" fw history "$cell" --branch slow --limit 1 --json
ok "is one point" json '(.items | length) == 1 and .items[0].verdict == "regression"'
fails "history in a repository that is not there" 4 fw history "$cell" --repo other
ok "jobs" fw jobs
like "lists them" "$out" 'kernels +slow +.*done'
ok "jobs --state done --json --repo" fw jobs --state done --json --repo kernels
ok "is JSON" json '.items | length > 3'
fails "jobs of a state that is none" 1 fw jobs --state asleep
like "says which there are" "$out" 'state must be one of: open queued'
ok "devices" fw devices
like "names the simulator" "$out" 'sim-0 +sim'
job=$(job_of "$slow")
ok "log of a job" fw log "$job"
like "holds its steps and its build" "$out" 'target build'
fails "log of none" 4 fw log 999

# ---- writing ----
ok "pause" fw pause sim-0
ok "run" fw run slow
like "says the job" "$out" '^job [0-9]+ queued; follow it with'
waiting=$(sed -E 's/job ([0-9]+).*/\1/' <<<"$out")
fails "wait with a deadline" 6 fw wait "$waiting" --timeout 1 --quiet
like "says that the job goes on" "$out" 'has not ended after 1 s; it goes on'
ok "cancel" fw cancel "$waiting"
fails "cancel it again" 1 fw cancel "$waiting"
like "which it says" "$out" 'has ended already'
fails "wait for a cancelled job" 1 fw wait "$waiting"
like "says who did it" "$out" "job $waiting is cancelled: cancelled by local"
fails "cancel none" 4 fw cancel 999
ok "run --json" fw run slow --json
waiting=$(jq -r .id <<<"$out")
ok "resume" fw resume sim-0
run fw wait "$waiting" --quiet --timeout 100
is "now it runs" "$status" 3
ok "retry" fw retry "$waiting"
like "says the new job" "$out" '^job [0-9]+ queued; follow it with: flopwatch wait'
run fw wait "$(sed -E 's/job ([0-9]+).*/\1/' <<<"$out")" --quiet --timeout 100
is "and runs again" "$status" 3
fails "pause of none" 4 fw pause sim-9
ok "alerts" fw alerts --state open
like "shows the slow branch" "$out" "open +kernels +slow +${slow:0:10}"
alert=$(fw alerts --json | jq ".items[] | select(.target == \"$slow\") | .id")
fails "accept wants a reason" 1 fw alerts accept "$alert"
ok "acknowledge does not" fw alerts acknowledge "$alert"
ok "accept with a reason" fw alerts accept "$alert" --reason "known: \"wider\" tiles"
ok "alerts --state accepted --json" fw alerts --state accepted --json
ok "hold who and why" json '.items[0].events | length == 3 and .[2].who == "local" and .[2].reason == "known: \"wider\" tiles"'
fails "a step that is none" 2 fw alerts forget "$alert"
fails "an alert that is none" 4 fw alerts resolve 999

# ---- a daemon that restarts while somebody waits ----
fw pause sim-0
waiting=$(fw run slow --json | jq -r .id)
fw wait "$waiting" --quiet --timeout 100 >"$tmp/waited" 2>&1 &
waiter=$!
sleep 0.5
stop_daemon KILL
port=$(cat "$tmp/state/port") # a port that the configuration names is not written there, but is where this script looks
sed -i "s/127.0.0.1:0/127.0.0.1:$port/" "$tmp/c.yml"
{ sleep 0.2; echo "$port" >"$tmp/state/port"; } &
start_daemon
fw resume sim-0
wait "$waiter"
is "wait goes on over a restart" "$?" 3
like "to the verdict" "$(cat "$tmp/waited")" 'verdict: regression'

# ---- backup ----
ok "backup" fw backup "$tmp/copy.db"
is "it is sound" "$(sqlite3 "$tmp/copy.db" 'PRAGMA integrity_check')" ok
is "and holds what the daemon has" "$(sqlite3 "$tmp/copy.db" 'SELECT count(*) FROM comparison')" "$(sql 'SELECT count(*) FROM comparison')"
is "for its owner alone" "$(stat -c %a "$tmp/copy.db")" 600
is "and nothing is left behind" "$(find "$tmp" -name '*.part' -o -name 'backup-*')" ""
fails "backup into a folder that is not there" 1 fw backup "$tmp/none/copy.db"
like "says so" "$out" "cannot write $tmp/none/copy.db.part: No such file"
