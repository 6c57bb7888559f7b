#!/bin/bash
# The command line against the real daemon: commands, output and exit statuses.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
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
like "it shows the exit status" "$(tr '\n' ' ' <<<"$out")" '3 regression that no user accepted, 4 not found, 5 daemon unreachable, 6 timeout, 7 undecided'
ok "--version" "$bin/flopwatch" --version
fails "an unknown verb" 2 "$bin/flopwatch" comparr
like "has a suggestion" "$out" 'did you mean compare\?'
fails "an unknown option" 2 "$bin/flopwatch" status --frobnicate
fails "too few arguments" 2 "$bin/flopwatch" compare main
fails "too many" 2 "$bin/flopwatch" status main
fails "--timeout is a number" 2 "$bin/flopwatch" wait main --timeout soon
fails "an option that the verb does not take" 2 "$bin/flopwatch" completion bash --cells x
is "is named, in one line" "$out" "flopwatch: completion takes no --cells; see flopwatch help completion"
fails "also before the verb" 2 "$bin/flopwatch" --state nonsense completion bash
fails "also where another command has the same beginning" 2 "$bin/flopwatch" import "$tmp/none" --base-provider x
is "which is not taken for it" "$out" "flopwatch: import takes no --base-provider; see flopwatch help import"
fails "--server is an address" 2 "$bin/flopwatch" --server ftp://x status
fails "a daemon that is not there" 5 "$bin/flopwatch" --server http://127.0.0.1:1 status
like "is named" "$out" '^flopwatch: cannot reach flopwatchd at http://127.0.0.1:1: .*is it running\? \(see doc/troubleshooting.md#unreachable\)$'
fails "also for a backup" 5 "$bin/flopwatch" --server http://127.0.0.1:1 backup "$tmp/none.db"
ok "which leaves no file" test ! -e "$tmp/none.db" -a ! -e "$tmp/none.db.part"
like "FLOPWATCH_SERVER counts too" "$(FLOPWATCH_SERVER=http://127.0.0.1:2 "$bin/flopwatch" status 2>&1)" '127.0.0.1:2'

# ---- a daemon that reads a checkout in place ----
new_repo kernels
write_config 'workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]' "repos: [{name: kernels, url: $tmp/kernels}]"
ok "config check of a good file" fw config check "$tmp/c.yml"
like "says what it holds" "$out" 'fine; 1 repository, 1 worker,'
echo 'listne: 1' >"$tmp/bad.yml"
fails "config check of a bad one" 2 fw config check "$tmp/bad.yml"
like "says where" "$out" 'bad.yml:1:1: listne: unknown key; did you mean .listen.'
fails "config of another word" 2 fw config chekc
start_daemon || exit 1
main=$(head_of kernels)
run fw wait main --timeout 100 --progress --long
is "wait for the first push" "$status" 0
like "progress is one line a step on standard error" "$errors" '^J1: (sent|building|checking|measuring)'
is "up to its end" "$(tail -n 1 <<<"$errors")" "J1: done"
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
like "the first line is the finding" "$(head -n 1 <<<"$out")" '^slow is (up to )?[45]\.[0-9] % slower in 4 of 4 cells$'
is "the worst cells follow" "$(grep -cE '^  attention/.* -[45]\.[0-9]+ %  regression' <<<"$out")" 4
like "how sure it is" "$out" '^(confirmed twice|chance produces this less than once in a million|seen in one set of runs): worst cell at least [0-9.]+ % slower, threshold 1\.5 % \([0-9]+( of [0-9]+)? runs\)$'
like "the cause, or that none is known" "$out" '^why: '
like "the numbers with their letters" "$out" "^A[0-9]+ open  C[0-9]+  J[0-9]+  kernels  tiny  ${main:0:12}\.\.${slow:0:12}  "
like "the last line is the next command" "$(tail -n 1 <<<"$out")" '^next: push a fix, or: flopwatch alerts accept A[0-9]+ --reason \.\.\.$'
is "and progress is not in the output" "$errors" ""
run fw wait slow --timeout 100 --quiet --long
is "--long has the same first line" "$(head -n 1 <<<"$out" | cut -c1-8)" "slow is "
like "and the tables" "$out" "^C[0-9]+  kernels  slow  tiny  ${main:0:12}\.\.${slow:0:12}  verdict: regression"
is "each cell has its warning" "$(grep -cE '^WARNING attention/.* lost [45]\.[0-9]+ % TFLOP/s \(threshold 1\.50 %\)' <<<"$out")" 4
like "and the same last line" "$(tail -n 1 <<<"$out")" '^next: push a fix, or: flopwatch alerts accept A'
run fw wait 'team/a+b' --timeout 100 --quiet
is "a harmless one with 0" "$status" 0
like "the finding" "$(head -n 1 <<<"$out")" '^team/a\+b is identical to its base$'
like "because it is the same tree" "$out" '^same code by tree: nothing was timed$'
run fw wait "${slow:0:10}" --timeout 100 --quiet --json
is "a commit's digits do too" "$status" 3
ok "--json is the API's body" json '.verdict == "regression" and (.cells | length) == 4'
fails "a branch that is not there" 4 fw wait nothing-like-it
branches_are() { [ "$(api branches | jq '.items | length')" = "$1" ]; }
git -C "$tmp/kernels" branch again "$main"
await branches_are 4
run fw wait again --timeout 2 --quiet
is "a new branch at a commit that was measured has its verdict" "$status" 0
like "which is that of the commit" "$out" "^C[0-9]+  J[0-9]+  kernels  tiny  ${main:0:12}\.\."
git -C "$tmp/kernels" branch -q -D again
await branches_are 3
fails "a job that is not there" 4 fw wait 999

