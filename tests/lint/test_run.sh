#!/bin/bash
# tests/run.sh itself, on a separate tree with small tests: its counts, and that neither it nor a test leaves a process running.
# Starts first.  it waits most of its time
. "$(dirname "$0")/../support/tap.sh"
tree=$tmp/tree
mkdir -p "$tree/tests/room" "$tree/tests/support"
cp "$root/tests/run.sh" "$tree/tests/"
cp "$root/tests/support/supervise.py" "$tree/tests/support/"
# A replacement for make's builds: a test in C is a script here, its folder names the variant.
cat >"$tree/Makefile" <<'MAKE'
O := $(if $(SANITIZE),build/san,$(if $(UNIT),build/unit,build))
.PHONY: all modules build/tests/browser/pages_demo
all modules build/tests/browser/pages_demo:
	@echo $@ >>built
$(O)/tests/%: tests/%.c
	@mkdir -p $(@D) && sed 1,2d $< >$@ && chmod +x $@
MAKE
small() { # name, lines
	printf '%s\n' "${@:2}" >"$tree/tests/room/test_$1.sh"
}
run() { "$tree/tests/run.sh" "$@" </dev/null; }
# Only processes of this test: the mark is one of their arguments.
mark=flopwatch-run-$$
marked() { pgrep -f "$mark" | grep -vx $$ | wc -l; }
none_marked() { [ "$(marked)" = 0 ]; }

small good 'echo "ok 1 - a"' 'echo "ok 2 - b # SKIP no device"' 'echo "ok 3 - c"'
small skipped 'echo "ok 1 - a # SKIP no device"' 'echo "ok 2 - b # SKIP no device"'
ok "passes and skips" run
is "the last line counts skips apart" "$(tail -n 1 <<<"$out")" "2 passed, 0 failed, 3 skipped"
like "each skip is named" "$out" 'ok 2 - b # SKIP no device'
small bad 'echo "not ok 1 - a"' 'exit 1'
fails "a failure" 1 run bad good
is "is counted" "$(tail -n 1 <<<"$out")" "2 passed, 1 failed, 1 skipped"
rm "$tree/tests/room/test_bad.sh"
fails "nothing but skips is no pass" 1 run skipped
is "and counted so" "$(tail -n 1 <<<"$out")" "0 passed, 0 failed, 2 skipped"

cat >"$tmp/titles.sh" <<'SH'
. "$1/tests/support/tap.sh"
ok "and a first title stays as it is" true
ok "a push" true
is "is measured" 1 1
is "and opens no alert" 1 2
ok "another push" true
SH
fails "titles that continue another title" 1 bash "$tmp/titles.sh" "$root"
is "include it" "$(grep -E '^(not )?ok ' <<<"$out")" "ok 1 - and a first title stays as it is
ok 2 - a push
ok 3 - a push ... is measured
not ok 4 - a push ... and opens no alert
ok 5 - another push"

# the modes: scripts, or tests in C, of which those that take long run only where they are named
small script 'echo "ok 1 - a script"'
program() { # name, second line, lines
	printf '%s\n' '/* test */' "$2" '#!/bin/sh' "${@:3}" >"$tree/tests/room/test_$1.c"
}
program quick '' 'echo "ok 1 - $0"'
program long '/* Left to `make check`: takes seconds, starts our programs. */' 'echo "ok 1 - $0"'
rm -f "$tree/built"
ok "mode unit" run unit
is "runs one in C" "$(tail -n 1 <<<"$out")" "1 passed, 0 failed, 0 skipped"
like "says that one is left" "$out" 'left to `make check`, .*: 1'
ok "builds it without sanitizers" test -e "$tree/build/unit/tests/room/test_quick"
fails "and builds no program" 1 test -e "$tree/built"
ok "mode unit with a name" run unit test_long
is "runs what takes long" "$(tail -n 1 <<<"$out")" "1 passed, 0 failed, 0 skipped"
is "and builds what that needs" "$(cat "$tree/built")" all
ok "mode integration" run integration script
is "runs scripts alone" "$(tail -n 1 <<<"$out")" "1 passed, 0 failed, 0 skipped"
ok "without a mode" run script quick long
is "all are run" "$(tail -n 1 <<<"$out")" "3 passed, 0 failed, 0 skipped"
ok "those in C with sanitizers" test -e "$tree/build/san/tests/room/test_long"
fails "a name that no test has" 1 run unit nothing-has-this-name
like "reports that" "$out" "no test holds nothing-has-this-name in its path"
rm "$tree/tests/room/"test_{script.sh,quick.c,long.c}

