#!/bin/bash
# `make demo` on the CPU: a slower branch is a regression with its alert, a harmless one is not, and it ends by itself.
# Runs beside one other.
. "$(dirname "$0")/../support/tap.sh"
demo() { DEMO_EXIT=1 DEMO_DEVICE=cpu DEMO_DIR=$tmp/demo timeout -k 5 500 "$root/etc/demo.sh"; }
ok "the demo ends as it should" demo
like "which it says" "$out" '== as expected: slower is a regression with its alert, harmless is not'
like "the loss is shown in a table" "$out" 'attention/[a-z0-9_./]*ward .* -[2-9][0-9]\.[0-9]+ % '
like "and as an alert" "$out" 'A1 +slower is [0-9.]+ % slower in [0-9]+ cells?'
is "nothing runs on" "$(pgrep -f "flopwatchd --config $tmp/demo/" | wc -l)" 0
