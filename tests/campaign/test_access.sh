#!/bin/bash
# Reliability campaign, part 4: each operation and page by each credential and from each origin (access.py).
# Attacks: web daemon/flopwatchd/http_frontend.c db/token.c
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
ln -s "$bin" "$tmp/bin"
new_lines_repo
echo "echo '{\"cell\":\"one\",\"ms\":[1,1,1]}'" >"$tmp/lines/bench.sh"
commit lines "first"
push lines main
write_config "sandbox: none" "access: token" "workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]" \
	"repos: [{name: lines, url: $tmp/lines.git}]"
ok "each request has the answer of its scope" python3 "$root/tests/campaign/access.py" "$tmp"
grep -E '^(campaign|# )' <<<"$out"
