#!/bin/bash
# Reports lack no row in silence: a check that cannot be made, printed or read is a failure with its reason. A lack of memory or
# descriptors here is named as such, never as a fault of the daemon.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
gcc -std=gnu17 -O1 -shared -fPIC -o "$tmp/at_call.so" "$root/tests/support/at_call.c" -ldl
new_repo kernels
push kernels main
write_config
cd "$tmp" || exit 1

# ---- a daemon whose lists fail ----
cat >stub.py <<-'PY'
	import http.server, json, pathlib, sys
	class Answer(http.server.BaseHTTPRequestHandler):
	    def do_GET(self):
	        self.close_connection = True
	        path = self.path.split("?")[0]
	        status = pathlib.Path("workers").read_text().strip() if path == "/api/v1/workers" else "200"
	        body = "ok" if path == "/healthz" else json.dumps({"items": [], "next_cursor": None})
	        if status != "200":
	            body = json.dumps({"status": int(status), "title": "no", "detail": "the list is unknown: out of memory"})
	        self.wfile.write(f"HTTP/1.0 {status} X\r\n\r\n{body}".encode())
	    def log_message(self, *_):
	        pass
	server = http.server.HTTPServer(("127.0.0.1", 0), Answer)
	part = pathlib.Path("stub.part")
	part.write_text(str(server.server_port))
	part.rename("stub.port")
	server.serve_forever()
PY
echo 200 >workers
python3 stub.py &
on_exit kill $!
await test -f stub.port
fw() { "$bin/flopwatch" --server "http://127.0.0.1:$(cat stub.port)" "$@"; }
echo 500 >workers
fw doctor none.yml >said 2>&1
like "a list that the daemon cannot answer is a failure of the doctor's" "$(cat said)" '^fail  worker      the list is unknown: out of memory$'
echo 404 >workers
fw doctor none.yml >said 2>&1
unlike "one that an older daemon does not have is none" "$(cat said)" 'the list is unknown'
ok "the daemon answers then" grep -q '^ok    daemon ' said

# ---- the checks of a configuration ----
mkdir cut
cp "$bin/flopwatch" cut
cat >cut/flopwatchd <<-'FAKE'
	#!/bin/sh
	[ "$3" = --probe ] || exit 0
	echo '{"what":"folder","health":"ok","text":"state_dir"}'
	echo '{"what":"port","heal'
	FAKE
chmod +x cut/flopwatchd
fails "a check that cannot be read" 1 cut/flopwatch config check c.yml
like "is named" "$out" '^flopwatch: flopwatchd printed `\{"what":"port","heal`, which is not a check$'
like "after the others" "$out" '^ok    folder'
fails "checks that cannot be written" 1 sh -c "'$bin/flopwatchd' --config c.yml --probe >/dev/full"
is "end with a line" "$out" "flopwatchd: cannot write all results to standard output"
faulty() { AT_CALL=$1 LD_PRELOAD=$tmp/at_call.so "${@:2}"; }
fails "a configuration that cannot be read now" 1 faulty "open 1 ENOMEM-once /c.yml" "$bin/flopwatchd" --config "$tmp/c.yml" --check-config
is "is no mistake in it" "$out" "flopwatchd: cannot read the configuration $tmp/c.yml: Cannot allocate memory"
fails "nor at the start of the daemon, which systemd then starts again" 1 faulty "open 1 EMFILE-once /c.yml" "$bin/flopwatchd" --config "$tmp/c.yml"

# ---- each allocation of a command ----
calls() { # command...: how many allocations it makes
	rm -f seen
	AT_CALL="all 100000000 EIO" AT_CALL_SEEN=$tmp/seen LD_PRELOAD=$tmp/at_call.so "$@" >/dev/null 2>&1
	tr '\0' '\n' <seen | grep -c '^memory$'
}
# A command without memory prints all, or ends with 1 and one line that does not name the daemon. All but the last calls are those
# with which libcurl starts in each command.
without() { # name, how many of the last calls, every, command...
	local name=$1 many=$2 every=$3 n status said bad="" last tried=0
	shift 3
	"$@" >wanted 2>/dev/null
	status=$?
	last=$(calls "$@")
	for ((n = last - many; n <= last; n += every)); do
		faulty "memory $n ENOMEM-once" "$@" >printed 2>errors
		said=$?
		tried=$((tried + 1))
		grep -q 'is it running' printed errors && bad+="$n blames the daemon: $(cat printed errors) "
		[ $said = $status ] && cmp -s printed wanted && continue
		[ $said = 1 ] && [ "$(grep -c 'memory' errors)" = 1 ] && continue
		grep -q '^WARNING .* unknown: this machine lacks memory' printed && continue
		bad+="$n: status $said: $(diff wanted printed | head -n 3) $(cat errors) "
	done
	ok "$name: each of $tried failed allocations, of $last" test $tried -gt 5
	is "is printed whole, or is an error" "$bad" ""
}
echo 200 >workers
write_config 'workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]' 'repos: []'
without "config check" 160 4 "$bin/flopwatch" config check "$tmp/c.yml"
without "alerts" 90 2 fw alerts

# ---- each descriptor of a request ----
for n in {1..8}; do faulty "descriptor $n EMFILE" fw alerts; done >said 2>&1
ok "a request without a socket" grep -q 'this machine lacks memory or file descriptors for a request to ' said
is "is not a daemon that does not run" "$(grep 'is it running' said)" ""
