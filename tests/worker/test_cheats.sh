#!/bin/bash
# Kernels that cheat are detected, each for its own reason; honest fast ones are not accused. Real processes, the real clock.
# Runs beside three others.
. "$(dirname "$0")/../support/tap.sh"
. "$root/tests/support/integrity.sh"

# ---- more than ten ways to fake speed ----
short_writes
caught cheat_cached good 'failed wrong' '^with another Q on the same plan: '
caught cheat_stale good 'failed wrong' '^with other inputs on the same plan: '
caught cheat_lazy good 'failed wrong' '^(between|after) the timed calls: '
caught cheat_partial good 'failed wrong' '^(between|after) the timed calls: '
caught cheat_mode good 'failed wrong' '^(between|after) the timed calls: '
real_writes
# On a busy machine its thread may run in the base's calls: then no side is blamed, and the cell is rejected. A copy taken right
# after a timed call may lack what the late thread has not written yet: then the result is wrong.
late='(after the call was done: part of the work is not timed|^between the timed calls: )'
caught cheat_thread good '(rejected escaped|failed wrong)' "$late" '(target|device)'
short_writes
caught cheat_exit good 'failed crash' 'ended the process \(exit 0\) before its (timings|result)'
caught cheat_leave good 'failed crash' 'ended the measuring thread by calling pthread_exit'
caught cheat_records good 'rejected forged' "wrote into the runner's records"
caught cheat_scribble good 'failed oob' '^wrote into its input V'
caught cheat_workspace good 'failed oob' '^wrote into the workspace of base'
caught cheat_clock good 'rejected clock' "the supervisor's clock"

# ---- ten honest ones ----
for module in openmp threads online backwards plans workspace memory persist padded; do
	case $module in openmp | threads) real_writes ;; *) short_writes ;; esac
	believed good "honest_$module"
	believed_faster "honest_$module"
done
believed_faster good
compare good honest_persist >"$tmp/json" 2>"$tmp/err"
is "backward is not rejected either" "$(jq '[.cells[] | select(.class != "")] | length' "$tmp/json")" 0

# ---- restrictions of the sandbox ----
real_writes
if "$worker" probe --device cpu --sandbox required >/dev/null 2>&1; then
	forward good prowler --sandbox required
	not_accused "a module finds no root, no setting to write, no foreign socket, no capability"
	unlike "and ran to its end" "$(cell .detail)" 'exit 4'
else
	skip "a module finds nothing open in the sandbox" "bubblewrap does not work here"
fi

# ---- from a push to the page ----
. "$root/tests/support/daemon.sh"
new_repo kernels
cp "$root"/tests/modules/cheat_*.c "$root"/tests/modules/*.h "$root/tests/modules/honest_online.c" "$tmp/kernels/kernels"
echo good >"$tmp/kernels/kernels/module"
sed -i 's/good\.c -lm/$(shell cat module).c -lm/' "$tmp/kernels/kernels/Makefile"
sed 's/directions: .*/directions: [forward]/; s/suite: one/suite: tiny/' "$tmp/suite.yaml" >"$tmp/kernels/etc/suites/tiny.yaml"
commit kernels "one cell"
write_config 'workers: [{name: cpu, command: [flopwatch-worker, serve], device: cpu}]' "repos: [{name: kernels, url: $tmp/kernels.git}]"
start_daemon
is "a daemon starts" $? 0
push kernels main
await job_ended "$(head_of kernels)"
pushed() { # module, verdict, class, reason, each a pattern: pushed to a new branch
	branch kernels "$1" main
	echo "$1" >"$tmp/kernels/kernels/module"
	commit kernels "faster than ever"
	push kernels "$1"
	await job_ended "$(head_of kernels)"
	like "push of $1: $2" "$(result_of "$(head_of kernels)")" "^done $2\$"
	api "comparisons/$(job_field "$(job_of "$(head_of kernels)")" comparison)" >"$tmp/json"
	like "$1: the comparison and its cell say so" "$(jq -r '[.verdict, .cells[0].verdict, .cells[0].failure] | join(" ")' "$tmp/json")" "^$2 $2 $3\$"
	like "$1: with the reason" "$(jq -r '.cells[0].reason' "$tmp/json")" "$4"
	is "$1: no figure is shown for it" "$(jq -r '.cells[0].change_pct' "$tmp/json")" null
}
pushed cheat_thread '(rejected|failed)' '(escaped|wrong)' "$late"
pushed cheat_records rejected forged "wrote into the runner's records"
pushed cheat_lazy failed wrong '^(between|after) the timed calls: '
pushed cheat_clock rejected clock "the supervisor's clock"
fails "the command line reports it, and no success" 1 "$bin/flopwatch" wait cheat_clock --repo kernels --server "http://127.0.0.1:$(port)"
like "with its class" "$out" "rejected: clock"
like "and the reason" "$out" "by the supervisor's clock"
like "the page reports it" "$(curl -s "http://127.0.0.1:$(port)/comparisons/$(jq -r .id "$tmp/json")")" "rejected.*supervisor.*s clock"
stop_daemon