small clocked '# Runs beside three others.' 'for _ in {1..200}; do [ -e early ] && [ -e second ] && [ -e third ] && break; sleep 0.05; done' \
	'[ -e early ] && [ -e second ] && [ -e third ] && [ ! -e any ] && echo "ok 1 - first"' 'touch ended'
for early in early second third; do
	small $early '# Starts early.' "touch $early" 'for _ in {1..200}; do [ -e ended ] && break; sleep 0.05; done' 'echo "ok 1 - beside it"'
done
small any 'touch any' 'echo "ok 1 - then"'
ok "a test with fewer lanes runs next to one that starts early" run clocked early second third any
is "and others later" "$(tail -n 1 <<<"$out")" "5 passed, 0 failed, 0 skipped"
rm "$tree"/tests/room/test_{clocked,early,second,third,any}.sh "$tree"/{early,second,third,any,ended}

small clocked '# Runs beside three others.' 'for _ in {1..200}; do [ "$(ls | grep -c ^waits)" = 6 ] && break; sleep 0.05; done' \
	'sleep 0.5; [ "$(ls | grep -c ^waits)" = 6 ] && echo "ok 1 - beside six"' 'touch ended'
for n in 1 2 3 4 5 6 7; do
	small waits$n '# Starts first.' "touch waits$n" 'for _ in {1..1200}; do [ -e ended ] && break; sleep 0.05; done' 'echo "ok 1 - beside it"'
done
ok "or beside six that wait" run clocked waits
is "and no more" "$(tail -n 1 <<<"$out")" "8 passed, 0 failed, 0 skipped"
rm "$tree"/tests/room/test_{clocked,waits?}.sh "$tree"/{ended,waits?}

for n in 1 2 3; do
	small clocked$n '# Runs beside three others.' "mkdir clocked-$n" 'for _ in {1..200}; do [ -e plain1 ] && [ -e plain2 ] && [ -e sum1 ] && break; sleep 0.05; done' \
		'sleep 0.5; [ "$(ls | grep -c ^clocked-)" -le 2 ] && echo "ok 1 - beside one of its kind"' "[ $n = 3 ] || [ ! -e plain3 ] || echo 'not ok - beside three others'" "[ $n = 3 ] || for _ in {1..200}; do [ -e all ] && break; sleep 0.05; done" "rmdir clocked-$n"
done
for n in 1 2 3; do
	small plain$n '' "touch plain$n" "[ $n = 3 ] || for _ in {1..200}; do [ -e all ] && break; sleep 0.05; done" 'echo "ok 1 - plain"'
done
small sum1 '# Only computes.' 'touch sum1' 'sleep 1; touch all' 'echo "ok 1 - nice $(nice)"' 'grep -s nice /proc/self/autogroup || true'
ok "two tests by the clock, two others and one that computes run at once" run clocked plain sum
is "and no more of the first kinds" "$(tail -n 1 <<<"$out")" "7 passed, 0 failed, 0 skipped"
is "the last has a low priority" "$(grep '^ok' "$tree/build/tests/logs/room-test_sum1.log")" "ok 1 - nice 10"
unlike "also where sessions share the CPU time" "$(cat "$tree/build/tests/logs/room-test_sum1.log")" 'nice 0'
rm "$tree"/tests/room/test_{clocked?,plain?,sum1}.sh "$tree"/{plain?,sum1,all}

small clocked '# Runs beside three others.' 'for _ in {1..200}; do [ -e begun ] && break; sleep 0.05; done' 'echo "ok 1 - clocked"'
small sum '# Only computes.' 'touch begun' 'sleep 2' 'touch done' 'echo "ok 1 - computed"'
small alone '# Runs alone.' '[ -e done ] && echo "ok 1 - alone"'
ok "a test that runs alone does not begin beside one that computes" run clocked sum alone
is "but after it" "$(tail -n 1 <<<"$out")" "3 passed, 0 failed, 0 skipped"
rm "$tree"/tests/room/test_{clocked,sum,alone}.sh "$tree"/{begun,done}

