#!/bin/bash
# Interleaved programs: paired call by call, in any order of their cells; and programs that die, hang, report false times, send
# extra lines or none.
# Runs beside three others.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
. "$(dirname "$0")/../support/interleave.sh"

notes() {
	api "comparisons/$(sql "SELECT $newest")" | jq -r '.notes[]?.text'
}
interleave_repo one
write_config "sandbox: auto" "workers: [{name: cpu, command: [flopwatch-worker, serve], device: cpu}]" \
	"repos: [{name: one, url: $tmp/one.git}, {name: plain, url: $tmp/plain.git}]"
git init -q --bare -b main "$tmp/plain.git"
start_daemon
five='FLOPWATCH("a", 1e6, 0) take(A); FLOPWATCH("b", 1e6, 0) take(1000); FLOPWATCH("c", 1e6, 0) take(1000); FLOPWATCH("d", 1e6, 0) take(1000); FLOPWATCH("e", 1e6, 0) take(1000);'
program one "int main(void) { $(sed 's/(A)/(4000)/' <<<"$five") return 0; }"
is "a program is compared with itself" "$(on_main one first)" "done unchanged"
like "by turns" "$(notes)" 'interleaved programs: [0-9]+ turns, .* a turn cost [0-9.]+ ms'
is "a call for each that is there" "$(sql "SELECT DISTINCT count(*) >= 8 FROM sample s JOIN cell c ON c.id = s.cell WHERE c.comparison = $newest AND c.series = 'process' GROUP BY c.id")" 1
is "5 % more work is found" "$(on_branch one "int main(void) { $(sed 's/(A)/(4200)/' <<<"$five") return 0; }")" "done regression"
is "in that cell alone" "$(cells | tr '\n' ';')" "a regression ;b unchanged ;c unchanged ;d unchanged ;e unchanged ;"
is "as large as it is" "$(sql "SELECT change_pct BETWEEN -6.5 AND -3 FROM cell WHERE comparison = $newest AND key = 'a'")" 1

# ---- other orders, other cells
is "cells come in another order" "$(on_branch one 'int main(void) { FLOPWATCH("e", 1e6, 0) take(1000); FLOPWATCH("c", 1e6, 0) take(1000);
	FLOPWATCH("d", 1e6, 0) take(1000); FLOPWATCH("b", 1e6, 0) take(1000); FLOPWATCH("x", 1e6, 0) take(1000); return 0; }')" "done unchanged"
is "and some are others" "$(cells | tr '\n' ';')" "a removed ;b unchanged ;c unchanged ;d unchanged ;e unchanged ;x added ;"

# ---- in one cell
helpers='static const char *bad(void *a) { (void)a; return "worst element [3]: 1 for 2"; }
static int timed(void) { return flopwatch_now.is_open && !flopwatch_now.is_list; }
static void *spin(void *a) { for (;;) work(10); return a; }
#define DURATION(by) flopwatch_cell.reported_ms[flopwatch_cell.issued % FLOPWATCH_SLOTS] += (by)
#define CUT flopwatch_cell.switches = -1
'
is "what a program does to some of its cells" "$(on_branch one "$helpers"'int main(void) {
	FLOPWATCH("a", 1e6, 0) { take(4000); if (timed()) { fprintf(stderr, "row 7 is odd\n"); abort(); } }
	FLOPWATCH("b", 1e6, 0) { take(1000); if (timed()) raise(SIGSTOP); }
	flopwatch_check(bad, NULL);
	FLOPWATCH("c", 1e6, 0) take(1000);
	FLOPWATCH("d", 1e6, 0) take(1000);
	FLOPWATCH("e", 1e6, 0) take(1000);
	return 0; }')" "done failed"
is "costs those cells alone" "$(cells | tr '\n' ';')" "a failed crash;b failed timeout;c failed wrong;d unchanged ;e unchanged ;"
like "a crash is reported with the end of the output" "$(why a)" 'killed by SIGABRT; last output: "row 7 is odd"'
like "one that stops, too" "$(why b)" 'did not come back from a call within 5 s'
is "a wrong result with its worst element" "$(why c)" "worst element [3]: 1 for 2"
long='FLOPWATCH("a", 1e6, 0) take(4000); FLOPWATCH("b", 1e6, 0) take(20000); FLOPWATCH("c", 1e6, 0) take(20000); FLOPWATCH("d", 1e6, 0) take(20000); FLOPWATCH("e", 1e6, 0) take(1000);'
program one "int main(void) { $long return 0; }"
on_main one "longer calls" >"$tmp/verdict"
is "lies" "$(on_branch one "$helpers"'int main(void) { pthread_t t;
	FLOPWATCH("a", 1e6, 0) { take(4000); DURATION(20); }
	FLOPWATCH("b", 1e6, 0) { take(20000); DURATION(-2.4); }
	FLOPWATCH("c", 1e6, 0) { take(20000); DURATION(-2.4); CUT; }
	FLOPWATCH("e", 1e6, 0) take(1000);
	pthread_create(&t, NULL, spin, NULL);
	FLOPWATCH("d", 1e6, 0) take(20000);
	return 0; }')" "done rejected"
