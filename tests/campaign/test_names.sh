#!/bin/bash
# Reliability campaign, part 6: hostile branches, authors, subjects, rows and logs in each output (names.py).
# Attacks: web daemon/cli daemon/lib daemon/flopwatchd daemon/git db
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
ln -s "$bin" "$tmp/bin"
new_lines_repo
echo "echo '{\"cell\":\"one\",\"ms\":[1,1,1]}'" >"$tmp/lines/bench.sh"
commit lines "first"
push lines main
write_config "sandbox: none" "workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]" \
	"repos: [{name: lines, url: $tmp/lines.git, notes: write}]"
ok "no text of a branch is more than text" python3 "$root/tests/campaign/names.py" "$tmp"
grep -E '^(campaign|# )' <<<"$out"
