#!/bin/bash
# The kit: one header and one Python file, without a worker, on a simulated device, around unchanged scripts, and interleaved.
# Runs beside three others.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
. "$(dirname "$0")/../support/interleave.sh"
kit=$root/daemon/kit
examples=$root/tests/interleave
export PYTHONPATH=$kit PYTHONDONTWRITEBYTECODE=1
python=/usr/bin/python3

rows() { # of JSON lines on standard input: cells, with whether they have times
	jq -r '.cell + " " + (if .error then .error else (.ms | length >= 10 | tostring) end)' | paste -sd';'
}

# ---- standalone
for compiler in "gcc -std=c99 -pedantic" "gcc -std=gnu17" "g++ -x c++ -std=c++11" "g++ -x c++ -std=c++20"; do
	ok "$compiler takes the header" $compiler -O1 -Wall -Wextra -Wshadow -Werror -I"$kit" -o "$tmp/sums" "$examples/sums.c" -lm
done
printf '#include "flopwatch.h"\nvoid other(void);\nvoid other(void) { FLOPWATCH("other", 0, 0) { } }\n' >"$tmp/other.c"
ok "two files of one program" gcc -O1 -Wall -Wextra -Werror -DOTHER -I"$kit" -o "$tmp/both" "$examples/sums.c" "$tmp/other.c" -lm
is "a C program prints its rows" "$("$tmp/sums" 2>"$tmp/table" | rows)" "sum/20000 true;dot/20000 true"
like "and a table for users" "$(cat "$tmp/table")" '^sum/20000 +[0-9.]+ +[0-9.]+ \.\. +[0-9.]+ +[0-9]+ +[0-9.e-]+ +[0-9.]+ +[0-9.]+'
is "a wrong result is a row without times" "$(WRONG=1 "$tmp/sums" 2>/dev/null | rows)" \
	"sum/20000 worst element [0]: 20001 instead of 20000, 50 times what is allowed;dot/20000 true"
is "a Python program prints its rows" "$("$python" "$examples/sums.py" 2>"$tmp/table" | rows)" "sum/200000 true;hash/200000 true"
like "and a table, too" "$(cat "$tmp/table")" '^sum/200000 +[0-9.]+ '
like "and says what is wrong" "$(WRONG=1 "$python" "$examples/sums.py" 2>/dev/null | rows)" \
	'^sum/200000 worst element \[0\]: [0-9.e+]+ instead of [0-9.e+]+, 50 times what is allowed;hash/200000 true$'
long_names() { # ENDS: the names of cells whose texts differ only at their ends
	"$python" -c '
import sys, flopwatch
for end in sys.argv[1:]:
    for call in flopwatch.cell("k" * 200 + end):
        with call:
            sum(range(20000))' "$@" 2>/dev/null | jq -r .cell
}
is "a long name does not depend on the cells before it" "$(long_names b a | tail -n 1)" "$(long_names a)"

# ---- comparisons
cat >"$tmp/compare.c" <<'C'
#include "flopwatch.h"
static void tell(float got, float wanted, double relative, double absolute)
{
	float g[2] = { 1, got }, w[2] = { 1, wanted };
	const char *wrong = flopwatch_compare(g, w, 2, relative, absolute);

	puts(wrong ? wrong : "right");
}
int main(void)
{
	tell(0, 0, 1e-3, 0);
	tell(0, -0.0F, 0, 0);
	tell(INFINITY, INFINITY, 1e-3, 0);
	tell(INFINITY, -INFINITY, 1e-3, 0);
	tell(1e-9F, 0, 1e-3, 0);
	tell(NAN, NAN, 1e-3, 1);
	tell(1.5F, 1, 0, 1);
	return 0;
}
C
cat >"$tmp/compare.py" <<'PY'
import sys
import flopwatch
from math import inf, nan
if len(sys.argv) > 1:
    from torch import Tensor as many
else:
    many = list
for got, wanted, relative, absolute in (0, 0, 1e-3, 0), (0, -0.0, 0, 0), (inf, inf, 1e-3, 0), (inf, -inf, 1e-3, 0), (1e-9, 0, 1e-3, 0), (nan, nan, 1e-3, 1), (1.5, 1, 0, 1):
    print(flopwatch.compare(many([1, got]), many([1, wanted]), relative, absolute) or "right")
