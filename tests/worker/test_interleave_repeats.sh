#!/bin/bash
# Programs that choose how often they repeat a call: their gains count if the worker's clock shows them in turns of single calls.
# Runs beside three others.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
. "$(dirname "$0")/../support/interleave.sh"

interleave_repo one
interleave_repo google
write_config "sandbox: auto" "workers: [{name: cpu, command: [flopwatch-worker, serve], device: cpu}]" \
	"repos: [{name: one, url: $tmp/one.git}, {name: google, url: $tmp/google.git}]"
start_daemon || exit 1

# SAYS(ms, n): reports a call of ms in the mean of n repeats
says='#define SAYS(ms, n) do { int slot = flopwatch_cell.issued % FLOPWATCH_SLOTS; flopwatch_cell.reported_ms[slot] = (ms); flopwatch_cell.repeats[slot] = (n); } while (0)
'
program one "$says int main(void) { FLOPWATCH(\"a\", 1e6, 0) { spend(4); SAYS(4, 1); } return 0; }"
is "a program that repeats is compared with itself" "$(on_main one first)" "done unchanged"
for repeats in 2 4; do
	like "a quarter of its time, said to be repeated $repeats times, is no improvement" \
		"$(on_branch one "$says int main(void) { FLOPWATCH(\"a\", 1e6, 0) { spend(4); SAYS(1, $repeats); } return 0; }")" \
		'^done (undecided|rejected)$'
	like "the reason is named" "$(why a)" "worker's clock"
done
like "nor where it repeats only what it was not asked for" \
	"$(on_branch one "$says int main(void) { FLOPWATCH(\"a\", 1e6, 0) { spend(4); SAYS(1, flopwatch_cell.is_single ? 1 : 4); } return 0; }")" \
	'^done (undecided|rejected)$'
is "an honest one is an improvement, whose turns become longer" \
	"$(on_branch one "$says int main(void) { FLOPWATCH(\"a\", 1e6, 0) { int n = flopwatch_cell.is_single ? 1 : 4; double ms = 0; for (int i = 0; i < n; i++) ms += spend(2) / n; SAYS(ms, n); } return 0; }")" \
	"done improvement"

# ---- Google Benchmark, which repeats short calls more often: 2.5 ms once, 1.5 ms twice after one that shows how long they are
if echo '#include <benchmark/benchmark.h>' | g++ -E -x c++ - >/dev/null 2>&1; then
	sed -i 's/gcc -O1\(.*\)prog.c/g++ -O1\1prog.cc -lbenchmark/' "$tmp/google/.flopwatch.yaml"
	program google ""
	sed -i 's/flopwatch.h/flopwatch_benchmark.h/; $d' "$tmp/google/prog.c"
	cat >>"$tmp/google/prog.c" <<'C'
static void spins(benchmark::State &state)
{
	for (auto _ : state)
		state.SetIterationTime(spend(MS) * 1e-3);
}
BENCHMARK(spins)->UseManualTime();
static void short_spins(benchmark::State &state)
{
	for (auto _ : state)
		state.SetIterationTime(spend(MS * 0.2) * 1e-3);
}
BENCHMARK(short_spins)->UseManualTime();
FLOPWATCH_MAIN()
C
	{ echo '#define MS 2.5' && cat "$tmp/google/prog.c"; } >"$tmp/google/prog.cc"
	rm "$tmp/google/prog.c"
	on_main google first >"$tmp/verdict"
	sed -i 's/MS 2.5/MS 1.5/' "$tmp/google/prog.cc"
	on_main google another >"$tmp/verdict"
	# 0.2 ms are less than the noise of a busy machine's turns, which is no accusation
	like "a gain of Google Benchmark's, whose turns become longer" "$(cells | tr '\n' ';')" \
		'^spins/manual_time improvement ;short_spins/manual_time (improvement|undecided) ;$' || why short_spins/manual_time
else
	skip "Google Benchmark" "it is not installed"
fi
