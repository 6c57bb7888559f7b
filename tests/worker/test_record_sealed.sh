#!/bin/bash
# A module cannot use the descriptors of its process to report false timings, or to find the checked rows.
# Runs beside three others.
. "$(dirname "$0")/../support/tap.sh"
. "$root/tests/support/integrity.sh"

# Each is five times slower, and would report 7.25 ms for both sides.
forward good cheat_readback
like "cheat_readback: a line cannot be taken back from the channel" "$(cell '.class, .base.median_ms != 7.25, .change_pct < -50')" '^ true true$'
forward good cheat_middle
is "cheat_middle: a seal that was seen seals nothing else" "$(cell '.role, .verdict, .class')" "target rejected forged"
like "cheat_middle: the reason is named" "$(cell .detail)" "wrote into the runner's records"

# With access to the seed it would be four times as fast as its base.
forward good cheat_task
like "cheat_task: neither task nor seed is found" "$(cell '.class, .change_pct < 100')" '^ true$'
