#!/bin/bash
# Reliability campaign, part 2: power cuts. What a disk may have after each sync of a day's work, with sectors that are
# missing or torn (power.py).
# Attacks: db daemon/lib daemon/flopwatchd
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
mkdir "$tmp/disk" "$tmp/bin"
gcc -std=gnu17 -O1 -shared -fPIC -o "$tmp/journal.so" "$root/tests/campaign/journal.c" -ldl
cp "$bin/flopwatchd" "$tmp/bin"
ln -s "$bin"/flopwatch-* "$tmp/bin"
ln -s disk/state "$tmp/state"
new_lines_repo
echo "echo '{\"cell\":\"one\",\"ms\":[1,1,1]}'" >"$tmp/lines/bench.sh"
commit lines "first"
push lines main
write_config "sandbox: none" "keep_samples: 0 s" "workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]" \
	"repos: [{name: lines, url: $tmp/lines.git}]" 'webhooks: [{name: nobody, url: "http://127.0.0.1:1/", comparisons: true}]'
sed -i "s#^state_dir: .*#state_dir: $tmp/disk/state#" "$tmp/c.yml"
ok "what was acknowledged survives each power cut" python3 "$root/tests/campaign/power.py" "$tmp"
grep -E '^(campaign|# )' <<<"$out"
