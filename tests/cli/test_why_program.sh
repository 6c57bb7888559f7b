#!/bin/bash
# Why a benchmark program on a CPU lost: it has no profile, so the command names none, and code that only moved is a possible reason.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
fw() { "$bin/flopwatch" --server "http://127.0.0.1:$(port)" "$@"; }
bench() { echo "echo '{\"cell\":\"row\",\"ms\":[$1,$1,$1]}'" >"$tmp/lines/bench.sh"; }

new_lines_repo
bench 1.00
commit lines "first"
push lines main
write_config "sandbox: none" "workers: [{name: cpu, command: [flopwatch-worker, serve], device: cpu}]" \
	"repos: [{name: lines, url: \"$tmp/lines.git\"}]"
start_daemon || exit 1
ok "the first push is measured" fw wait main --timeout 150 --quiet

branch lines slow main
bench 1.10
commit lines "loses 10 %"
push lines slow
fails "a push that lost" 3 fw wait slow --timeout 150 --quiet
moved='; code that only moved may be the reason: doc/howto/noisy-machine.md#code-placement'
why="why: not known: benchmark programs are profiled only on a GPU; changed: bench.sh; see git diff $(git -C "$tmp/lines" rev-parse main | cut -c1-12) $(head_of lines | cut -c1-12)"
is "its cause is not known, and names no command that cannot help" "$(grep '^why: ' <<<"$out")" "$why$moved"
is "why of the branch says the same" "$(fw why slow | grep '^why: ')" "$why$moved"
like "so does the page" "$(curl -s "http://127.0.0.1:$(port)/comparisons/2")" '<b>Why:</b> not known: benchmark programs are profiled only on a GPU; .*noisy-machine\.md#code-placement'
fails "a profile of it is not supported" 1 fw profile C2 --timeout 100
like "and prints that" "$out" 'A program shows only its times, and profiles need a module$'

branch lines slower main
bench 1.60
commit lines "loses 38 %"
push lines slower
fails "a push that lost much" 3 fw wait slower --timeout 150 --quiet
unlike "has another reason than where its code is" "$out" 'only moved'
