#!/bin/bash
# Modules whose results are right wherever somebody compares them: by knowing which inputs are compared, by computing after the
# call, by reordering an earlier result, or by stopping the comparisons.
# Runs beside three others.
. "$(dirname "$0")/../support/tap.sh"
. "$root/tests/support/integrity.sh"

short_writes
caught cheat_known good 'failed wrong' '^(with other inputs on the same plan|between the timed calls|after the timed calls): '
for module in copies restored_import random clock_import libc_clock; do
	caught "cheat_$module" good 'rejected forged' '^changed (the functions that the runner calls|code that was loaded before it)'
done
real_writes
caught cheat_answer_thief good '(rejected escaped|failed timeout)' '(exists next to it after a call|did not end within)' '(target|device)'
caught cheat_deaf good '(rejected escaped|failed crash|rejected crash)' '.' '(target|device)'

short_writes
# Not accused, and no faster than its base by more than a busy machine can explain: then repeat once.
gains_nothing() { # module, options...
	forward good "$@"
	[ "$(cell '.class, .verdict != "improvement", .change_pct < 50')" = " true true" ]
}
# Rows of inputs that only change places would have a softmax that does so, too: here it has to be computed again.
ok "cheat_rolls: nothing of its first call is used again" await gains_nothing cheat_rolls

real_writes
# As a signal handler for pages that are read, which the runner removes.
caught cheat_protected_pages good '(failed (crash|wrong)|rejected crash)' '.' '(target|device)'
if "$worker" probe --device cpu --sandbox required >/dev/null 2>&1; then
	ok "cheat_faults: no thread fills pages that are read" await gains_nothing cheat_faults --sandbox required
else
	skip "no thread fills pages that are read" "bubblewrap does not work here"
fi

# What makes the base take a slower way is set back.
forward honest_threads cheat_no_threads
like "cheat_no_threads: a limit is named and set back" "$(cat "$tmp/err")" '^note: target: changed a limit of the process, which was set back'
forward good cheat_slack
like "cheat_slack: the exactness of sleeps is set back" "$(cat "$tmp/err")" "^note: target: changed how exactly the measuring thread's sleeps end, which was set back"

short_writes
for module in limits library compiles file random_order; do
	believed good "honest_$module"
done
