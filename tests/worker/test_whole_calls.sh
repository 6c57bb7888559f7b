#!/bin/bash
# If whole calls decide, bind included, watched calls and those of the supervisor's clock are made like all others.
# Runs beside three others.
. "$(dirname "$0")/../support/tap.sh"
. "$root/tests/support/integrity.sh"
sed -i 's/^seed:/decide: call\nseed:/' "$tmp/suite.yaml"

short_writes
caught cheat_bound good 'failed wrong' '^between the timed calls: '

# A gain of bind alone counts, and the audit measures it, too.
forward slow_bind good
is "a target that binds sooner is far faster, and believed" "$(cell '.class, .change_pct > 100')" " true"

for module in plans persist constructor threads openmp; do
	case $module in threads | openmp) real_writes ;; esac
	believed good "honest_$module"
done
