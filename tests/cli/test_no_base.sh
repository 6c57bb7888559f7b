#!/bin/bash
# A commit that is compared with itself: because its parent cannot be the base, or because a user named it twice.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
fw() { "$bin/flopwatch" --server "http://127.0.0.1:$(port)" "$@"; }
new_lines_repo
mv "$tmp/lines/.flopwatch.yaml" "$tmp/manifest"
echo 'echo "{\"cell\":\"row\",\"ms\":[1,1,1]}"' >"$tmp/lines/bench.sh"
commit lines "before flopwatch"
mv "$tmp/manifest" "$tmp/lines/.flopwatch.yaml"
commit lines "a manifest"
push lines main
write_config "sandbox: none" "workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]" \
	"repos: [{name: lines, url: \"$tmp/lines.git\"}]"
start_daemon || exit 1
ok "the first push is measured" fw wait main --timeout 150 --quiet
like "its parent is no base, for the reason that is printed with it" "$out" '^no base: the commit is compared with itself to learn the noise; its base cannot be used: commit [0-9a-f]{12} has neither \.flopwatch\.yaml'
is "once" "$(grep -cE 'no base|cannot be used' <<<"$out")" 1
like "the list of branches links to its comparison" "$(fw status | tail -n 1)" '^next: flopwatch open C1$'
ok "a commit that is named twice" fw compare main main --repo lines --timeout 150 --quiet
like "has the base that was named" "$out" '^both sides are one commit: every change is noise of this machine$'
unlike "so that none is missed" "$out" 'no base|cannot be used'

# two benchmarks, of which the base has neither
new_repo_lines() { rm -rf "$tmp/lines" "$tmp/lines.git"; new_lines_repo; }
stop_daemon
new_repo_lines
echo 'echo "{\"cell\":\"row\",\"ms\":[1,1,1]}"' >"$tmp/lines/bench.sh"
rm "$tmp/lines/.flopwatch.yaml"
commit lines "before flopwatch"
printf 'flopwatch: 1\nbenchmarks:\n  %s: {command: [sh, bench.sh], reader: flopwatch}\n  %s: {command: [sh, bench.sh], reader: flopwatch}\n' one two >"$tmp/lines/.flopwatch.yaml"
commit lines "two benchmarks"
push lines main
rm -rf "$tmp/state"
start_daemon || exit 1
ok "two benchmarks are measured" fw wait main --timeout 150 --quiet
is "and have no base for one reason" "$(grep -cE 'no base|cannot be used' <<<"$out")" 1
is "which the log of each job has" "$(sql "SELECT count(*) FROM job_log WHERE line LIKE 'measured against itself, because its base cannot be used: commit%'")" 2
