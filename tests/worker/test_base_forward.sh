#!/bin/bash
# O and LSE that a backward is timed on are correct in the process that times it, and stay as accepted.
# Runs beside three others.
. "$(dirname "$0")/../support/tap.sh"
. "$root/tests/support/integrity.sh"
short_writes

# A forward of the base that is wrong only next to its target: gradients of an infinite LSE are zeros, which are fast to write.
# An audit needs a gain that a busy machine may hide: then repeat once.
is_caught() { # module, base, class
	backward "$2" "$1"
	[ "$(cell '.role, .verdict, .class')" = "device rejected $3" ]
}
spoiled() { # module, base, class, reason
	ok "$1 is caught" await is_caught "$1" "$2" "$3"
	like "$1: the reason is named" "$(cell .detail)" "$4; alone both sides pass their check\$"
}
spoiled cheat_degenerate good wrong '^base: its forward: LSE\[query [0-9]+, head [01]\] is inf, should be .*'
spoiled cheat_degenerate_second good wrong '^base: its forward: with other inputs: LSE\[query [0-9]+, head [01]\] is inf, should be .*'
spoiled cheat_degenerate_audit plodding wrong '^base: its forward: LSE\[query [0-9]+, head [01]\] is inf, should be .*'
spoiled cheat_degenerate_late good oob '^the data that LSE is restored from has changed'

# ---- honest ones, whose forwards and backwards have separate memory, threads and plans ----
for module in packs recomputes persist workspace openmp memory; do
	case $module in openmp) real_writes ;; *) short_writes ;; esac
	backward good "honest_$module"
	not_accused "honest_$module: its backward is not rejected"
done
