#!/bin/bash
# tests/run.sh itself, on a tree of its own with small tests: what it counts, and that neither it nor a test leaves a process behind.
. "$(dirname "$0")/../lib/tap.sh"
tree=$tmp/tree
mkdir -p "$tree/tests/room" "$tree/tests/lib"
cp "$root/tests/run.sh" "$tree/tests/"
cp "$root/tests/lib/supervise.py" "$tree/tests/lib/"
printf '.PHONY: all modules test-programs build/tests/browser/pages_demo\nall modules test-programs build/tests/browser/pages_demo:\n\t@:\n' >"$tree/Makefile"
small() { # name, lines
	printf '%s\n' "${@:2}" >"$tree/tests/room/test_$1.sh"
}
run() { "$tree/tests/run.sh" "$@" </dev/null; }
# Processes of this test alone: the mark is an argument of theirs.
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

# a daemon of its own session, which the test forgets
small leaves 'echo "ok 1 - a"' "setsid bash -c 'exec -a $mark sleep 1000' >/dev/null 2>&1 &" 'exit 0'
fails "a test that leaves a process behind" 1 run leaves
like "has failed, with the process named" "$out" "not ok - process [0-9]+ was left behind: $mark 1000"
ok "and the process is gone" none_marked

small orphan '(sleep 0.2 & echo $! >pid)' 'while kill -0 "$(cat pid)" 2>/dev/null; do sleep 0.05; done' 'echo "ok 1 - it has ended"'
ok "a process that a test did not start itself is reaped when it ends" run orphan

for signal in TERM INT HUP KILL; do
	small waits "setsid bash -c 'exec -a $mark sleep 1000' &" "bash -c 'exec -a $mark sleep 1000' &" "touch $tmp/begun" 'wait'
	rm -f "$tmp/begun"
	# a shell in the background ignores SIGINT, and what it starts could not be given it back
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
