#!/bin/bash
# `make demo` on the CPU: a slower branch is a regression with its alert, a harmless one is not, and it ends by itself.
# Runs beside three others.
. "$(dirname "$0")/../support/tap.sh"

# is_ours of a process that is ending, whose command line is empty: `sleep` never collects its child
eval "$(sed -n '/^is_ours()/,/^}/p' "$root/etc/demo.sh")"
ends() (
	set -u
	bash -c 'sleep 0.2 & echo $! >"$1"; exec sleep 5' - "$tmp/ended" &
	parent=$!
	for _ in $(seq 100); do grep -qs '^State:.*zombie' "/proc/$(cat "$tmp/ended" 2>/dev/null)/status" && break; sleep 0.02; done
	grep -qs '^State:.*zombie' "/proc/$(cat "$tmp/ended")/status" || { echo "no process is ending"; exit 2; }
	is_ours "$(cat "$tmp/ended")" && echo ours || echo other
	kill "$parent"
)
state=$tmp like "a process that is ending is not the daemon" "$(ends 2>&1)" '^other$'

# One thread: where others run, threads wait for each other for most of a call, and its times need more runs.
demo() { FLOPWATCH_CPU_THREADS=1 DEMO_EXIT=1 DEMO_DEVICE=cpu DEMO_DIR=$tmp/demo timeout -k 5 500 "$root/etc/demo.sh"; }
ok "the demo ends as it should" demo
like "and prints that" "$out" '== as expected: slower is a regression with its alert, harmless is not'
like "the loss is shown in a table" "$out" 'attention/[a-z0-9_./]*ward .* -[2-9][0-9]\.[0-9]+ % '
like "and as an alert" "$out" 'A1 +slower is (up to )?[0-9.]+ % slower in [0-9]+ cells?'
is "nothing runs on" "$(pgrep -f "flopwatchd --config $tmp/demo/" | wc -l)" 0