# a machine that preempts nearly every turn leaves too few for an accusation: then the gain is undecided, and never an improvement
like "are compared with the worker's clock" "$(cells | tr '\n' ';')" '^a rejected clock;b (rejected clock|undecided );c (rejected clock|undecided );d rejected escaped;e unchanged ;$'
like "a call longer than its turn" "$(why a)" 'reports a call of 2[0-9.]+ ms in a turn of [0-9.]+ ms; [0-9]+ turns are shorter than their calls'
like "a gain that is never reported" "$(why b)" "ms shorter; by the worker's clock"
like "nor one whose calls are all reported as interrupted" "$(why c)" "ms shorter; by the worker's clock"
like "work in the turn of the other" "$(why d)" 'computes while the other side has the turn'
like "for none of which one run is enough" "$(notes)" 'run 1 is discarded; a repetition shows whether the machine was the cause: reports a call of'

# ---- other processes of a program, in the turns of the other side
helpers="$helpers
#include <sys/wait.h>
#include <time.h>
static int n;
static void helper(void) { if (!fork()) spin(NULL); }
static double cpu_ms(void) { struct timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); return t.tv_sec * 1e3 + t.tv_nsec * 1e-6; }
static void short_helper(void) { if (!fork()) { usleep(1000); for (double begin = cpu_ms(); cpu_ms() - begin < 3;) work(10); _exit(0); } }
"
is "processes that a program starts late" "$(on_branch one "$helpers"'int main(void) {
	signal(SIGCHLD, SIG_IGN);
	FLOPWATCH("a", 1e6, 0) take(4000);
	FLOPWATCH("b", 1e6, 0) { take(20000); if (timed()) short_helper(); }
	FLOPWATCH("c", 1e6, 0) take(20000);
	FLOPWATCH("d", 1e6, 0) { take(20000); if (timed() && ++n == 8) helper(); }
	return 0; }')" "done rejected"
is "are counted, also if they end before its next turn" "$(cells | tr '\n' ';')" "a unchanged ;b rejected escaped;c unchanged ;d rejected escaped;e removed ;"
is "and processes behind many others" "$(on_branch one "$helpers"'int main(void) {
	FLOPWATCH("a", 1e6, 0) { take(4000); for (; timed() && n < 70; n++) if (!fork()) for (;;) pause(); }
	FLOPWATCH("c", 1e6, 0) take(20000);
	FLOPWATCH("d", 1e6, 0) { take(20000); if (timed() && n++ == 70) helper(); }
	return 0; }') $(cells | grep '^[cd]' | tr '\n' ';')" "done rejected c unchanged ;d rejected escaped;"
program one "int main(void) { $(sed 's/(A)/(4000)/' <<<"$five") return 0; }"
on_main one "as it was" >"$tmp/verdict"

# ---- a first call of another kind
is "who tunes in the first call of all" "$(on_branch one "$helpers"'int main(void) { int n = 0;
	FLOPWATCH("b", 1e6, 0) { take(1000); if (!n++) { usleep(2100000); DURATION(2100); } }
	return 0; }')" "done unchanged"
is "has as many pairs as others" "$(sql "SELECT samples > 8 * runs FROM cell WHERE comparison = $newest AND key = 'b'")" 1

# ---- in no cell
is "nonsense fails a program" "$(on_branch one 'int main(void) { FLOPWATCH("b", 1e6, 0) { take(1000); if (!flopwatch_now.is_list) flopwatch_send_line("hello\n"); } return 0; }') $(why b)" \
	'done failed the benchmark sends an unknown line: "hello"'
is "as does a call without a turn" "$(on_branch one 'int main(void) { FLOPWATCH("b", 1e6, 0) { take(1000); if (!flopwatch_now.is_list) flopwatch_send_line("done 1\ndone 1\n"); } return 0; }') $(why b)" \
	'done failed the benchmark made a call without a turn'
is "and silence" "$(on_branch one 'int main(void) { FLOPWATCH("b", 1e6, 0) take(1000); if (!flopwatch_now.is_list) pause(); FLOPWATCH("c", 1e6, 0) take(1000); return 0; }') $(why c)" \
	'done failed the benchmark did not ask for its next turn within 5 s'
is "nonsense from the start" "$(on_branch one 'int main(void) { if (write(3, "turn b\n", 7) < 0) return 1; pause(); return 0; }') $(why b)" \
	'done failed the benchmark sends a line before its hello'