# ---- compare ----
run fw compare main slow --quiet --timeout 100
is "compare main slow" "$status" 3
run fw compare main 'team/a+b' --quiet --timeout 100
is "compare with a harmless branch" "$status" 0
run fw compare main slow --cells '*/full/*/forward' --quick --quiet --json --timeout 100
ok "compare --cells --quick --json" json '(.cells | length) == 1 and .quick and .runs == 1 and .rule.runs_max == 1'
fails "compare with nothing" 4 fw compare main nothing
like "says what is missing" "$out" 'no branch or known commit nothing'
fails "compare in a repository that is not there" 4 fw compare main slow --repo other
echo 1.08 >"$tmp/kernels/kernels/factor"
in_tree() { (cd "$tmp/kernels/kernels" && fw "$@"); }
run in_tree compare main . --quiet --timeout 100
is "compare main . sees what is not committed" "$status" 3
like "and how much slower it is" "$(head -n 1 <<<"$out")" '^[0-9a-f]{12} is (up to )?7\.[0-9] % slower in 4 of 4 cells$'
is "the work tree is as it was" "$(git -C "$tmp/kernels" status --short)" " M kernels/factor"
git -C "$tmp/kernels" checkout -q kernels/factor
run in_tree compare main . --quiet --timeout 100
is "and 0 when nothing was changed" "$status" 0
cd "$tmp" || exit 1
git clone -q "$tmp/kernels" "$tmp/elsewhere"
echo 1.07 >"$tmp/elsewhere/kernels/factor"
in_clone() { (cd "$tmp/elsewhere" && fw "$@"); }
queued=$(sql "SELECT count(*) FROM job")
for verb in "compare main . --repo kernels --quiet --timeout 100" "submit . --repo kernels"; do
	fails "uncommitted files of a checkout that the daemon does not read: $verb" 4 in_clone $verb
	is "says what to do: $verb" "$out" "flopwatch: this checkout is not the one that the daemon reads, and repository kernels does not have its uncommitted files; commit and push them: git push origin main"
done
git -C "$tmp/elsewhere" checkout -q -b mine
git -C "$tmp/elsewhere" -c user.name=t -c user.email=t@localhost commit -q -a -m "not pushed"
fails "nor can a commit that is not pushed be compared" 4 in_clone compare main . --quiet --timeout 100
is "and prints that" "$out" "flopwatch: this checkout is not the one that the daemon reads, and repository kernels does not have its commit; push it: git push origin mine"
is "and nothing was queued" "$(sql "SELECT count(*) FROM job")" "$queued"
git -C "$tmp/elsewhere" checkout -q --detach origin/slow
run in_clone compare main . --quiet --timeout 100
is "a commit that is pushed is compared" "$status" 3
like "by its own hash" "$(head -n 1 <<<"$out")" "^$(git -C "$tmp/kernels" rev-parse slow | cut -c1-12) "
git -C "$tmp/elsewhere" checkout -q mine
git -C "$tmp/elsewhere" remote remove origin
fails "compare . where no remote is the repository" 1 in_clone compare main . --repo kernels --quiet --timeout 100
like "says what to do" "$out" 'push a branch and name that instead of \..* is target_missing: commit [0-9a-f]+ is not in '
fails "compare . outside a checkout" 4 fw compare main .
like "says what to do" "$out" 'not inside a git checkout'