PY
compared="right;right;right;worst element [1]: inf instead of -inf, inf times what is allowed;worst element [1]: 1e-09 instead of 0, inf times what is allowed;worst element [1]: nan instead of nan, inf times what is allowed;right"
plainly() { # 1e-9 as a float
	sed 's/9\.99999972e-10/1e-09/' | paste -sd';'
}
gcc -O1 -Wall -Wextra -Werror -I"$kit" -o "$tmp/compare" "$tmp/compare.c" -lm
is "what is exact is right in C" "$("$tmp/compare" | plainly)" "$compared"
is "in Python" "$("$python" "$tmp/compare.py" | plainly)" "$compared"
is "and of tensors" "$(PYTHONPATH=$kit:$root/tests/interleave/stand_in "$python" "$tmp/compare.py" tensors | plainly)" "$compared"

# ---- on a device
mkdir "$tmp/lib"
cp "$root/build/tests/modules/fake_cuda.so" "$tmp/lib/libcuda.so.1"
on_device() { LD_LIBRARY_PATH=$tmp/lib "$python" "$root/tests/support/interleave_alone.py" "$@"; }
cat >"$tmp/device.py" <<'PY'
import ctypes, flopwatch
driver = ctypes.CDLL("libcuda.so.1")
for call in flopwatch.cell("k", flops=1e9, device="cuda"):
    with call:
        driver.fake_cuda_work(2000)
PY
FAKE_CUDA_TELL=1 on_device "$python" "$tmp/device.py" >"$tmp/said" 2>"$tmp/printed"
is "calls on a device have its clock" "$(grep -c '^done [0-9.]* host_us=[0-9.]* mhz=1500 idle_us=' "$tmp/said")" 10
is "and facts" "$(grep -cE '^fact (flops 1e\+09|first_ms)' "$tmp/said")" 2
is "and an end" "$(tail -n 1 "$tmp/said")" "exit 0"
# after the first turn one call shows that the kernel can be queued while the device spins; the second turn's call is primed; the
# calls of a third turn are queued one after the other
is "it spins before a call alone" "$(tail -n 1 "$tmp/printed" | sed 's/,.*//')" "spun 2 times"

# ---- primed: the host needs longer than the device
ok "gcc takes the header with CUDA" gcc -std=c99 -O1 -Wall -Wextra -Wshadow -Werror -I"$kit" -I"$examples/stand_in/cuda" -o "$tmp/primed" \
	"$examples/primed.c" -L"$tmp/lib" -l:libcuda.so.1 -lm
