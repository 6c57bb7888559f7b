#!/bin/bash
# flopwatch-send against a real receiver on loopback: delivered, rejected, stalled, endless, and addresses it must not call.
. "$(dirname "$0")/../support/tap.sh"
cat >"$tmp/receiver.py" <<'PY'
import http.server, json, os, sys, time

class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        with open(sys.argv[1] + "/got", "a") as log:
            log.write(json.dumps({"method": self.command, "path": self.path, "headers": dict(self.headers), "body": body.decode()}) + "\n")
        if self.path == "/stall":
            time.sleep(60)
            return
        if self.path == "/endless":
            self.send_response(200)
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b"x" * 65536)
            except OSError:
                return
        if self.path == "/drip":
            self.send_response(200)
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b"x")
                    time.sleep(0.2)
            except OSError:
                return
        if self.path == "/limited":
            self.send_response(403)
            self.send_header("x-ratelimit-remaining", "0")
            self.send_header("x-ratelimit-reset", str(int(time.time()) + 100))
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if self.path == "/comments":
            body = json.dumps([{"id": 4, "body": "one\nsay it \r\nx", "user": {"login": "ann", "bio": "x"}, "created_at": "t"},
                               {"id": 5, "body": "say it twice", "user": {"login": "bob"}},
                               {"id": 6, "body": "say it", "author": {"id": 5, "username": "u" * 200}, "system": False}, 7, {"body": 3}]).encode()
            self.send_response(304 if self.headers.get("If-None-Match") == '"a"' else 200)
            self.send_header("ETag", '"a"')
            self.send_header("Link", '<http://x/?page=2>; rel="next"')
            self.send_header("ratelimit-remaining", "0")
            self.send_header("ratelimit-reset", str(int(time.time()) + 100))
            if self.headers.get("If-None-Match") != '"a"':
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.headers.get("If-None-Match") != '"a"':
                self.wfile.write(body)
            return
        if self.path == "/member":
            self.send_response(200)
            self.send_header("Content-Length", "19")
            self.end_headers()
            self.wfile.write(b'{"access_level":30}')
            return
        code = {"/ok": 200, "/accepted": 202, "/moved": 302, "/error": 500, "/gone": 410}.get(self.path, 404)
        self.send_response(code)
        if code == 302:
            self.send_header("Location", "/ok")
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_PATCH = do_POST

    def log_message(self, *args):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
server.daemon_threads = True
with open(sys.argv[1] + "/port.part", "w") as file:
    file.write(str(server.server_port))
os.rename(sys.argv[1] + "/port.part", sys.argv[1] + "/port")
server.serve_forever()
PY
python3 "$tmp/receiver.py" "$tmp" &
receiver=$!
on_exit kill "$receiver"
await test -f "$tmp/port"
port=$(cat "$tmp/port")

deliver() { # url, [allow_internal], [headers], [body]
	jq -cn --arg url "$1" --argjson allow "${2:-true}" --argjson headers "${3:-{\}}" --arg body "${4:-hello}" \
		'{url: $url, allow_internal: $allow, headers: $headers, body: $body}' | "$bin/flopwatch-send"
}
got() { wc -l <"$tmp/got" 2>/dev/null || echo 0; }

ok "--help" "$bin/flopwatch-send" --help
ok "--version" "$bin/flopwatch-send" --version
fails "an argument that is none" 2 "$bin/flopwatch-send" --now

# these run to their deadline while the others go on
deliver "http://127.0.0.1:$port/stall" >"$tmp/stall" 2>&1 &
stall=$!
deliver "http://127.0.0.1:$port/drip" >"$tmp/drip" 2>&1 &
drip=$!
began=$SECONDS
both_wait() { [ "$(got)" = 2 ]; }
await both_wait

ok "a notification" deliver "http://127.0.0.1:$port/ok" true '{"Content-Type":"application/json","X-Id":"7"}' '{"text":"\"grün\" & more"}'
like "says what the receiver said" "$out" '^\{"status":200,"duration_ms":[0-9]+,"retry_after_s":0\}$'
last=$(tail -n 1 "$tmp/got")
is "its body arrives as it is" "$(jq -r .body <<<"$last")" '{"text":"\"grün\" & more"}'
is "its headers too" "$(jq -r '.headers["Content-Type"] + " " + .headers["X-Id"]' <<<"$last")" "application/json 7"
like "it says who asks" "$(jq -r '.headers["User-Agent"]' <<<"$last")" '^flopwatch/'
ok "202 is delivered" deliver "http://127.0.0.1:$port/accepted"
fails "500 is not" 1 deliver "http://127.0.0.1:$port/error"
like "and said in a line" "$out" '^flopwatch-send: the receiver answered 500$'
fails "410 is not" 1 deliver "http://127.0.0.1:$port/gone"
before=$(got)
fails "a redirect is not followed" 1 deliver "http://127.0.0.1:$port/moved"
like "and reported" "$out" 'answered 302, and redirects are not followed'
is "one request was made" "$(got)" $((before + 1))
fails "an endless answer is cut" 1 deliver "http://127.0.0.1:$port/endless"
like "and reported" "$out" 'answer is longer than 1048576 bytes'
fails "a port without a listener" 1 deliver "http://127.0.0.1:1/"
like "is reported" "$out" '^flopwatch-send: .*127.0.0.1'
fails "a name that does not exist" 1 deliver "http://nobody.invalid/"

