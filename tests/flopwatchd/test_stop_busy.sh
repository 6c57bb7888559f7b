#!/bin/bash
# SIGTERM while clients read, write and wait for deferred answers: the daemon ends with status 0 each time. A request
# that is read while the daemon stops must not reach a part that is already stopped.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
new_lines_repo
echo "echo '{\"cell\":\"one\",\"ms\":[1,1,1]}'" >"$tmp/lines/bench.sh"
commit lines "first"
push lines main
write_config "sandbox: none" "workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]" \
	"repos: [{name: lines, url: $tmp/lines.git}]"
export MALLOC_PERTURB_=165 # memory that was freed is overwritten, so that its use fails
for i in 1 2 3 4 5 6; do
	start_daemon || exit 1
	: >"$tmp/clients"
	python3 "$root/tests/flopwatchd/stop_busy.py" "$(port)" "$(git -C "$tmp/lines" rev-parse main)" >"$tmp/clients" &
	clients=$!
	await grep -q answered "$tmp/clients"
	kill -TERM "$daemon_pid"
	wait "$daemon_pid"
	is "stop $i: the daemon ends with" $? 0
	kill "$clients"
	wait "$clients" 2>/dev/null || true
done