ok "g++ too" g++ -x c++ -std=c++20 -fsyntax-only -Wall -Wextra -Wshadow -Werror -I"$kit" -I"$examples/stand_in/cuda" "$examples/primed.c"
primed_rows() { # cells with whether they are primed; on a busy machine calls of the first one may be late, too
	jq -r '"\(.cell) \(.primed) \(if .primed then (.ms | sort | "\(.[length / 10 | floor] * 1e4 | round / 1e4)..\(.[length * 9 / 10 | floor] * 1e4 | round / 1e4)") else .ms[0] > 0.1 end) \(.host_us > 100) \(.late > 0)"' |
		sed '1s/ [a-z]*$//' | paste -sd';'
}
for program in "$tmp/primed" "$python $examples/primed.py"; do
	name=${program##*/}
	# shellcheck disable=SC2086
	LD_LIBRARY_PATH=$tmp/lib $program >"$tmp/said" 2>"$tmp/printed"
	is "calls of $name have the device's time" "$(primed_rows <"$tmp/said")" \
		"a true 0.05..0.05 true;waits false true true false;long false true true false;grows true 0.05..0.05 true true"
	is "and why not" "$(grep -c 'waits: not primed: the call waits for the device\|long: not primed: the call keeps the host for more than 8 ms' "$tmp/printed")" 2
	# shellcheck disable=SC2086
	on_device $program >"$tmp/said" 2>"$tmp/printed"
	is "it reports which are not primed" "$(grep '^fact unprimed' "$tmp/said" | paste -sd';')" \
		"fact unprimed the call waits for the device;fact unprimed the call keeps the host for more than 8 ms"
	like "and one that began too early" "$(grep -cE '^done 0 (late=1 host_us=1[0-9.]+ .*spin_us=[0-9.]+|host_us=.* cut=1 spin_us=[0-9.]+)$' "$tmp/said")" '^[1-9]$' # on a busy machine others, too
	is "all in turns" "$(grep '^turn' "$tmp/said" | uniq -c | awk '{ print $1, $3 }' | paste -sd';')" "4 a;4 waits;4 long;4 grows"
done

LD_LIBRARY_PATH=$tmp/lib "$python" "$examples/waits.py" >"$tmp/said" 2>"$tmp/printed"
is "a call that waits at its end has the time until it waits, another one cannot be primed" "$(primed_rows <"$tmp/said" | sed -E 's/ (true|false)(;|$)/\2/g')" \
	"queue_work true 0.05..0.05;ends true 0.05..0.05 true;twice false true true;goes_on false true true"
on_device "$python" "$examples/waits.py" >"$tmp/said" 2>"$tmp/printed"
is "and reports the reason" "$(grep -c '^fact unprimed the call waits for the device' "$tmp/said")" 2

# ---- the length of the spin, in both languages: after each call its host time and whether it was late
cat >"$tmp/spin.c" <<'C'
#include "flopwatch.h"
int main(void)
{
	struct flopwatch_spin s = { FLOPWATCH_PROBES, NULL, 0, 1, 0, 0 };
	double host_us;
	int late;

	while (scanf("%lf %d", &host_us, &late) == 2) {
		flopwatch_note_spin(&s, host_us, late);
		printf("%.1f\n", flopwatch_spin_us(&s));
	}
	return 0;
}
C
cat >"$tmp/spin.py" <<'PY'
import sys
import flopwatch
spin = flopwatch._Spin()
for line in sys.stdin:
    host_us, late = line.split()
    spin.note_call(float(host_us), late == "1")
    print("%.1f" % spin.wanted_us())
PY
printf '%s\n' "100 0" "200 0" "100 0" "100 1" "100 0" "2000 1" "2000 1" "2000 1" "100 0" >"$tmp/calls"
gcc -O1 -Wall -Wextra -Werror -I"$kit" -o "$tmp/spin" "$tmp/spin.c" -lm
# twice the host's time, which falls by a tenth; doubled after a late call, never above 10 ms
is "a spin follows the host" "$("$tmp/spin" <"$tmp/calls" | paste -sd' ')" "220.0 420.0 380.0 668.0 574.0 10000.0 10000.0 10000.0 10000.0"
is "in Python as well" "$("$python" "$tmp/spin.py" <"$tmp/calls")" "$("$tmp/spin" <"$tmp/calls")"
is "a call that takes long measures the host once" "$("$python" -c '
import flopwatch
for host_us, all_s in (100, 0.6), (9000, 0.6), (100, 0.1):
    spin = flopwatch._Spin()
    spin.note_probe(0, host_us, all_s)
    print(spin.is_on(), spin.is_probing(), spin.why_not)' | paste -sd';')" "True False ;False False the call keeps the host for more than 8 ms;False True "

# ---- interleaved, with a child that ends by itself
cat >"$tmp/forks.c" <<'C'
#include "flopwatch.h"
#include <sys/wait.h>
int main(void)
{
	FLOPWATCH("b", 0, 0)
	{
		if (fork() == 0)
			exit(0);
		wait(NULL);
	}
	if (fork() == 0)
		exit(0);
	wait(NULL);
	FLOPWATCH("c", 0, 0) { }
	return 0;
}
C
gcc -O1 -Wall -Wextra -Werror -I"$kit" -o "$tmp/forks" "$tmp/forks.c" -lm
"$python" "$root/tests/support/interleave_alone.py" "$tmp/forks" >"$tmp/said"
is "what a program forks says nothing in its place" "$(sed 's/ .*//' "$tmp/said" | uniq -c | awk '{ print $1, $2 }' | paste -sd';')" \
	"1 flopwatch;1 turn;1 done;1 fact;1 turn;1 done;1 turn;8 done;2 turn;1 done;1 fact;1 turn;1 done;1 turn;8 done;1 turn;1 bye;1 exit"

# ---- around scripts
for script in triton_script timer_script suite_script; do
	PYTHONPATH=$kit:$root/tests/interleave/stand_in on_device "$python" -m flopwatch "$examples/$script.py" >"$tmp/said" 2>"$tmp/printed"
	is "$script asks for its cells" "$(grep '^turn' "$tmp/said" | sort -u | cut -c6- | paste -sd' ')" "$(sed -n 's/^# cells: //p' "$examples/$script.py")"
	like "and continues with its times" "$(cat "$tmp/printed")" 'took [0-9.]+ ms'
	is "to its end" "$(tail -n 1 "$tmp/said")" "exit 0"
done
SKIP=1 PYTHONPATH=$kit:$root/tests/interleave/stand_in on_device "$python" -m flopwatch "$examples/timer_script.py" >"$tmp/said" 2>"$tmp/printed"
is "a timer without turns has a time that can be printed" "$(grep -o 'took [0-9.]* ms' "$tmp/printed") $(tail -n 1 "$tmp/said")" "took 2.000000 ms exit 0"
alone=$(cd "$tmp" && PYTHONPATH=$kit:$root/tests/interleave/stand_in "$python" -m flopwatch "$examples/timer_script.py" 2>"$tmp/printed" | rows)
is "by itself its lines are alone" "$alone" "sum(x) true;sums/many true"
like "with its other output next to them" "$(cat "$tmp/printed")" 'took [0-9.]+ ms'

# ---- kernels of Triton
kernels() { # options of env: the program's kernels
	(cd "$tmp" && PYTHONPATH=$kit:$root/tests/interleave/stand_in env "$@" "$python" "$root/tests/support/interleave_alone.py" "$python" kernels.py) | grep '^fact kernel'
}
cp "$examples/kernels_script.py" "$tmp/kernels.py"
kernels FAKE_TRITON_CHOICE=0 >"$tmp/first"
kernels FAKE_TRITON_CHOICE=1 >"$tmp/second"
is "the choice is the configuration of the cell" "$(cd "$tmp" && PYTHONPATH=$kit:$root/tests/interleave/stand_in FAKE_TRITON_CHOICE=0 "$python" "$root/tests/support/interleave_alone.py" "$python" kernels.py | grep '^fact config')" \
	"fact config BLOCK=128,num_warps=8,num_stages=3"
cat >"$tmp/chosen.py" <<'PY'
import flopwatch
for call in flopwatch.cell("own", config={"TILE": 64, "STAGES": 2}):
    with call:
        pass
PY
is "or what the program reports" "$(cd "$tmp" && PYTHONPATH=$kit "$python" "$root/tests/support/interleave_alone.py" "$python" chosen.py | grep '^fact config')" "fact config TILE=64 STAGES=2"
printf '#include "flopwatch.h"\nint main(void)\n{\n\tflopwatch_config("TILE=64 STAGES=2");\n\tFLOPWATCH("own", 0, 0) { }\n\tFLOPWATCH("none", 0, 0) { }\n\treturn 0;\n}\n' >"$tmp/chosen.c"
gcc -O1 -Wall -Wextra -Werror -I"$kit" -o "$tmp/chosen" "$tmp/chosen.c" -lm
is "also in C, of one cell" "$("$python" "$root/tests/support/interleave_alone.py" "$tmp/chosen" | grep '^fact config')" "fact config TILE=64 STAGES=2"
is "a profiler's number of calls is made, without times" "$(sed 's/{ }/{ puts("called"); }/' "$tmp/chosen.c" >"$tmp/calls.c" && gcc -O1 -I"$kit" -o "$tmp/fixed" "$tmp/calls.c" -lm && FLOPWATCH_CALLS=7 "$tmp/fixed" | sort | uniq -c | awk '{ print $1, $2 }')" "14 called"
is "in Python as well" "$(cd "$tmp" && sed 's/pass/print("called")/' chosen.py >calls.py && FLOPWATCH_CALLS=7 PYTHONPATH=$kit "$python" calls.py | sort | uniq -c | awk '{ print $1, $2 }')" "7 called"
is "the kernels of a call are reported, with the autotuner's choice, without its search" "$(sed 's/ \(code\|source\)=[0-9a-f]\{64\}//g' "$tmp/first" "$tmp/second" | paste -sd';')" \
	"$(printf 'fact kernel product num_warps=%s num_stages=3 shared=%s registers=40 spills=0 config=%s launches=1 of=2;fact kernel scale num_warps=4 num_stages=3 shared=16 registers=40 spills=0 launches=2 of=2;' \
		8 2048 BLOCK=128,num_warps=8,num_stages=3 4 1024 BLOCK=64,num_warps=4,num_stages=3,maxnreg=96 | sed 's/;$//')"
hashes() { grep -oE "$1=[0-9a-f]{64}" "$2"; }
is "their source is the same" "$(hashes source "$tmp/first")" "$(hashes source "$tmp/second")"
unlike "their code is not" "$(hashes code "$tmp/first" | head -n 1)" "$(hashes code "$tmp/second" | head -n 1)"
sed -i 's/^    time.sleep/    # a comment\n\n&/; s/^import time/# another\n&/' "$tmp/kernels.py"
kernels FAKE_TRITON_CHOICE=0 >"$tmp/second"
is "comments and lines change neither" "$(cat "$tmp/second")" "$(cat "$tmp/first")"
sed -i 's/1e-6/2e-6/' "$tmp/kernels.py"
unlike "a change does" "$(kernels FAKE_TRITON_CHOICE=0 | grep -oE 'source=[0-9a-f]+' | head -n 1)" "$(hashes source "$tmp/first" | head -n 1)"

is "a search of a compiler is no cell" "$(grep -c searched "$tmp/said")" 0
fails "without a script" 2 "$python" -m flopwatch

# nvbench runs only on GPUs: here a replacement provides the functions that the header uses
ok "g++ takes the header for nvbench" g++ -std=c++17 -O1 -Wall -Wextra -Wshadow -Werror -I"$kit" -I"$root/tests/interleave/stand_in" -o "$tmp/nvbench" "$examples/sums_nvbench.cc"
ok "and for the oldest that it promises" g++ -std=c++17 -DOLD_NVBENCH -fsyntax-only -Wall -Wextra -Wshadow -Werror -I"$kit" -I"$root/tests/interleave/stand_in" "$examples/sums_nvbench.cc"
is "by itself it is as it was" "$("$tmp/nvbench" | paste -sd';')" "ran sum/Device=0 N=1000;ran sum/Device=0 N=2000;ran sum/Device=1 N=4000;ran sum/Device=1 N=8000;results of 2 benchmarks"
"$python" "$root/tests/support/interleave_alone.py" "$tmp/nvbench" >"$tmp/said" 2>"$tmp/printed"
is "its states ask for turns" "$(grep '^turn' "$tmp/said" | sort | uniq -c | awk '{ print $1, $3 }' | paste -sd';')" \
	"4 sum/Device=1_N=4000;2 sum/Device=1_N=8000;4 sum/N=1000;4 sum/N=2000"
is "each sample of a turn is a call, warm ones are none" "$(grep -c '^done [0-9.e+-]*' "$tmp/said")" 21
is "its bytes are reported" "$(grep '^fact bytes' "$tmp/said" | sort -u | paste -sd';')" "fact bytes 16000;fact bytes 32000;fact bytes 4000"
is "a state that is skipped says why" "$(grep '^fail unsupported' "$tmp/said" | sort -u)" "fail unsupported too many for this device"
is "one that throws in its turn does so there" "$(grep -A 9 '^turn.*N=8000' "$tmp/said" | sed 's/^\(done\|turn\) .*/\1/' | paste -sd';')" \
	"turn;fact bytes 32000;done;turn;fail reported Unexpected error: no memory left;bye;exit 0"
is "to its end" "$(tail -n 1 "$tmp/said")" "exit 0"

if g++ -std=c++17 -O1 -Wall -Wextra -Werror -I"$kit" -o "$tmp/google" "$examples/sums_google.cc" -lbenchmark -lpthread 2>"$tmp/said"; then
	like "Google Benchmark by itself is as it was" "$("$tmp/google" --benchmark_min_time=0.01 2>/dev/null)" '^BM_sum/32768 +[0-9.]+ ns'
	"$python" "$root/tests/support/interleave_alone.py" "$tmp/google" >"$tmp/said" 2>&1
	is "its benchmarks ask for turns" "$(grep '^turn' "$tmp/said" | sort | uniq -c | awk '{ print $1, $3 }' | paste -sd';')" "4 BM_fails;4 BM_sum/32768"
	is "each with its time" "$(grep -c '^done [0-9.e+-]* repeats=[1-9][0-9]*' "$tmp/said")" 10
	is "or why it has none" "$(grep '^fail' "$tmp/said" | sort -u)" "fail reported failed: no memory left"
	g++ -std=c++17 -O1 -DMIN_TIME=60 -I"$kit" -o "$tmp/long" "$examples/sums_google.cc" -lbenchmark -lpthread
	"$python" "$root/tests/support/interleave_alone.py" "$tmp/long" >"$tmp/said" 2>&1
	is "a MinTime of its own makes no call long" \
		"$(awk '/^done/ { split($3, n, "="); s += $2 * n[2] / 1000 } END { print s < 60 ? "below one MinTime" : s " s" }' "$tmp/said")" "below one MinTime"
else
	grep -q 'benchmark/benchmark.h: No such file' "$tmp/said" || is "Google Benchmark takes the header" "$(head -n 5 "$tmp/said")" ""
	skip "Google Benchmark" "it is not installed"
fi

# ---- interleaved by turns
interleave_repo one
write_config "sandbox: auto" "workers: [{name: cpu, command: [flopwatch-worker, serve], device: cpu}]" \
	"repos: [{name: one, url: $tmp/one.git}]"
cat >"$tmp/one/.flopwatch.yaml" <<'YAML'
flopwatch: 1
build: {dir: ., command: [sh, -c, "gcc -O1 -I$FLOPWATCH_KIT -o sums sums.c -lm"], timeout_s: 60}
benchmarks:
  c: {command: [./sums], reader: flopwatch, gpu: false, timeout_s: 30, budget_s: 120}
  python: {command: [/usr/bin/python3, sums.py], reader: flopwatch, gpu: false, timeout_s: 30, budget_s: 120}
YAML
cp "$examples"/sums.* "$tmp/one"
start_daemon
newest="SELECT max(id) FROM job WHERE target_sha = '%s' GROUP BY suite"
verdicts() { # of a commit, WANTED: verdicts of its cells; undecided ones (busy machine) are measured once more, then accepted
	local jobs text job n
	# shellcheck disable=SC2059
	jobs=$(printf "$newest" "$1")
	for n in 1 2; do
		patience=400 await all_ended "$1"
		text=$(sql "SELECT j.suite || ' ' || c.key || ' ' || c.verdict FROM job j JOIN comparison k ON k.job = j.id JOIN cell c ON c.comparison = k.id WHERE j.id IN ($jobs) ORDER BY 1")
		[[ $n = 1 && $text == *undecided* ]] || break
		for job in $(sql "SELECT DISTINCT k.job FROM comparison k JOIN cell c ON c.comparison = k.id WHERE c.verdict = 'undecided' AND k.job IN ($jobs)"); do
			post "jobs/$job/retry" >/dev/null
		done
	done
	paste -d' ' <(echo "$text") <(tr ';' '\n' <<<"$2") | awk '{ print $1, $2, $3 == "undecided" && $1 == $4 && $2 == $5 ? $6 : $3 }' | paste -sd';'
}
all_ended() {
	[ "$(sql "SELECT count(DISTINCT suite) || ' ' || (count(*) - sum(state = 'done')) FROM job WHERE target_sha = '$1'")" = "2 0" ]
}
same="c dot/20000 unchanged;c sum/20000 unchanged;python hash/200000 unchanged;python sum/200000 unchanged"
slower="c dot/20000 unchanged;c sum/20000 regression;python hash/200000 unchanged;python sum/200000 regression"
commit one first
push one main
is "programs in C and Python" "$(verdicts "$(head_of one)" "$same")" "$same"
is "take turns" "$(sql "SELECT min(samples) > 8 FROM cell")" 1
branch one slower main
sed -i 's/20000 \* 1/20000 * 1.06/; s/N \* 0/N * 0.06/' "$tmp/one/sums.c" "$tmp/one/sums.py"
commit one "the sum adds 6 % more"
push one slower
is "6 % more work is found in both" "$(verdicts "$(head_of one)" "$slower")" "$slower"
branch one harmless main
sed -i 's/unsigned i/unsigned index/; s/\bi\b/index/g' "$tmp/one/sums.c"
sed -i 's/data/figures/g' "$tmp/one/sums.py"
commit one "other names"
push one harmless
is "other names are no change" "$(verdicts "$(head_of one)" "$same")" "$same"
