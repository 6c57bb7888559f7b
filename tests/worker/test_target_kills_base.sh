#!/bin/bash
# A target that ends the process in its base's call is rejected, by any means; a base that crashes by itself, and a runner that
# another process on this machine kills, blame no side.
# Runs beside three others.
. "$(dirname "$0")/../support/tap.sh"
. "$root/tests/support/integrity.sh"

short_writes
for how in segv term kill exit lost thread; do
	caught "cheat_end_$how" good 'rejected crash' '^base: .*alone both sides pass their check' device
done
# An audit needs a gain that a busy machine may hide: then repeat once.
is_caught() {
	forward plodding "$1"
	[ "$(cell '.role, .verdict, .class')" = "device rejected crash" ]
}
for how in audit audit_exit; do
	ok "cheat_end_$how is caught" await is_caught "cheat_end_$how"
	like "cheat_end_$how: the reason is named" "$(cell .detail)" '^base: .*alone both sides pass their check'
done
forward crash_run good
is "a base that crashes alone is no yardstick" "$(cell '.role, .verdict, .class')" "base not_comparable crash"

# ---- killed once, by this script
real_writes
runner_below() { # pid of a process: that of its current runner
	local more=$1
	while more=$(pgrep -d, -P "$more"); [ -n "$more" ]; do
		pgrep -n -x flopwatch-runne -P "$more" && return
	done
	return 1
}
forward good honest_online &
compares=$!
runner=$(await runner_below $compares)
like "a runner is there" "$runner" '^[1-9][0-9]*$' && kill -KILL "$runner"
wait $compares
unlike "a runner that another process kills blames no side" "$(cat "$tmp/json" "$tmp/err")" 'rejected'
