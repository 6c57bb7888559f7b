#!/bin/bash
# Rows of only one side, or of neither: a kernel without a backward, one that gains or loses it, and programs whose rows appear, disappear and
# change their names. None of them makes a verdict worse.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

fw() {
	"$bin/flopwatch" --server "http://127.0.0.1:$(port)" "$@"
}
words() { # commit: the verdicts of its cells, with their counts
	api "comparisons/$(sql "SELECT max(id) FROM comparison WHERE target_sha = '$1'")" |
		jq -r '[.cells[].verdict] | group_by(.) | map("\(.[0]) \(length)") | join(", ")'
}
judged() { # repo, branch: verdicts of the push
	echo "$(result_of "$(head_of "$1")"): $(words "$(head_of "$1")")"
}
nothing_is_open() {
	[ "$(sql "SELECT count(*) FROM job WHERE state IN ('queued','assigned','building','checking','measuring')")" = 0 ]
}
points() { # of the history, by direction
	sql "SELECT group_concat(d || ' ' || n, ', ') FROM (SELECT iif(key LIKE '%forward', 'forward', 'backward') AS d, count(*) AS n FROM ratio WHERE target_sha = '$1' GROUP BY 1 ORDER BY 1 DESC)"
}
factor() { # speed and subject of a commit on the branch that is checked out
	echo "$1" >"$tmp/kernels/kernels/factor"
	commit kernels "$2"
}
forward_only="'-DCANNOT=(problem->direction==FW_BACKWARD)'"
pushed() { # branch
	push kernels "$1"
	judged kernels
}

new_repo kernels
echo "$forward_only" >"$tmp/kernels/kernels/flags"
git -C "$tmp/kernels" add -A
git -C "$tmp/kernels" commit -q --amend -m "forward only"
git init -q --bare -b main "$tmp/lines.git"
git init -q -b main "$tmp/lines"
git -C "$tmp/lines" remote add origin "$tmp/lines.git"
printf 'flopwatch: 1\nbenchmarks: {rows: {command: [sh, bench.sh], reader: flopwatch, budget_s: 30}}\n' >"$tmp/lines/.flopwatch.yaml"
git init -q --bare -b main "$tmp/made.git"
git init -q -b main "$tmp/made"
git -C "$tmp/made" remote add origin "$tmp/made.git"
# the program is the source without its comments
printf 'flopwatch: 1\nbuild: {command: [sh, build.sh]}\nbenchmarks: {made: {artifacts: [bench], command: [sh, bench], reader: flopwatch, budget_s: 30}}\n' \
	>"$tmp/made/.flopwatch.yaml"
echo "grep -v '^#' bench.sh >bench" >"$tmp/made/build.sh"
write_config "sandbox: none" "workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]" \
	"repos: [{name: kernels, url: $tmp/kernels.git}, {name: lines, url: $tmp/lines.git}, {name: made, url: $tmp/made.git}]"
start_daemon || exit 1

# ---- kernels: cells of neither side ----
is "a kernel without a backward passes by its forward" "$(pushed main)" "done unchanged: unchanged 2, unsupported 2"
ok "also for who waits" fw wait main
like "who reads why" "$(fw wait main)" '^not compared: 2 supported by neither side$'
is "with what each side says, once for all cells" "$(fw wait main | grep -c ': neither side supports it: naive: not this direction$')" 1
is "the rows say it" "$(sql "SELECT DISTINCT reason, failure FROM cell WHERE verdict = 'unsupported'")" "neither side supports it: naive: not this direction|"
factor 1.0002 "the same"
is "and against another commit" "$(pushed main)" "done unchanged: unchanged 2, unsupported 2"
is "which was its base" "$(job_field "$(job_of "$(head_of kernels)")" base)" "$(git -C "$tmp/kernels" rev-parse HEAD^)"
factor 1.0001 "again"
is "a third one runs against the reference commit" "$(pushed main)" "done unchanged: unchanged 2, unsupported 2"
is "and has its place in the history" "$(points "$(head_of kernels)")" "forward 2"
page=$(curl -s "http://127.0.0.1:$(port)/comparisons/$(sql "SELECT max(id) FROM comparison")")
like "the page counts what was compared" "$page" 'None of 2 cells is slower by more than its threshold; not compared: 2 supported by neither side\.'
review=$(api "comparisons/$(sql "SELECT max(id) FROM comparison").md")
like "the review comment has the word" "$review" 'unsupported: neither side supports it'
is "it lists what has a finding, and nothing else" "$(grep -c '^| `.* | unsupported' <<<"$review") $(grep -c '/forward`' <<<"$review")" "2 0"
like "and says how many have none" "$review" '^2 unchanged or identical\. $'
like "and the CSV" "$(api "comparisons/$(sql "SELECT max(id) FROM comparison").csv")" 'backward,unsupported,'
branch kernels slow main
factor 1.2 "slower"
is "a loss is a loss" "$(pushed slow)" "done regression: regression 2, unsupported 2"
fails "without cells to compare the command fails" 7 fw compare main slow --repo kernels --cells '*backward'
like "and is informed of it" "$out" 'nothing to compare: its cells are unsupported'