# ---- reading ----
ok "status" fw status
like "begins with the counts" "$(head -n 1 <<<"$out")" '^3 branches: 1 regression, 1 unchanged, 1 identical$'
like "the worst branch is first" "$(sed -n 2p <<<"$out")" '^  slow +regression +-[45]\.[0-9] % +4/4 cells +A[0-9]+ open +([0-9]+ (s|min) ago|now)$'
like "lists branches as users write them" "$out" '^ +team/a\+b +identical'
like "ends with the next command" "$(tail -n 1 <<<"$out")" '^next: flopwatch why A[0-9]+$'
alert=$(fw alerts --json | jq -r '[.items[] | select(.target == "'"$slow"'")][0].id')
for name in slow "$slow" "${slow:0:9}"; do
	is "why of a branch or commit is that of its alert: $name" "$(fw why "$name" 2>&1 | head -n 2)" "$(fw why "A$alert" 2>&1 | head -n 2)"
done
compared=$(fw status --json | jq -r '.items[] | select(.display == "main").comparison')
is "without an alert that of its comparison" "$(fw why main --repo kernels 2>&1)" "$(fw why "C$compared" 2>&1)"
fails "why of nothing that is known" 4 fw why nothing-like-it --repo kernels
is "says what it takes" "$out" "flopwatch: nothing-like-it is neither a branch nor a measured commit of repository kernels; why also takes A3 (an alert) or C32 (a comparison)"
fails "why of too much" 2 fw why main one two
ok "status --long" fw status --long
like "has tips and jobs" "$out" '^ +kernels +team/a\+b +[0-9a-f]{10} +identical'
ok "status --json" fw status --json
ok "is JSON" json '.items | length == 3'
ok "status --watch ends with its timeout" fw status --watch --timeout 1
like "and has printed the list" "$(head -n 1 <<<"$out")" '^3 branches: '
cell=attention/dense/full/s64/hq2/hk1/d64/bf16/forward
ok "history of a cell" fw history "$cell"
like "has a column of branches" "$out" ' branch +commit '
like "with that of the one" "$out" " slow +${slow:0:10} "
like "and that of the other" "$out" " main +${main:0:10} "
like "shows the regression" "$out" "${slow:0:10} .* -4\.[0-9]+ % .*regression"
ok "history --branch --limit --json" fw history "$cell" --branch slow --limit 1 --json
ok "is one point" json '(.items | length) == 1 and .items[0].verdict == "regression"'
unlike "points of one branch have no column of it" "$(fw history "$cell" --branch slow)" 'branch'
fails "history in a repository that is not there" 4 fw history "$cell" --repo other
fails "history of a part of its key" 4 fw history dense_FULL_s64
like "names the cells that are near" "$out" "^flopwatch: repository kernels has no cell dense_FULL_s64; near it: $cell, attention/"
fails "history of what no key is like" 4 fw history nothing-like-it
is "names none" "$out" "flopwatch: kernels has no cell nothing-like-it"
ok "jobs" fw jobs
like "lists them" "$out" '^ +J[0-9]+ +compare +slow +done: regression'
ok "jobs --state done --json --repo" fw jobs --state done --json --repo kernels
ok "is JSON" json '.items | length > 3'
fails "jobs of a state that is none" 1 fw jobs --state asleep
like "says which there are" "$out" 'state must be one of: open queued'
ok "devices" fw devices
like "names the simulator" "$out" 'sim-0 +sim'
is "begins with the finding" "$(head -n 1 <<<"$out")" "1 of 1 device is ready"
is "ends with the next command" "$(tail -n 1 <<<"$out")" "next: flopwatch jobs"
job=$(job_of "$slow")
ok "log of a job" fw log "J$job"
like "begins with the result" "$(head -n 1 <<<"$out")" "^J$job compare (slow|${slow:0:10}): done, regression, C[0-9]+"
like "has a line for the runs of a set" "$out" 'Z  run [0-9]+( to [0-9]+)?, set 1: [0-9]+ cells?(, [0-9]+ at the end)?$'
is "and one line of a build that succeeded" "$(grep -A 1 '^target build' <<<"$out" | sed -n 2p | cut -c1-5)" "next:"
short=$(wc -l <<<"$out")
ok "log --build" fw log "$job" --build
ok "has more lines" test "$(wc -l <<<"$out")" -gt "$short"
fails "log of none" 4 fw log 999
ok "log of a branch" fw log slow --repo kernels
like "is that of its newest job" "$(head -n 1 <<<"$out")" "^J$(sql "SELECT max(id) FROM job WHERE branch = 'slow'") compare slow: "
fails "log of what is neither" 4 fw log nowhere --repo kernels
is "says both" "$out" "flopwatch: nowhere is neither the number of a job nor a branch of repository kernels; flopwatch jobs lists the jobs"

