#!/bin/bash
# Interleaved programs that end in a call of a cell, while their cells are listed or in a session: the other cells are measured.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
. "$(dirname "$0")/../support/interleave.sh"

git init -q --bare -b main "$tmp/one.git"
git init -q -b main "$tmp/one"
git -C "$tmp/one" remote add origin "$tmp/one.git"
printf 'flopwatch: 1\nbenchmarks: {one: {command: [python3, bench.py], reader: flopwatch, gpu: false, threshold_pct: 50, budget_s: 8, timeout_s: 60}}\n' \
	>"$tmp/one/.flopwatch.yaml"
write_config "sandbox: auto" "workers: [{name: cpu, command: [flopwatch-worker, serve], device: cpu}]" \
	"repos: [{name: one, url: $tmp/one.git}]"
start_daemon || exit 1
bench() { # KEYS, and the body of a call, of `key` and `n`, its number in this process; then lines at the end
	printf '%s\n' "import os, sys, time" "import flopwatch" "def spend():" "    end = time.perf_counter_ns() + 1000000" \
		"    while time.perf_counter_ns() < end: pass" "for key in $1:" "    n = 0" "    for call in flopwatch.cell(key):" \
		"        with call:" "            n += 1" "            spend()" "            ${2:-pass}" "${3:-}" >"$tmp/one/bench.py"
}
pushed() { # NAME: on a branch
	branch one "$1" main
	commit one "$1"
	push one "$1"
	in_the_end "$(head_of one)"
	git -C "$tmp/one" checkout -q main
}
judged() {
	cells | tr '\n' ';' | sed -E 's/(unchanged|undecided) ;/measured;/g' # by a budget this small
}
four="'a', 'b', 'c', 'd'"
bench "$four"
on_main one first >"$tmp/verdict"

bench "$four" "if key == 'b': undefined_name"
is "a call that raises while the cells are listed" "$(pushed listed)" "done failed"
is "costs its cell alone" "$(judged)" "a measured;b failed reported;c measured;d measured;"
like "with the exception as its reason" "$(why b)" "^NameError: name 'undefined_name' is not defined$"
like "which the headline has" "$("$bin/flopwatch" --server "http://127.0.0.1:$(port)" wait listed --repo one 2>&1)" "NameError: name 'undefined_name'"

bench "$four" "if key in ('a', 'b', 'd'): raise ValueError(key)"
pushed several >"$tmp/verdict"
is "so it does in several cells" "$(judged)" "a failed reported;b failed reported;c measured;d failed reported;"
like "each with its own" "$(why d)" '^ValueError: d$'

bench "$four" "if key == 'c' and n == 16: raise MemoryError"
pushed later >"$tmp/verdict"
is "a later call costs its cell alone, too" "$(judged)" "a measured;b measured;c failed reported;d measured;"
like "with its exception" "$(why c)" '^MemoryError$'

bench "$four" "if key == 'b': os._exit(3)"
pushed exits >"$tmp/verdict"
is "an end without an exception" "$(judged)" "a measured;b failed crash;c measured;d measured;"
like "has the status as its reason" "$(why b)" 'ended with .*3'

sed -i 's/gpu: false/gpu: false, fork: true/' "$tmp/one/.flopwatch.yaml"
bench "$four" "if key == 'b' and n == 3 or key == 'c' and n == 16: raise ValueError(n)"
is "main has such cells" "$(on_main one forked)" "done failed"
bench "$four" "if key == 'd' and n == 16: raise ValueError(n)"
pushed forked >"$tmp/verdict"
is "runs that a parent forks end so, too, on both sides" "$(judged)" "a measured;b not_comparable ;c not_comparable ;d failed reported;"
sed -i 's/, fork: true//' "$tmp/one/.flopwatch.yaml"
bench "$four"
on_main one fixed >"$tmp/verdict"

# ---- where the other cells cannot be measured
bench "$four" "if key == 'b': raise ValueError(key)" "    if key == 'b' and n == 0: raise KeyError('the result of b is missing')"
pushed between >"$tmp/verdict"
is "an end between cells fails all" "$(judged)" "a failed crash;b failed reported;c failed crash;d failed crash;"
like "the first cell in which it ended has its exception" "$(why b)" '^ValueError: b$'
like "the others have that of the end" "$(why c)" 'KeyError'

many="['k%02d' % i for i in range(10)]"
bench "$many"
on_main one many >"$tmp/verdict"
bench "$many" "if key != 'k00': raise ValueError(key)"
pushed nine >"$tmp/verdict"
is "after eight cells it is not started again" "$(judged | grep -o 'failed [a-z]*' | sort | uniq -c | tr -s ' ' | tr '\n' ';')" " 1 failed crash; 8 failed reported;"
is "and those after them say so" "$(why k09)" "not measured: the benchmark ended in 8 other cells, at last in k08"
