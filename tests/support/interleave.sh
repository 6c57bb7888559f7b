# interleave.sh - interleaved programs, for shell tests. Source it after tap.sh and daemon.sh.
#
#   interleave_repo NAME [YAML]      a repository with benchmark `one`: prog.c, built with the kit; YAML is added to the benchmark
#   program NAME TEXT           prog.c becomes TEXT, which follows the kit, a function `work(units)`, and a call `take(units)`
#                               that lasts at least 0.2 us per unit and reports exactly that, so that the load of this machine has
#                               no effect on the comparison
#   on_main NAME                commit, push to main: state and verdict
#   on_branch NAME TEXT         the same for a program on a new branch, which begins at main
#   cells                       of the newest comparison: key, verdict and class, one per line
#   why KEY                     the reason why that cell is undecided or failed
interleave_repo() {
	local dir=$tmp/$1
	git init -q --bare -b main "$dir.git"
	git init -q -b main "$dir"
	git -C "$dir" remote add origin "$dir.git"
	cat >"$dir/.flopwatch.yaml" <<YAML
flopwatch: 1
build: {dir: ., command: [sh, -c, "gcc -O1 -I\$FLOPWATCH_KIT -o prog prog.c -lm -lpthread"], timeout_s: 60}
benchmarks:
  one: {command: [./prog], reader: flopwatch, budget_s: 120, timeout_s: 5, gpu: false${2:+, $2}}
YAML
}
program() {
	cat >"$tmp/$1/prog.c" <<'C'
#include "flopwatch.h"
#include <pthread.h>
#include <signal.h>
static volatile double sink;
static inline void work(int units)
{
	double x = 1;
	for (long i = 0; i < units * 100L; i++)
		x = x * 1.0000001 + 1e-9;
	sink = x;
}
static inline double spend(double ms)
{
	static unsigned wild = 1;
	int64_t begin = flopwatch_ns();

	while ((double)(flopwatch_ns() - begin) < ms * 1.002e6)
		;
	wild = wild * 1664525u + 1013904223u;
	return ms * (1 + (wild >> 8) * 0x1p-24 * 2e-3);
}
#define take(units) (flopwatch_cell.reported_ms[flopwatch_cell.issued % FLOPWATCH_SLOTS] = spend((units) * 2e-4))
C
	printf '%s\n' "$2" >>"$tmp/$1/prog.c"
}
in_the_end() { # commit: as result_of, with a longer limit for a busy machine
	patience=400 await job_ended "$1"
	result_of "$1"
}
on_main() {
	commit "$1" "${2:-change}"
	push "$1" main
	in_the_end "$(head_of "$1")"
}
tries=0
on_branch() {
	tries=$((tries + 1))
	branch "$1" "try-$tries" main
	program "$1" "$2"
	commit "$1" "try $tries"
	push "$1" "try-$tries"
	in_the_end "$(head_of "$1")"
	git -C "$tmp/$1" checkout -q main
}
newest="(SELECT max(id) FROM comparison)"
cells() {
	sql "SELECT key || ' ' || verdict || ' ' || failure FROM cell WHERE comparison = $newest ORDER BY n"
}
why() {
	sql "SELECT reason FROM cell WHERE comparison = $newest AND key = '$1'"
}
