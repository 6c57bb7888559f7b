#!/bin/bash
# State that a module leaves does not slow the base's calls, and a base that is slower next to it than alone is not used.
# Runs beside three others.
. "$(dirname "$0")/../support/tap.sh"
. "$root/tests/support/integrity.sh"

# Found after each timed call, reported, and set back: the times are correct again, so no other finding is reported.
set_back() { # module, base, what
	forward "$2" "$1"
	like "$1: $3 is named and set back" "$(cat "$tmp/err")" "^note: target: changed $3, which was set back"
	like "$1: its times are taken" "$(cell '.verdict, .class')" '^(unchanged|improvement|regression|undecided) $'
}
set_back cheat_alarm good 'an interval timer'
like "its handler, too" "$(cat "$tmp/err")" '^note: target: changed the handler of signal 14, which was set back'
set_back cheat_timer good 'a timer'
set_back cheat_omp honest_openmp 'OpenMP threads from 2 to 1'

# Processes that run during the base's calls, with any parent.
caught cheat_fork good 'rejected escaped' '^left process [0-9]+ running when its call was done'

# A priority stays where the process may not raise it again.
forward good cheat_nice
like "cheat_nice: a priority is set back, or its times are not believed" "$(cell '.role, .verdict, .class') $(cat "$tmp/err")" \
	"(^target rejected slowed|nice value, which was set back)"

short_writes
# These leave no state after a call. Only the base's times show it, unless the machine is too busy for a finding: then repeat
# once.
is_caught() { # module
	forward good "$1"
	[ "$(cell '.role, .verdict, .class')" = "target rejected slowed" ]
}
for module in saboteur first_call constructor; do
	ok "cheat_$module is caught" await is_caught "cheat_$module"
	like "cheat_$module: the reason is named" "$(cell .detail)" "times the base's speed next to it, .* when each is alone: the base is slowed"
done

# ---- honest ones with similar behaviour ----
for module in lists pool signal constructor child settings curious content timer; do
	case $module in lists | constructor | curious | content) short_writes ;; *) real_writes ;; esac
	believed good "honest_$module"
	is "honest_$module: no note is written" "$(grep -c '^note: target' "$tmp/err")" 0
done
short_writes
backward good honest_recomputes
not_accused "honest_recomputes: a backward that recomputes is not rejected"
