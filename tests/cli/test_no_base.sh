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
like "the list of branches goes on to its comparison" "$(fw status | tail -n 1)" '^next: flopwatch open C1$'
ok "a commit that is named twice" fw compare main main --repo lines --timeout 150 --quiet
like "has the base that was named" "$out" '^both sides are one commit: every change is noise of this machine$'
unlike "so that none is missed" "$out" 'no base|cannot be used'
