#!/bin/bash
# Reliability campaign, part 9: a thousand slow clients of each kind beside an honest one (clients.py).
# Attacks: web/http web/answer daemon/flopwatchd/http_frontend.c daemon/lib/loop.c
# Starts first.  it waits most of its time
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
ulimit -n 8192 2>/dev/null
ln -s "$bin" "$tmp/bin"
new_lines_repo
cat >"$tmp/lines/bench.sh" <<'SH'
seq 390 | sed 's/.*/{"cell":"cell & of a benchmark with many","ms":[1,1,1]}/'
SH
commit lines "first"
push lines main
write_config "sandbox: none" "workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]" \
	"repos: [{name: lines, url: $tmp/lines.git}]"
ok "slow clients slow down no honest one" python3 "$root/tests/campaign/clients.py" "$tmp"
grep -E '^(campaign|# )' <<<"$out"
