#!/bin/bash
# The reference commit of a history is interleaved with base and target; if it cannot be, these continue without it, with a note.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
. "$(dirname "$0")/../support/interleave.sh"

sides() { # of each cell of the newest comparison, those that have samples
	sql "SELECT key || ' ' || group_concat(side) FROM (SELECT DISTINCT c.key, c.n, k.side FROM sample s JOIN sample_kind k ON k.id = s.kind
		JOIN cell c ON c.id = s.cell WHERE c.comparison = $newest AND k.series = 'process' ORDER BY c.n, k.side) GROUP BY key ORDER BY key" | paste -sd';'
}
notes() {
	api "comparisons/$(sql "SELECT $newest")" | jq -r '.notes[]? | "\(.role // ""): \(.text)"'
}
# behaviour of the first commit alone, while $tmp/does requests it
first='static int does(const char *what) { char now[16] = ""; FILE *f = fopen("'$tmp'/does", "r"); if (f) { if (!fgets(now, 16, f)) now[0] = 0; fclose(f); } return strcmp(now, what) == 0; }
static int timed(void) { return flopwatch_now.is_open && flopwatch_now.fd >= 0 && !flopwatch_now.is_list; }
int main(void) {
	if (does("mute")) { puts("{\"cell\":\"a\",\"ms\":1}"); return 0; }
	if (does("broken")) { fprintf(stderr, "no such library\n"); return 3; }
	flopwatch_open();
	if (does("large") && timed()) { fprintf(stderr, "CUDA error: out of memory\n"); return 1; }
	FLOPWATCH("a", 1e6, 0) take(1000);
	FLOPWATCH("b", 1e6, 0) { take(1000); if (does("dies") && timed()) { fprintf(stderr, "row 7 is odd\n"); abort(); } }
	if (does("leaves") && timed()) { fprintf(stderr, "enough\n"); return 4; }
	FLOPWATCH("c", 1e6, 0) take(1000);
	return 0; }'
later='int main(void) { FLOPWATCH("a", 1e6, 0) take(1000); FLOPWATCH("b", 1e6, 0) take(1000); FLOPWATCH("c", 1e6, 0) take(1000); return 0; }'
beside() { # TOKEN: the reference commit does this, while another commit of main is measured with it
	echo "extern int another_commit;" >>"$tmp/one/prog.c"
	printf '%s' "$1" >"$tmp/does"
	on_main one "beside a reference commit that is $1"
}

: >"$tmp/does"
interleave_repo one
write_config "sandbox: none" "workers: [{name: cpu, command: [flopwatch-worker, serve], device: cpu}]" "repos: [{name: one, url: $tmp/one.git}]"
start_daemon
program one "$first"
is "the first commit is measured" "$(on_main one first)" "done unchanged"
is "and pinned" "$(sql "SELECT reference_sha FROM baseline_period")" "$(head_of one)"
program one "$later"
on_main one "the base of what follows" >"$tmp/verdict"
is "a commit is measured against its reference commit" "$(beside fine)" "done unchanged"
all="a base,reference,target;b base,reference,target;c base,reference,target" none="a base,target;b base,target;c base,target"
is "with three sides in turns" "$(sides)" "$all"
is "as any three sides are" "$(sql "SELECT min(length(call_order)) >= 24 FROM sample s JOIN cell c ON c.id = s.cell WHERE c.comparison = $newest AND call_order != ''")" 1
unlike "nothing is to be said" "$(notes)" 'is not measured'
is "the place in the history has its ratios" "$(sql "SELECT count(*) FROM ratio WHERE target_sha = '$(head_of one)'")" 3

is "a reference commit that dies in one cell" "$(beside dies)" "done unchanged"
is "is left out of that cell" "$(sides)" "a base,reference,target;b base,target;c base,reference,target"
like "and a note has that, with the end of its output" "$(notes)" 'the reference commit of the history is not measured in 1 of 3 cells: b: .*killed by SIGABRT; last output: "row 7 is odd"'
is "one that ends between cells" "$(beside leaves)" "done unchanged"
is "is left out of those that it did not come to" "$(sides)" "a base,reference,target;b base,reference,target;c base,target"
like "and a note has the reason" "$(notes)" '^reference: the reference commit [0-9a-f]{12} of the history is not measured, .*ended with exit 4; last output: "enough"'
is "one for which the device has no room" "$(beside large)" "done unchanged"
is "leaves base and target" "$(sides)" "$none"
like "and reports that" "$(notes)" '^reference: .*is not measured, .*out of memory'
like "and they take turns" "$(notes)" 'interleaved programs: '
is "one that takes no turns" "$(beside mute)" "done unchanged"
is "is no side" "$(sides)" "$none"
like "it is reported" "$(notes)" '^reference: .*is not measured, .*the benchmark is not interleaved at this commit, unlike at base and target'
is "one that does not run any more" "$(beside broken)" "done unchanged"
is "is none either" "$(sides)" "$none"
like "for what it said" "$(notes)" '^reference: .*is not measured, .*ended with exit 3; last output: "no such library"'
is "the next commit has its place again" "$(beside fine) $(sides)" "done unchanged $all"
