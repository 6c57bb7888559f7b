#!/bin/bash
# A server that answers 503 or 429: each list ends with one line and exit status 1, and a list of which only a part is refused names it.
. "$(dirname "$0")/../support/tap.sh"
server_pid=""
end_server() {
	[ -z "$server_pid" ] || kill "$server_pid" 2>/dev/null
	wait "$server_pid" 2>/dev/null
	server_pid=""
}
serve() { # STATUS [DETAIL] [-- PATH=JSON...]
	end_server
	rm -f "$tmp/port"
	python3 "$root/tests/support/refusing.py" "$tmp/port" "$@" &
	server_pid=$!
	await test -s "$tmp/port"
	url=http://127.0.0.1:$(cat "$tmp/port")
}
fw() {
	out=$("$bin/flopwatch" --server "$url" "$@" 2>&1)
	status=$?
}
unset FLOPWATCH_TOKEN
export XDG_CONFIG_HOME=$tmp

lists=("status --all" "status --all --json" "jobs" "jobs --json" "alerts" "devices" "notifications" "audit" "history x" "log 1" "token list"
	"approve" watch "why A1" "export C1" "export --all $tmp/all" "reproduce C1" "peer show" "calibrate show" "open A1" "wait J1" "pause x" "judge --again C1")
serve 503 "the daemon is starting"
for verb in "${lists[@]}"; do
	fw $verb
	is "503 with a reason: $verb" "$status $out" "1 flopwatch: the daemon is starting"
done
serve 503
for verb in "${lists[@]}"; do
	fw $verb
	is "503 of a proxy: $verb" "$status $out" "1 flopwatch: $url answers with status 503: the daemon is not available now; try again later"
done
serve 429 "the limit of 5 requests per minute is reached"
fw status --all
is "429: it waits five times" "$(grep -c 'waiting 1 s$' <<<"$out")" 5
is "and ends" "$status $(tail -n 1 <<<"$out")" "1 flopwatch: the limit of 5 requests per minute is reached"
fw watch
is "a stream is not repeated" "$status $out" "1 flopwatch: the limit of 5 requests per minute is reached"
serve 429
fw completion branches
is "completions are silent" "$status $out" "0 "

none='{"items":[]}'
row='{"items":[{"repo":"kernels","branch":"b","display":"b","job":{"id":1,"state":"queued"}}]}'
serve 503 "the disk is full" -- "/api/v1/branches=$row"
fw status --all
is "status without its other lists names them" "$status $(grep WARNING <<<"$out")" "0 WARNING the alerts are unknown: the disk is full
WARNING the queue is unknown: the disk is full
WARNING no job begins: the disk is full
WARNING the repositories and the workers are unknown: the disk is full"
like "and has the branches" "$out" '^1 branch'
serve 500 "no such table" -- "/api/v1/branches=$none" "/api/v1/alerts=$none" "/api/v1/repos=$none" "/healthz=ok"
fw status --all
is "one that is refused is named alone" "$(grep WARNING <<<"$out")" "WARNING the workers are unknown: no such table"
serve 404 "there is no such list" -- "/api/v1/branches=$none" "/api/v1/alerts=$none" "/api/v1/repos=$none" "/healthz=ok"
fw status --all
is "one that an older daemon does not have is not" "$(grep -c WARNING <<<"$out")" 0
serve 503 "the disk is full" -- '/api/v1/jobs={"items":[{"id":1,"state":"queued"}]}'
fw jobs
is "flopwatch jobs names the lists with the reasons why jobs wait" "$status $(grep -c 'are unknown: the disk is full' <<<"$out") $(grep -c 'the devices and the workers' <<<"$out")" "0 2 1"
end_server
