#!/bin/bash
# The history of benchmark programs: main's commits run interleaved with base and reference commit, and a step too small for one comparison is found
# among them. A reference commit that no longer runs blocks no comparison.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

takes() { # ms, subject: a commit on main, pushed and judged
	printf 'echo "{\\"cell\\":\\"sum\\",\\"ms\\":[%s,%s,%s]}"\n' "$1" "$1" "$1" >"$tmp/lines/bench.sh"
	[ "$2" != first ] || echo "[ ! -e $tmp/broken ] || exit 3" >>"$tmp/lines/bench.sh"
	echo "# $2" >>"$tmp/lines/bench.sh"
	commit lines "$2"
	push lines main
	result_of "$(head_of lines)"
}
nothing_is_open() {
	[ "$(sql "SELECT count(*) FROM job WHERE state IN ('queued','assigned','building','checking','measuring')")" = 0 ]
}

git init -q --bare -b main "$tmp/lines.git"
git init -q -b main "$tmp/lines"
git -C "$tmp/lines" remote add origin "$tmp/lines.git"
printf 'flopwatch: 1\nbenchmarks: {one: {command: [sh, bench.sh], reader: flopwatch, budget_s: 30}}\n' >"$tmp/lines/.flopwatch.yaml"
write_config "sandbox: none" "workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]" \
	"repos: [{name: lines, url: $tmp/lines.git}]"
start_daemon
is "the first commit is measured" "$(takes 1.000 first)" "done unchanged"
reference=$(head_of lines)
is "and pinned" "$(sql "SELECT reference_sha FROM baseline_period")" "$reference"
for i in 1 2 3 4 5 6 7 8; do
	takes 1.00$((i % 2)) "level $i"
done >"$tmp/verdicts"
before=$(head_of lines)
is "the others run against it and their base" \
	"$(sql "SELECT group_concat(side) FROM (SELECT DISTINCT k.side FROM sample s JOIN sample_kind k ON k.id = s.kind JOIN cell c ON c.id = s.cell WHERE c.target_sha = '$before' ORDER BY 1)")" \
	"base,reference,target"
is "in one order and its reverse" \
	"$(sql "SELECT count(*) FROM sample s JOIN sample_kind k ON k.id = s.kind JOIN cell c ON c.id = s.cell WHERE c.target_sha = '$before' AND k.side = 'target' AND s.call_order NOT IN ('ABCCBA', 'BCAACB', 'CABBAC')")" 0
takes 1.013 "1.2 % slower" >>"$tmp/verdicts"
step=$(head_of lines)
for i in 1 2 3 4 5; do
	takes 1.01$((2 + i % 2)) "after $i"
done >>"$tmp/verdicts"
await nothing_is_open
is "no commit lost its threshold" "$(sort -u "$tmp/verdicts")" "done unchanged"
is "each is a point of the history" \
	"$(api "history?repo=lines&branch=main&cell=sum" | jq '[.items[] | select(.reference_change_pct != null)] | length')" 15
is "by its ratio to the reference commit" \
	"$(api "history?repo=lines&branch=main&cell=sum" | jq '.items[0].reference_change_pct | . < -1.0 and . > -1.4')" true
is "the step among them is found and confirmed" \
	"$(sql "SELECT before_sha || ' ' || commit_sha || ' ' || state FROM change_point WHERE kind = 'step'")" "$before $step confirmed"
is "by two commits compared directly, with half of it as threshold" \
	"$(sql "SELECT count(*) > 0 AND min(c.threshold_pct) > 0.3 AND max(c.threshold_pct) < 0.9 FROM comparison k JOIN cell c ON c.comparison = k.id WHERE k.kind = 'verify'")" 1
like "and reported" "$(sql "SELECT title FROM alert")" "^[01]\.[0-9]+ % lost at ${step:0:12}, seen in the history$"

touch "$tmp/broken"
is "a reference commit that does not run any more costs no verdict" "$(takes 1.013 "the reference commit fails now")" "done unchanged"
is "only the place in the history" "$(sql "SELECT count(*) FROM ratio WHERE target_sha = '$(head_of lines)'")" 0
rm "$tmp/broken"
like "a loss is reported by the benchmark's name" "$(takes 1.2 "much slower" && sql "SELECT title FROM alert ORDER BY id DESC LIMIT 1")" \
	"one -1[0-9.]+ % in 1 cell$"
stop_daemon
is "the daemon ends in order" $? 0