# ---- a machine without descriptors or memory: not the receiver's fault ----
gcc -std=gnu17 -O1 -shared -fPIC -o "$tmp/at_call.so" "$root/tests/support/at_call.c" -ldl
jq -cn --arg url "http://127.0.0.1:$port/ok" '{url: $url, allow_internal: true, headers: {}, body: "hello"}' >"$tmp/hello.json"
for n in {1..30}; do
	AT_CALL="descriptor $n EMFILE" LD_PRELOAD=$tmp/at_call.so "$bin/flopwatch-send" <"$tmp/hello.json" 2>&1 | grep -a '^flopwatch-send: '
done >"$tmp/lines"
ok "a socket that cannot be created" grep -qx 'flopwatch-send: this machine lacks memory or file descriptors for a connection: Too many open files' "$tmp/lines"
is "is never a receiver that does not answer" "$(grep -iE 'connect to|receiver' "$tmp/lines")" ""
fails "a notification that cannot be read now is sent later" 75 sh -c "'$bin/flopwatch-send' <'$tmp'"
like "and not invalid" "$out" '^flopwatch-send: cannot read the notification on standard input: Is a directory$'

before=$(got)
for host in 127.0.0.1 localhost 127.1 0177.0.0.1 0x7f000001 2130706433 '[::1]' '[::ffff:127.0.0.1]' 0.0.0.0 '[::]'; do
	fails "$host is an internal address" 1 deliver "http://$host:$port/ok" false
	like "and refused as such" "$out" 'is an internal one; set allow_internal'
done
fails "the metadata address of clouds" 1 deliver "http://169.254.169.254/latest/meta-data/" false
like "is internal" "$out" 'is an internal one'
http_proxy=http://127.0.0.1:$port fails "a proxy of the environment is not used" 1 deliver "http://10.0.0.1/ok" false
like "so the address is seen" "$out" 'is an internal one'
is "none of them was called" "$(got)" "$before"

bad() { printf '%s' "$1" | "$bin/flopwatch-send"; }
fails "no JSON" 2 bad 'url=http://x'
fails "a file" 2 bad '{"url":"file:///etc/passwd","body":""}'
like "is reported" "$out" '^flopwatch-send: notification: url must begin with http:// or https://$'
fails "a header of two lines" 2 bad '{"url":"http://x/","body":"","headers":{"A":"1\r\nB: 2"}}'
large() { { printf '{"url":"http://x/","body":"'; head -c 5000000 /dev/zero | tr '\0' x; printf '"}'; } | "$bin/flopwatch-send"; }
fails "five megabytes" 2 large
like "are too many" "$out" 'larger than 4 MiB'

wait "$stall"
is "a receiver that never answers" $? 1
wait "$drip"
is "and one that never ends" $? 1
took=$((SECONDS - began))
ok "are given up after 15 s ($took s), no sooner" test "$took" -ge 14
like "and reported" "$(cat "$tmp/stall" "$tmp/drip")" 'timed out'

# ---- forges ----
call() { # method, path
	jq -cn --arg url "http://127.0.0.1:$port$2" --arg method "$1" '{url: $url, method: $method, answer: "access_level", body: "", allow_internal: true}' | "$bin/flopwatch-send"
}
ok "GET returns a member of the response" call GET /member
is "also a number" "$(jq -r '.answer' <<<"$out") $(tail -n 1 "$tmp/got" | jq -r .method)" "30 GET"
ok "PATCH is sent" call PATCH /ok
is "as PATCH" "$(tail -n 1 "$tmp/got" | jq -r .method)" PATCH
fails "no other method is" 2 call DELETE /ok
call GET /limited >"$tmp/out" 2>/dev/null
limit=$(jq .retry_after_s "$tmp/out")
ok "the end of a forge's limit is the time of the next attempt" test "$limit" -gt 60 -a "$limit" -le 100
list() { # path, headers
	jq -cn --arg url "http://127.0.0.1:$port$1" --argjson headers "$2" '{url: $url, method: "GET", line: "say it", headers: $headers, body: "", allow_internal: true}' | "$bin/flopwatch-send"
}
ok "a list of comments" list /comments '{}'
is "is searched for a line" "$(jq -c '[.comments[] | [.line, .id, .created_at, .system, .user, .author, .imported, length]]' <<<"$out")" \
	'[[1,4,"t",null,{"login":"ann"},{},false,6],[0,6,null,false,{},{"id":5},false,6]]'
is "its next page and tag are reported" "$(jq -c '[.has_next, .etag]' <<<"$out")" '[true,"\"a\""]'
ok "as is a limit that is used up" test "$(jq .retry_after_s <<<"$out")" -gt 50
ok "a list that is still known" list /comments '{"If-None-Match":"\"a\""}'
is "is not searched again" "$(jq -c '[.status, .comments]' <<<"$out")" '[304,null]'
fails "an answer that is no list" 1 list /ok '{}'
like "is an error" "$out" 'is not a list of comments$'