is "a hello and no more" "$(on_branch one 'int main(void) { flopwatch_open(); pause(); return 0; }' && why b)" \
	"done failed
the benchmark did not end within 5 s (timeout_s): raise it, or select fewer rows in \`command\` (see doc/troubleshooting.md#benchmark-timeout)"
is "extra output fails no side" "$(on_branch one 'int main(void) { FLOPWATCH("b", 1e6, 0) { take(1000); for (int i = 0; i < 2000; i++) puts("nothing that anybody wants to know"); } return 0; }' >/dev/null; cells | tail -n +2 | head -n 1)" \
	"b unchanged "
is "the device may be too small for two" "$(on_branch one 'int main(void) {
	if (getenv("FLOPWATCH_INTERLEAVE")) { flopwatch_open(); if (!flopwatch_now.is_list) { fprintf(stderr, "CUDA error: out of memory\n"); return 1; } }
	FLOPWATCH("b", 1e6, 0) take(2000); return 0; }')" "done regression"
like "then one is timed after the other" "$(notes)" 'cannot be interleaved on this device, .*: target: .*out of memory'

# ---- programs that take no turns
git init -q -b main "$tmp/plain"
git -C "$tmp/plain" remote add origin "$tmp/plain.git"
printf 'flopwatch: 1\nbenchmarks: {one: {command: [sh, bench.sh], reader: flopwatch, gpu: false, budget_s: 60}}\n' >"$tmp/plain/.flopwatch.yaml"
cat >"$tmp/plain/bench.sh" <<'SH'
wild=$(od -An -N2 -tu2 /dev/urandom)
echo "{\"cell\":\"calm\",\"us\":[900,990,1000,1000,1001,1000,999,1000,1001,1000,1000,999]}"
echo "{\"cell\":\"wild\",\"us\":[$((1000 + wild % 300))]}"
SH
on_main plain first >"$tmp/verdict"
for another in 1 2 3; do # by chance its runs are far from the threshold for long
	echo "# $another" >>"$tmp/plain/bench.sh"
	wild=$(on_main plain "another $another"; cells)
	! notes | grep -q 'stopped after [4-9]' || break
done
like "a cell that varies too much is given up" "$wild" 'wild undecided'
like "after four runs or a few more, with the way out" "$(notes)" 'stopped after [4-9] runs, .* an interleaved program is paired call by call'
is "the others are not" "$(cells | grep calm)" "calm unchanged "
is "and what a process takes to settle is no part of its time" \
	"$(sql "SELECT base_median_ms BETWEEN 0.9999 AND 1.0001 FROM cell WHERE comparison = $newest AND key = 'calm'")" 1

# ---- only the base takes no turns
branch plain turns main
echo 'exec python3 bench.py' >"$tmp/plain/bench.sh"
printf '%s\n' "import flopwatch, time" "for key in 'calm', 'wild':" "    for call in flopwatch.cell(key):" "        with call: time.sleep(0.0011)" \
	>"$tmp/plain/bench.py"
commit plain "takes turns"
push plain turns
in_the_end "$(head_of plain)" >"$tmp/verdict"
git -C "$tmp/plain" checkout -q main
like "a base that takes no turns is named" "$(notes)" '^the base is not interleaved yet, so both sides are timed as whole processes; '
is "and no advice to interleave the program is printed" "$(notes | grep -c 'an interleaved program is paired'; why wild | grep -c 'interleave the program')" "0
0"

# ---- many cells
program one 'int main(void) { char key[32]; for (int i = 0; i < 100; i++) { snprintf(key, sizeof(key), "cell/%d", i); FLOPWATCH(key, 1e6, 0) take(i == 77 && SLOW ? 330 : 300); } return 0; }'
sed -i '1i #define SLOW 0' "$tmp/one/prog.c"
on_main one "100 cells" >"$tmp/verdict"
sed -i 's/#define SLOW 0/#define SLOW 1/' "$tmp/one/prog.c"
is "100 cells" "$(on_main one "one is slower")" "done regression"
is "of which one is slower" "$(cells | grep regression)" "cell/77 regression "

# ---- a daemon that restarts
measures() {
	[ "$(sql "SELECT count(*) FROM job WHERE state = 'measuring'")" = 1 ]
}
branch one again main
sed -i 's/ ? 330 : 300/ ? 331 : 301/' "$tmp/one/prog.c"
commit one "again"
push one again
await measures
stop_daemon KILL
start_daemon
is "a daemon that was killed in mid-turn measures again" "$(in_the_end "$(head_of one)")" "done unchanged"
is "and nothing of it is left" "$(pgrep -cf "$tmp/cache/.*prog" || true)" 0
