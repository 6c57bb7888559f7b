#!/bin/bash
# Calls of the kit while other processes want the same core: none is reported below half of the processor time that
# it used itself.
# Runs beside three others.
. "$(dirname "$0")/../support/tap.sh"
kit=$root/daemon/kit
core=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
busy_pids=()
stop_busy() {
	[ ${#busy_pids[@]} = 0 ] || kill "${busy_pids[@]}" 2>/dev/null
}
on_exit stop_busy
for _ in 1 2 3 4; do
	taskset -c "$core" sh -c 'while :; do :; done' &
	busy_pids+=($!)
done
count() { # LABEL: the number after it in the last line of the output
	sed -n "\$s/.*\\<$1 \\([0-9]*\\).*/\\1/p" "$tmp/said"
}
# enough interrupted calls: the kits that read the counter of waiting outside the clock reported 1e-06 ms for 5 % of them in C,
# 20 % in Python
gcc -O1 -Wall -Wextra -Werror -I"$kit" -o "$tmp/busy" "$root/tests/interleave/busy.c" -lm
taskset -c "$core" "$tmp/busy" 300 >"$tmp/said"
is "calls in C are interrupted" "$(($(count interrupted) >= 300))" 1
is "and none of them is reported below half of what it used" "$(count small)" 0
PYTHONPATH=$kit PYTHONDONTWRITEBYTECODE=1 taskset -c "$core" /usr/bin/python3 "$root/tests/interleave/busy.py" 300 >"$tmp/said"
is "calls in Python are interrupted" "$(($(count interrupted) >= 300))" 1
is "and none of them, either" "$(count small)" 0

# ---- subtracted times, in both languages: time of the call, its processor time, its waiting, gaps outside the clock
cat >"$tmp/off.c" <<'C'
#include "flopwatch.h"
int main(void)
{
	long long call, cpu, waited, gaps;
	int64_t off;
	while (scanf("%lld %lld %lld %lld", &call, &cpu, &waited, &gaps) == 4) {
		long long ns = flopwatch_without_waits(call, cpu, waited, gaps, &off);
		printf("%lld %lld\n", ns, (long long)off);
	}
	return 0;
}
C
cat >"$tmp/off.py" <<'PY'
import sys
import flopwatch
for line in sys.stdin:
    took, off = flopwatch._without_waits(*map(int, line.split()))
    print(took or 0, off)
PY
cat >"$tmp/cases" <<'CASES'
13000 13000 0 2000
3013000 13000 3000000 2000
13000 13000 3000000 3002000
3013000 13000 6000000 3002000
1000000 5000 3000000 3000000
1000000 5000 0 3000000
200 600 0 2000
13000 20000 3000000 2000
0 0 0 0
5000 4000 -1 100
CASES
# nothing; within; in a gap; half in a gap; asleep, and it may be either; asleep without a wait; shorter than its reading costs;
# a gap's processor time; no clock
gcc -O1 -Wall -Wextra -Werror -I"$kit" -o "$tmp/off" "$tmp/off.c" -lm
is "a wait is taken off where it was" "$("$tmp/off" <"$tmp/cases" | paste -sd';')" "13000 0;13000 3000000;13000 0;13000 3000000;0 995000;1000000 0;200 0;13000 0;0 0;5000 0"
is "in Python as well" "$(PYTHONPATH=$kit PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$tmp/off.py" <"$tmp/cases")" "$("$tmp/off" <"$tmp/cases")"
