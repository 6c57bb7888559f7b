#!/bin/bash
# Reliability campaign, part 8: repositories that are broken, strange, huge or that change while they are read (repositories.py).
# Attacks: daemon/git daemon/flopwatchd/watch daemon/flopwatchd/plan daemon/model daemon/lib
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
ln -s "$bin" "$tmp/bin"
new_lines_repo
echo "echo '{\"cell\":\"one\",\"ms\":[1,1,1]}'" >"$tmp/lines/bench.sh"
commit lines "first"
commit lines "second"
push lines main
write_config "sandbox: none" "workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]" \
	"repos: [{name: lines, url: $tmp/lines.git}]"
ok "each repository has a clear state, and others are judged" python3 "$root/tests/campaign/repositories.py" "$tmp"
grep -E '^(campaign|# )' <<<"$out"