# of those in C, the ones that take seconds first: a test takes two lanes, so one more than fit at once has to wait
n=$((5 * $(nproc)))
program zlast '/* Left to `make check`: takes seconds. */' 'touch zlast; echo "ok 1 - long"'
for ((i = 0; i < n; i++)); do
	program brief$i '' 'for _ in $(seq 200); do [ -e zlast ] && break; sleep 0.05; done' '[ -e zlast ] && echo "ok 1 - after it"'
done
ok "tests in C that take seconds start first" run brief zlast
is "before all others" "$(tail -n 1 <<<"$out")" "$((n + 1)) passed, 0 failed, 0 skipped"
rm "$tree"/tests/room/test_{brief*,zlast}.c "$tree/zlast"

# a daemon in a separate session, which the test does not stop
small leaves 'echo "ok 1 - a"' "setsid bash -c 'exec -a $mark sleep 1000' >/dev/null 2>&1 &" 'exit 0'
fails "a test that leaves a process behind" 1 run leaves
like "has failed, with the process named" "$out" "not ok - process [0-9]+ was left behind: $mark 1000"
ok "and the process has ended" none_marked

small orphan '(sleep 0.2 & echo $! >pid)' 'while kill -0 "$(cat pid)" 2>/dev/null; do sleep 0.05; done' 'echo "ok 1 - it has ended"'
ok "a process that a test did not start itself is reaped when it ends" run orphan

# a test must remove state that outlives processes, such as a cgroup
small waits "setsid bash -c 'exec -a $mark sleep 1000' &" "trap 'touch $tmp/undone; exit 1' TERM" "touch $tmp/begun" 'sleep 1000 & wait'
"$tree/tests/run.sh" waits >"$tmp/out" 2>&1 </dev/null &
pid=$!
await test -e "$tmp/begun"
kill $pid
wait $pid 2>/dev/null
ok "a run that is ended gives its tests time to undo what they did" test -e "$tmp/undone"
ok "and no process is left" await none_marked

for signal in TERM INT HUP KILL; do
	small waits "setsid bash -c 'exec -a $mark sleep 1000' &" "bash -c 'exec -a $mark sleep 1000' &" "touch $tmp/begun" 'wait'
	rm -f "$tmp/begun"
	# a shell in the background ignores SIGINT, and its children cannot restore it
	python3 -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])' \
		"$tree/tests/run.sh" waits >"$tmp/out" 2>&1 </dev/null &
	pid=$!
	await test -e "$tmp/begun"
	await test "$(marked)" -ge 2
	kill -$signal $pid
	wait $pid 2>/dev/null
	status=$?
	is "SIG$signal ends the run" "$status" $((128 + $(kill -l $signal)))
	[ $signal = KILL ] || is "which counts what it has: SIG$signal" "$(tail -n 1 "$tmp/out")" "0 passed, 0 failed, 0 skipped"
	ok "and no process is left: SIG$signal" await none_marked
done

# make, which is killed alone, or with its whole process group, as by a terminal
printf 'deps:\n' >>"$tree/Makefile"
for signal in TERM KILL; do
	for goal in test check; do
		small waits "setsid bash -c 'exec -a $mark sleep 1000' &" "bash -c 'exec -a $mark sleep 1000' &" "touch $tmp/begun" 'wait'
		rm -f "$tmp/begun"
		make -s -C "$tree" -f "$root/Makefile" $goal T=waits >"$tmp/out" 2>&1 </dev/null &
		pid=$!
		await test -e "$tmp/begun"
		kill -$signal $pid
		wait $pid 2>/dev/null
		ok "make $goal, SIG$signal: no process is left" await none_marked
		ok "nor does the run continue" await grep -qx 'ended by SIGTERM' "$tmp/out"
	done
done

# KEEP=1: the folder of a script's test is not removed
printf '. %q\nok "a test" touch "$tmp/file"\n' "$root/tests/support/tap.sh" >"$tmp/keeps.sh"
mkdir "$tmp/folders"
TMPDIR=$tmp/folders bash "$tmp/keeps.sh" >"$tmp/out"
is "a test's folder is removed at its end" "$(ls "$tmp/folders")" ""
TMPDIR=$tmp/folders KEEP=1 bash "$tmp/keeps.sh" >"$tmp/out"
folder=$(sed -n 's/^# folder: //p' "$tmp/out")
ok "with KEEP=1 it stays, and its path is printed" test -e "$folder/file"