# ---- kernels: cells of one side ----
branch kernels full main
: >"$tmp/kernels/kernels/flags"
factor 1.0003 "a backward"
is "what the target alone does is added" "$(pushed full)" "done unchanged: added 2, unchanged 2"
ok "and nothing to fear" fw wait full
factor 1.0002 "a backward for main"
is "also on main" "$(pushed main)" "done unchanged: added 2, unchanged 2"
factor 1.0004 "after it"
is "the next one is compared in full" "$(pushed main)" "done unchanged: unchanged 4"
is "the forward remains compared with its reference commit, which has no backward" "$(points "$(head_of kernels)")" "forward 2"
await nothing_is_open
is "until here main has no alert" "$(sql "SELECT count(*) FROM alert WHERE branch = 'main'")" 0
branch kernels lost full
echo "$forward_only" >"$tmp/kernels/kernels/flags"
factor 1.0005 "no backward any more"
is "what the target does no more is a loss of function" "$(pushed lost)" "done failed: failed 2, unchanged 2"
is "with its class" "$(sql "SELECT DISTINCT failure FROM cell WHERE verdict = 'failed'")" unsupported
factor 1.0003 "no backward on main"
is "also on main, where an alert is opened" "$(pushed main) $(sql "SELECT kind || ' ' || state FROM alert WHERE branch = 'main'")" \
	"done failed: failed 2, unchanged 2 failing open"
like "whose list of branches says what the alert is about" "$(fw status)" ' main +failed .*  A[0-9]+ open: cells fail '
factor 1.0004 "after the loss"
is "and the next commit is compared with what still did it" "$(pushed main)" "done failed: failed 2, unchanged 2"
ok "a person accepts it" fw alerts accept "$(sql "SELECT id FROM alert WHERE branch = 'main'")" --reason "the backward is gone for good"
factor 1.0006 "after that"
is "then the base is without it, too" "$(pushed main)" "done unchanged: unchanged 2, unsupported 2"

# ---- programs ----
rows() { # subject, rows: a commit whose program writes them
	local row subject=$1
	shift
	for row in "$@"; do
		printf 'echo "{\\"cell\\":\\"%s\\",\\"ms\\":[1.0,1.0,1.0]}"\n' "$row"
	done >"$tmp/lines/bench.sh"
	commit lines "$subject"
}
missing_alert() {
	sql "SELECT group_concat(kind || ' ' || state || ' ' || title, '; ') FROM (SELECT * FROM alert WHERE repo = (SELECT id FROM repo WHERE name = 'lines') ORDER BY id)"
}
rows first a b
push lines main
is "a program of two rows" "$(judged lines)" "done unchanged: unchanged 2"
branch lines renamed main
rows "another name" a c
push lines renamed
is "a row of another name is one removed and one added" "$(judged lines)" "done unchanged: added 1, removed 1, unchanged 1"
ok "which is no reason to stop" fw wait renamed
like "and is reported" "$(fw wait renamed)" '^not compared: 1 removed, 1 added$'
is "with its reason" "$(sql "SELECT key || ': ' || reason FROM cell WHERE key IN ('b', 'c') AND verdict <> 'unchanged' ORDER BY key")" \
	"$(printf '%s\n' 'b: target: the benchmark wrote no such row' 'c: base: the benchmark wrote no such row')"
