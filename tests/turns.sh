# turns.sh - programs that take turns, for shell tests. Source it after tap.sh and daemon.sh.
#
#   turns_repo NAME [YAML]      a repository whose benchmark `one` is prog.c, built with the kit; YAML is added to the benchmark
#   program NAME TEXT           prog.c becomes TEXT, which follows the includes of the kit and a function `work(units)`
#   judged NAME                 commit, push to main, and the word of the result
#   detail                      of the newest comparison: class and detail of its cells, one a line
kit=$root/daemon/kit

turns_repo() {
	local dir=$tmp/$1
	git init -q --bare -b main "$dir.git"
	git init -q -b main "$dir"
	git -C "$dir" remote add origin "$dir.git"
	cat >"$dir/.flopwatch.yaml" <<YAML
flopwatch: 1
build: {dir: ., command: [gcc, -O1, -I$kit, -o, prog, prog.c, -lm], timeout_s: 60}
benchmarks:
  one: {command: [./prog], reader: flopwatch, budget_s: 120, timeout_s: 20, gpu: false${2:+, $2}}
YAML
}
program() {
	cat >"$tmp/$1/prog.c" <<'C'
#include "flopwatch.h"
#include <pthread.h>
#include <signal.h>
static volatile double sink;
static void work(int units)
{
	double x = 1;
	for (long i = 0; i < units * 100L; i++)
		x = x * 1.0000001 + 1e-9;
	sink = x;
}
C
	printf '%s\n' "$2" >>"$tmp/$1/prog.c"
}
judged() {
	commit "$1" "${2:-change}"
	push "$1" main
	result_of "$(head_of "$1")"
}
