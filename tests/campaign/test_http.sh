#!/bin/bash
# Reliability campaign, part 5: requests as bytes, mutated, with two meanings, too large and slow (raw_http.py).
# Attacks: web daemon/lib daemon/flopwatchd/http_frontend.c
# Starts first.  it waits most of its time
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
ln -s "$bin" "$tmp/bin"
new_lines_repo
echo "echo '{\"cell\":\"one\",\"ms\":[1,1,1]}'" >"$tmp/lines/bench.sh"
commit lines "first"
push lines main
write_config "sandbox: none" "workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]" \
	"repos: [{name: lines, url: $tmp/lines.git}]"
ok "each request is answered or ended, and none hides another" python3 "$root/tests/campaign/raw_http.py" "$tmp"
grep -E '^(campaign|# )' <<<"$out"
