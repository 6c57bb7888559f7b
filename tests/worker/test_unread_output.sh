#!/bin/bash
# An output that the worker cannot read for a failure of its machine is no fault of the program: the job runs again.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
gcc -std=gnu17 -O1 -shared -fPIC -o "$tmp/at_call.so" "$root/tests/support/at_call.c" -ldl
new_lines_repo
cat >"$tmp/lines/.flopwatch.yaml" <<'YAML'
flopwatch: 1
benchmarks:
  lines: {command: [sh, bench.sh], reader: flopwatch, outputs: [times.json], budget_s: 60, timeout_s: 60}
YAML
cat >"$tmp/worker" <<-EOF
	#!/bin/sh
	if [ ! -e "$tmp/healed" ]; then
		export AT_CALL="read 1 EIO-once /times.json" LD_PRELOAD=$tmp/at_call.so
	fi
	exec "$bin/flopwatch-worker" "\$@"
EOF
chmod +x "$tmp/worker"
printf 'echo "{\\"cell\\":\\"one\\",\\"ms\\":[1,1,1]}" >times.json\n' >"$tmp/lines/bench.sh"
commit lines "first"
push lines main
sha=$(head_of lines)
write_config "sandbox: none" "workers: [{name: sim, command: [$tmp/worker, serve], device: sim}]" "repos: [{name: lines, url: $tmp/lines.git}]"
start_daemon || exit 1
unread() { [ "$(sql "SELECT count(*) FROM job_log WHERE line LIKE 'queued: %cannot read the output times.json: Input/output error%'")" -gt 0 ]; }
ok "an output that the worker cannot read sends the job back" await unread
touch "$tmp/healed"
is "the commit is judged later" "$(result_of "$sha")" "done unchanged"