branch lines others main
rows "other names" x y
push lines others
is "where all rows are others nothing was compared" "$(judged lines)" "done removed: added 2, removed 2"
fails "which resolves no alert" 7 fw wait others
like "and the page reports that" "$(curl -s "http://127.0.0.1:$(port)/comparisons/$(sql "SELECT max(id) FROM comparison")")" \
	'No cell is supported by both sides; not compared: 2 removed, 2 added\.'
is "no alert on a branch" "$(missing_alert)" ""

git -C "$tmp/lines" checkout -q main
rows "b goes" a
push lines main
is "main loses a row" "$(judged lines)" "done unchanged: removed 1, unchanged 1"
is "which is reported with the commit" "$(missing_alert) $(sql "SELECT target_sha FROM alert ORDER BY id DESC LIMIT 1")" \
	"missing open 1 cell is removed from benchmark rows $(head_of lines)"
why=$(fw why "A$(sql "SELECT max(id) FROM alert")")
like "why gives the cause of a missing cell" "$why" 'why: commit [0-9a-f]{12} no longer measures these cells'
like "and what accepting it accepts" "$why" '^next: restore the cells, or accept that they were removed: flopwatch alerts accept A'
echo '# the same rows' >>"$tmp/lines/bench.sh"
commit lines "as before"
push lines main
is "the next commit has what is left" "$(judged lines)" "done unchanged: unchanged 1"
is "it neither reports it again nor ends it" "$(missing_alert)" "missing open 1 cell is removed from benchmark rows"
rows "b is back" a b
push lines main
is "a row that comes back is added" "$(judged lines)" "done unchanged: added 1, unchanged 1"
is "and ends it" "$(missing_alert)" "missing resolved 1 cell is removed from benchmark rows"

# ---- a program whose comments change ----
made() { # subject, lines of the program
	local subject=$1
	shift
	printf '%s\n' "$@" >"$tmp/made/bench.sh"
	commit made "$subject"
	push made main
	judged made
}
row_a='echo "{\"cell\":\"a\",\"ms\":[1.0,1.0,1.0]}"'
row_b='echo "{\"cell\":\"b\",\"ms\":[1.0,1.0,1.0]}"'
gone_of_made() {
	sql "SELECT group_concat(state || ' ' || title, '; ') FROM (SELECT * FROM alert WHERE kind = 'missing' AND repo = (SELECT id FROM repo WHERE name = 'made') ORDER BY id)"
}
is "a program is measured" "$(made first "$row_a" "$row_b")" "done unchanged: unchanged 2"
is "a comment is identical" "$(made comment "# one" "$row_a" "$row_b")" "done identical: identical 1"
is "another one, too" "$(made comments "# two" "$row_a" "$row_b")" "done identical: identical 1"
is "no row is removed" "$(gone_of_made)" ""
page=$(http GET /)
like "the overview shows the rows" "$page" 'history\?cell=b&amp;repo=made'
unlike "and not their placeholders" "$page" 'history\?cell=made&amp;repo=made'
is "a real change is measured" "$(made real "$row_a" ":" "$row_b")" "done unchanged: unchanged 2"
is "still no row is removed" "$(gone_of_made)" ""
is "a run fails" "$(made broken "$row_a" "exit 3")" "done failed: failed 2"
is "a row is removed" "$(made less "$row_a")" "done unchanged: removed 1, unchanged 1"
is "and reported once" "$(gone_of_made)" "open 1 cell is removed from benchmark made"
is "the failure is resolved" "$(sql "SELECT state FROM alert WHERE kind = 'failing' AND repo = (SELECT id FROM repo WHERE name = 'made')")" resolved
is "a comment after it" "$(made "comment after" "# three" "$row_a")" "done identical: identical 1"
is "neither reports it again nor ends it" "$(gone_of_made)" "open 1 cell is removed from benchmark made"
is "the row comes back" "$(made back "$row_a" "$row_b")" "done unchanged: added 1, unchanged 1"
is "which ends it" "$(gone_of_made)" "resolved 1 cell is removed from benchmark made"
stop_daemon
