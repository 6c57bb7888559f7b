#!/bin/bash
# Reliability campaign, part 3: each call of a daemon's operations and of every command fails in turn: memory, files, descriptors (faults.py).
# Attacks: daemon/flopwatchd daemon/cli daemon/lib db web/answer web/http
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
mkdir "$tmp/bin"
gcc -std=gnu17 -O1 -shared -fPIC -o "$tmp/at_call.so" "$root/tests/support/at_call.c" -ldl
cp "$bin/flopwatchd" "$tmp/bin"
ln -s "$bin"/flopwatch "$bin"/flopwatch-* "$tmp/bin"
new_lines_repo
echo "echo '{\"cell\":\"one\",\"ms\":[1,1,1]}'" >"$tmp/lines/bench.sh"
commit lines "first"
push lines main
branch lines slow main
echo "echo '{\"cell\":\"one\",\"ms\":[1.3,1.3,1.3]}'" >"$tmp/lines/bench.sh"
commit lines "slower"
push lines slow
git -C "$tmp/lines" checkout -q main
write_config "sandbox: none" "workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]" \
	"repos: [{name: lines, url: $tmp/lines.git}]" 'webhooks: [{name: nobody, url: "http://127.0.0.1:1/", comparisons: true}]'
ok "a failed call prints one line, and the error ends with the fault" python3 "$root/tests/campaign/faults.py" "$tmp"
grep -E '^(campaign|# )' <<<"$out"