# ---- writing ----
ok "pause" fw pause sim-0
ok "submit" fw submit slow
like "says the job" "$out" '^J[0-9]+ queued$'
waiting=$(sed -nE 's/^J([0-9]+) queued$/\1/p' <<<"$out")
fails "wait with a deadline" 6 fw wait "$waiting" --timeout 1 --quiet
like "reports that the job continues" "$out" 'has not ended after 1 s and continues'
ok "submit again" fw submit slow
second=$(sed -nE 's/^J([0-9]+) queued$/\1/p' <<<"$out")
fails "a branch with several open jobs" 2 fw cancel slow
like "is answered with their numbers" "$out" "^flopwatch: branch slow has 2 open jobs: (J$waiting|J$second)( \\(tiny\\))?, (J$waiting|J$second)( \\(tiny\\))?; name one of them$"
ok "cancel" fw cancel "J$waiting"
is "prints nothing" "$out" ""
ok "cancel the only open job of a branch" fw cancel slow
is "which is printed" "$out" "J$second is cancelled"
fails "a branch without an open job" 4 fw cancel slow
like "has a newest one" "$out" '^flopwatch: branch slow has no open job; its newest, J[0-9]+, has ended$'
fails "cancel it again" 1 fw cancel "$waiting"
like "and prints that" "$out" 'has ended already'
fails "wait for a cancelled job" 1 fw wait "$waiting"
like "says who did it" "$out" "J$waiting is cancelled: cancelled by local"
fails "cancel none" 4 fw cancel 999
ok "submit --json" fw submit slow --json
waiting=$(jq -r .id <<<"$out")
ok "resume" fw resume sim-0
run fw wait "$waiting" --quiet --timeout 100
is "now it runs" "$status" 3
ok "retry" fw retry "$waiting"
like "says the new job" "$out" '^next: flopwatch wait J[0-9]+$'
run fw wait "$(sed -nE 's/^(J[0-9]+) queued$/\1/p' <<<"$out")" --quiet --timeout 100
is "and runs again" "$status" 3
fails "pause of none" 4 fw pause sim-9
ok "alerts" fw alerts --state open
like "begins with the worst" "$(head -n 1 <<<"$out")" '^(A[0-9]+ +)?slow is (up to )?[45]\.[0-9] % slower in 4 cells(, and [0-9]+ more open alerts?)?(: .*)?$'
is "which comes next" "$(tail -n 1 <<<"$out")" "next: flopwatch why A$(fw alerts --json | jq "[.items[] | select(.target == \"$slow\")][0].id")"
like "shows the slow branch" "$out" '^A[0-9]+ +slow is (up to )?[45]\.[0-9] % slower in 4 cells'
like "and how to answer" "$out" "kernels  culprit ${slow:0:10} .*open ([0-9]+ (s|min) ago|now)  answer: flopwatch alerts accept A[0-9]+ --reason"
ok "alerts --long" fw alerts --state open --long
like "is a table" "$out" "A[0-9]+ +regression +open +kernels +slow +${slow:0:10}"
alert=$(fw alerts --json | jq ".items[] | select(.target == \"$slow\") | .id")
fails "accept wants a reason" 2 fw alerts accept "$alert"
ok "acknowledge does not" fw alerts acknowledge "$alert"
ok "accept with a reason" fw alerts accept "A$alert" --reason "known: \"wider\" tiles"
like "an answered list has no open one" "$(fw alerts --state accepted | head -n 1)" '^no open alert; [0-9]+ (is|are) answered$'
ok "alerts --state accepted --json" fw alerts --state accepted --json
ok "hold who and why" json '.items[0].events | length == 3 and .[2].who == "local" and .[2].reason == "known: \"wider\" tiles"'
fails "a step that is none" 2 fw alerts forget "$alert"
fails "an alert that is none" 4 fw alerts resolve 999

# an accepted regression counts as none for `wait`, except with --strict
run fw wait slow --quiet --timeout 100
is "wait for what was accepted" "$status" 0
like "names the acceptance and its reason" "$out" "^A$alert was accepted by local: known: \"wider\" tiles"
run fw wait slow --quiet --timeout 100 --strict
is "wait --strict for it" "$status" 3

# ---- a daemon that restarts during a wait ----
fw pause sim-0
waiting=$(fw submit slow --json | jq -r .id)
fw wait "$waiting" --strict --quiet --timeout 100 >"$tmp/waited" 2>&1 &
waiter=$!
sleep 0.5
stop_daemon KILL
port=$(cat "$tmp/state/port") # the daemon does not write a configured port there, but this script reads it there
sed -i "s/127.0.0.1:0/127.0.0.1:$port/" "$tmp/c.yml"
{ sleep 0.2; echo "$port" >"$tmp/state/port"; } &
start_daemon
fw resume sim-0
wait "$waiter"
is "wait continues over a restart" "$?" 3
like "to the verdict" "$(head -n 1 "$tmp/waited")" '^[^ ]+ is (up to )?[45]\.[0-9] % slower in 4 of 4 cells$'

# ---- on a terminal ----
on_terminal() { # columns, command...: its output on a terminal
	python3 "$root/tests/support/on_terminal.py" "$@"
}
fwt() { on_terminal "$1" "$bin/flopwatch" --server "http://127.0.0.1:$(port)" "${@:2}"; }
widest() { sed 's/\x1b\[[0-9;]*[mKJH]//g' <<<"$1" | tr -d '\r' | wc -L; }
for columns in 120 80 60 40; do
	for what in jobs "alerts --long" status devices "history $cell" "wait slow --long"; do
		# shellcheck disable=SC2086 # split into arguments on purpose
		seen=$(TERM=xterm fwt $columns $what --quiet | grep -v -e '^WARNING' -e ' runs, device held' -e '^[AC][0-9]' -e '^next: ' -e ' branches: ' -e ' points: ' -e '^why: ' -e '^flopwatch reproduce ' -e ' is .* slower ') # sentences, which a terminal breaks
		ok "$what fits $columns columns" test "$(widest "$seen")" -gt 10 -a "$(widest "$seen")" -le $columns
	done
done
like "a wide terminal shows intervals" "$(fwt 160 wait slow --quiet --long)" '95 % interval'
unlike "a narrow one leaves them out" "$(fwt 50 wait slow --quiet --long)" '95 % interval'
like "but never the verdict" "$(NO_COLOR=1 fwt 50 wait slow --quiet --long)" '% +regression'
esc=$(printf '\033')
like "verdicts are coloured" "$(TERM=xterm fwt 120 status)" "$esc\[31mregression \(accepted\)$esc\[0m"
unlike "not with NO_COLOR" "$(TERM=xterm NO_COLOR=1 fwt 120 status)" "$esc\[3"
unlike "not on a dumb terminal" "$(TERM=dumb fwt 120 status)" "$esc\[3"
unlike "not with --color never" "$(TERM=xterm fwt 120 status --color never)" "$esc\[3"
unlike "and not in a pipe" "$(TERM=xterm fw status)" "$esc"
like "where --color always gives them" "$(fw status --color always)" "$esc\[31mregression"
fails "--color sometimes" 2 fw status --color sometimes
fw pause sim-0
waiting=$(fw submit slow --json | jq -r .id)
out=$(on_terminal 100 --interrupts 2 "J$waiting" "$bin/flopwatch" --server "http://127.0.0.1:$(port)" wait "$waiting")
is "the second Ctrl-C ends it with 130" "$(tail -n 1 <<<"$out")" "exit 130"
like "the first says what happens" "$out" "J$waiting continues in the daemon; Ctrl-C again stops waiting, flopwatch cancel J$waiting ends the job"
ok "the job continues" job_is "$waiting" queued

# ---- watch ----
"$bin/flopwatch" --server "http://127.0.0.1:$(port)" watch --timeout 60 >"$tmp/watched" 2>&1 &
watcher=$!
on_terminal 100 --interrupts 1 "1 open job" "$bin/flopwatch" --server "http://127.0.0.1:$(port)" watch >"$tmp/watched.terminal" 2>&1
fw resume sim-0
fw wait "$waiting" --strict --timeout 60 >"$tmp/waited" 2>"$tmp/steps"
is "wait in a pipe ends with the verdict" $? 3
seen_done() { grep -q "job.done J$waiting" "$tmp/watched"; }
ok "watch in a pipe has a line an event" await seen_done
like "with the step" "$(cat "$tmp/watched")" "^[0-9:]{8} job.state J$waiting ${slow:0:10} kernels (slow )?measuring"
kill -INT "$watcher"
wait "$watcher"
like "watch on a terminal draws the queue" "$(cat "$tmp/watched.terminal")" '1 open job, [0-9]+ open alert'
is "and ends with Ctrl-C" "$(tail -n 1 "$tmp/watched.terminal")" "exit 0"

# ---- open, doctor, help ----
server=http://127.0.0.1:$(port)
is "open" "$(fw open)" "$server/"
is "open comparison" "$(fw open comparison 1)" "$server/comparisons/1"
is "open job" "$(fw open job "$waiting")" "$server/jobs/$waiting"
is "open alert" "$(fw open alert 1)" "$server/alerts/1"
is "open by a letter and a number" "$(fw open A1) $(fw open c1) $(fw open "J$waiting")" "$server/alerts/1 $server/comparisons/1 $server/jobs/$waiting"
is "open of a commit" "$(fw open "${slow:0:12}")" "$server/commits/${slow:0:12}"
is "open cell" "$(fw open cell 'a/b c' --branch slow)" "$server/history?cell=a%2Fb%20c&branch=slow"
fails "open of what is not there" 4 fw open comparison 4711
fails "open of another kind" 2 fw open window 3
ok "doctor" fw doctor
like "sees the daemon" "$out" "^ok    daemon      $server answers"
like "and its repositories" "$out" '^ok    repository  kernels is read'
like "and its workers" "$out" '^ok    worker      sim is (free|busy)'
like "and names the remedy for what is missing" "$out" '^ +-> '
ok "doctor --json" fw doctor --json
ok "is JSON" json '.ok and (.checks | length) > 4 and all(.checks[]; .health == "ok" or .advice)'
fails "doctor without a daemon" 1 "$bin/flopwatch" --server http://127.0.0.1:1 doctor
like "says how to start it" "$out" 'systemctl start flopwatchd'
for verb in $(fw completion verbs); do
	ok "$verb --help" fw "$verb" --help
	like "$verb begins with an example" "$(sed -n 3p <<<"$out")" "^  .*flopwatch $verb"
done
is "help VERB is VERB --help" "$(fw help wait)" "$(fw wait --help)"
fails "help of none" 2 fw help wiat
is "a paragraph of a help begins a line, and no line of it is longer than others" \
	"$(fw help compare | grep -c '^Two providers (') $(fw help compare | sed -n '/^BASE and/,/^$/p' | awk 'length > 100')" "1 "
like "the help of all begins with the first commands" "$(fw help | head -n 5)" '^  flopwatch init .*'
like "an empty list names what would fill it" "$(fw notifications)" '^no notification; receivers are listed under webhooks'

# ---- completions ----
completes() { # bash's completions of the last argument
	bash -c 'source <("$0" completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _flopwatch; echo "${COMPREPLY[*]}"' "$bin/flopwatch" flopwatch "$@"
}
is "a verb" "$(completes wa)" "wait watch"
is "after an option with a value" "$(completes --server http://x ca)" "cancel calibrate"
like "options of a verb" "$(completes wait --)" '--repo --timeout .*--long --json --progress'
unlike "and not those of others" "$(completes wait --)" '--scope'
is "words of an option" "$(completes jobs --state m)" "measuring"
is "words of a verb" "$(completes alerts ac)" "acknowledge accept"
is "files" "$(cd "$root/etc/suites" && completes import ffa-s)" "ffa-smoke.yaml"
is "verbs of help" "$(completes help doc)" "doctor"
for shell in zsh fish; do
	ok "completion $shell" fw completion $shell
	for verb in $(fw completion verbs); do [[ $out == *"$verb"* ]] || tap_result 1 "$shell knows $verb"; done
done
if command -v zsh >/dev/null; then
	mkdir "$tmp/zsh"
	fw completion zsh >"$tmp/zsh/_flopwatch"
	. "$root/tests/support/completes.sh"
	cd "$root/etc/suites" || exit 1
	zsh_completes "$tmp/zsh" <<'CASES'
a verb|cali|calibrate
after an option with a value|--server http://x calib|--server http://x calibrate
an option of a verb|wait --time|wait --timeout
and not those of others|wait --scop|wait --scop
words of an option|jobs --state meas|jobs --state measuring
words of a verb|alerts ackn|alerts acknowledge
files|import ffa-s|import ffa-smoke.yaml
verbs of help|help doct|help doctor
CASES
	cd "$tmp" || exit 1
else
	skip "zsh completes" "zsh is not installed"
fi
if command -v fish >/dev/null; then
	fw completion fish >"$tmp/flopwatch.fish"
	fish_offers() { # fish's completions of the last argument, without descriptions
		(cd "$root/etc/suites" && HOME=$tmp timeout 60 fish --no-config -c "source '$tmp/flopwatch.fish'; complete -C \$argv[1]" "flopwatch $*" | cut -f1 | paste -sd' ')
	}
	is "fish: verbs" "$(fish_offers wa)" "wait watch"
	is "fish: after an option with a value" "$(fish_offers --server http://x ca)" "calibrate cancel"
	is "fish: an option of a verb" "$(fish_offers wait --time)" "--timeout"
	is "fish: and not those of others" "$(fish_offers wait --scop)" ""
	is "fish: words of an option, and no files" "$(fish_offers notifications --state '')" "$(fw completion fish | sed -n "s/.*contains notifications .* -l state .* -a '\(.*\)'/\1/p" | tr ' ' '\n' | sort | paste -sd' ')"
	is "fish: words of a verb" "$(fish_offers alerts ac)" "accept acknowledge"
	is "fish: files" "$(fish_offers import ffa-s)" "ffa-smoke.yaml"
	is "fish: verbs of help" "$(fish_offers help doct)" "doctor"
else
	skip "fish completes" "fish is not installed"
fi
fails "completion of another shell" 2 fw completion tcsh

# ---- the hook for git ----
install -m 755 "$root/etc/pre-push" "$tmp/kernels/.git/hooks/pre-push"
try_push() { FLOPWATCH="$bin/flopwatch" FLOPWATCH_SERVER=$server git -C "$tmp/kernels" push -q "$tmp/kernels.git" "$1"; }
ok "a push without a loss goes through" try_push main
ok "so does one whose loss was accepted" try_push slow
ok "and it is there" git -C "$tmp/kernels.git" rev-parse --verify -q refs/heads/slow
branch kernels slower main
echo 1.09 >"$tmp/kernels/kernels/factor"
commit kernels "slower still"
fails "one whose loss was not is stopped" 1 try_push slower
like "and prints the next step" "$out" 'git push --no-verify'
ok "and it is not there" test -z "$(git -C "$tmp/kernels.git" branch --list slower)"

# ---- backup ----
ok "backup" fw backup "$tmp/copy.db"
is "it is sound" "$(sqlite3 "$tmp/copy.db" 'PRAGMA integrity_check')" ok
is "and holds what the daemon has" "$(sqlite3 "$tmp/copy.db" 'SELECT count(*) FROM comparison')" "$(sql 'SELECT count(*) FROM comparison')"
is "for its owner alone" "$(stat -c %a "$tmp/copy.db")" 600
nothing_left() { [ -z "$(find "$tmp" -name '*.part' -o -name 'backup*')" ]; }
ok "and nothing is left behind" await nothing_left
fails "backup into a folder that is not there" 1 fw backup "$tmp/none/copy.db"
like "reports that" "$out" "cannot write $tmp/none/copy.db.part: No such file"
