#!/bin/bash
# Processes that a module leaves running are detected, whatever it does to hide them.
# Runs beside three others.
. "$(dirname "$0")/../support/tap.sh"
. "$root/tests/support/integrity.sh"

caught cheat_dead_main_thread good 'rejected escaped' '^left process [0-9]+ running when its call was done'
caught cheat_blind good 'rejected (escaped|slowed)' 'which cannot be undone|a process that the runner did not find' '(target|device)'
caught cheat_sibling good 'rejected escaped' '^(base: )?a process that the runner did not find exists next to it after a call' '(target|device)'
caught cheat_orphan good 'rejected escaped' '^(base: )?a process that the runner did not find exists next to it after a call' '(target|device)'
# a parent that is the worker itself
if [ "$("$worker" probe --device cpu --sandbox none >/dev/null 2>&1; echo $?)" = 0 ]; then
	forward good cheat_sibling --sandbox none
	like "cheat_sibling is caught without a sandbox" "$(cell '.verdict, .class')" '^rejected escaped$'
fi
for module in child exits pool threads openmp; do
	believed good "honest_$module"
done
