#!/bin/bash
# Histories of other tools: stored commit by commit, once, in their order, and not at all if a file has a mistake.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

fw() { "$bin/flopwatch" --server "http://127.0.0.1:$(port)" "$@"; }
new_repo kernels
write_config
start_daemon || exit 1
push kernels main
is "main is judged" "$(result_of "$(head_of kernels)")" "done unchanged"
stored() { sql "SELECT count(*) FROM comparison WHERE kind = 'import'"; }
hash() { printf '%040d' "$1"; }

python3 - "$tmp/data.js" <<'END'
import json, sys
entries = [{"commit": {"id": f"{n:040d}"}, "date": 1700000000000 + 1000 * n,
            "benches": [{"name": "fib", "value": 1000 + 10 * n, "unit": "ns/iter"}, {"name": "size", "value": n, "unit": "bytes"}]} for n in (2, 1, 3)]
open(sys.argv[1], "w").write("window.BENCHMARK_DATA = " + json.dumps({"entries": {"speed": entries}}, indent=1))
END
fails "a history needs a repository" 2 fw import --history "$tmp/data.js"
fails "and names its commits itself" 2 fw import --history "$tmp/data.js" --repo kernels --commit "$(hash 1)"
fails "many files are one" 2 fw import "$tmp/data.js" "$tmp/data.js" "$tmp/data.js" --repo kernels --commit "$(hash 1)"

# ---- mistakes store nothing ----
sed 's/"value": 1030/"value": "fast"/' "$tmp/data.js" >"$tmp/bad.js"
fails "a mistake in the last commit" 1 fw import --history "$tmp/bad.js" --repo kernels
line=$(grep -n '"fast"' "$tmp/bad.js" | cut -d: -f1)
like "has its line and column" "$out" "bad\\.js:$line:16: the value of fib must be a number"
fails "a good file before a bad one" 1 fw import --history "$tmp/data.js" "$tmp/bad.js" --repo kernels
printf 'commit,benchmark,unit,value\n%s,x,ms,fast\n' "$(hash 1)" >"$tmp/bad.csv"
fails "a mistake in CSV" 1 fw import --history "$tmp/bad.csv" --repo kernels
like "has its line and column, too" "$out" 'bad\.csv:2:47: `fast` is not a number'
{ echo commit,benchmark,unit,value; for n in {1..401}; do echo "$(hash 1),b$n,ms,1"; done; } >"$tmp/many.csv"
fails "more cells than a comparison has" 1 fw import --history "$tmp/many.csv" --repo kernels
like "are refused first" "$out" 'has 401 results, but a comparison at most 400'
echo '{}' >"$tmp/unknown.json"
fails "an unknown file" 1 fw import --history "$tmp/unknown.json" --repo kernels
like "lists the formats" "$out" 'unknown\.json: is not in a known history format; .* asv, bencher, github-action-benchmark, lnt, rustc-perf'
fails "an unknown repository" 4 fw import --history "$tmp/data.js" --repo nothing
is "nothing was stored" "$(stored)" 0

# ---- a history ----
ok "a history is imported" fw import --history "$tmp/data.js" --repo kernels --branch main
like "with what it leaves out" "$out" 'results in bytes are left out'
like "and a count" "$out" '^3 comparisons stored, 0 were stored before$'
is "its points are in the order of their dates" "$(api 'history?repo=kernels&branch=main&cell=fib' | jq -c '[.items[] | [.commit[39:], .median_ms]]')" \
	'[["3",0.00103],["2",0.00102],["1",0.00101]]'
is "each is compared with the one before it" "$(sql "SELECT group_concat(substr(base_sha, 40) || substr(target_sha, 40) || branch, ' ') FROM (SELECT * FROM comparison WHERE kind = 'import' ORDER BY id)")" \
	"11main 12main 23main"
is "again it stores nothing" "$(fw import --history "$tmp/data.js" --repo kernels --branch main --json 2>"$tmp/notes" | jq -c .) $(stored)" '{"comparisons":3,"new":0} 3'
printf 'commit,benchmark,suite,unit,value\n%s,x,a,ms,1\n%s,x,b,ms,1\n' "$(hash 1)" "$(hash 1)" >"$tmp/suites.csv"
ok "one commit of two suites" fw import --history "$tmp/suites.csv" --repo kernels
like "is two comparisons" "$out" '^2 comparisons stored, 0 were stored before$'
is "no side is blamed" "$(api alerts | jq '.items | length')" 0

# ---- a daemon that refuses the second request for a second ----
cat >"$tmp/limited.py" <<'END'
import http.server
class Limited(http.server.BaseHTTPRequestHandler):
    requests = 0
    def do_POST(self):
        Limited.requests += 1
        print(len(self.rfile.read(int(self.headers["Content-Length"]))), flush=True)
        refused = Limited.requests == 2
        answer = b'{"detail": "too many"}' if refused else b'{"new": true}'
        self.send_response(429 if refused else 200)
        if refused:
            self.send_header("Retry-After", "1")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
    def log_message(self, *_): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Limited)
server.timeout = 60
print(server.server_port, flush=True)
for _ in range(4):
    server.handle_request()
END
python3 "$tmp/limited.py" >"$tmp/limited" &
limited=$!
await test -s "$tmp/limited"
ok "a history that exceeds the requests per minute" "$bin/flopwatch" --server "http://127.0.0.1:$(head -n 1 "$tmp/limited")" import --history "$tmp/data.js" --repo kernels
like "waits as long as the daemon asks for" "$out" 'limit of requests per minute is reached; waiting 1 s'
like "and is stored whole" "$out" '^3 comparisons stored'
wait "$limited"
is "the refused request is sent again whole" "$(sed -n 3p "$tmp/limited")" "$(sed -n 4p "$tmp/limited")"

# ---- files of one commit each ----
for n in 5 4; do
	jq -n --arg commit "$(hash $n)" --argjson n $n '{version: 2, commit_hash: $commit, date: (1700000000000 + $n), params: {machine: "m"},
		result_columns: ["result", "params"], results: {"suite.time_sum": [[$n], []]}}' >"$tmp/$n.json"
done
ok "files of asv" fw import --history "$tmp/5.json" "$tmp/4.json" --repo kernels --suite theirs
is "in their order" "$(api 'history?repo=kernels&cell=suite.time_sum' | jq -c '[.items[] | [.commit[39:], .median_ms]]')" '[["5",5000],["4",4000]]'
is "with the name of their suite" "$(api 'comparisons?limit=1' | jq -r '.items[0].suite')" theirs
stop_daemon
is "the daemon ends in order" $? 0
