#!/bin/bash
# Answers of the command line for a name in two repositories, an unknown cell, and a wait in a pipe.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
fw() { "$bin/flopwatch" --server "http://127.0.0.1:$(port)" "$@"; }

new_repo kernels
push kernels main
git clone -q --bare "$tmp/kernels.git" "$tmp/others.git"
sha=$(head_of kernels)
write_config 'workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]' \
	"repos: [{name: kernels, url: $tmp/kernels.git}, {name: others, url: $tmp/others.git}]"
start_daemon || exit 1
cd "$tmp" || exit 1

for repo in kernels others; do
	fw wait main --repo $repo --timeout 600 --quiet >"$tmp/waited" 2>"$tmp/steps"
	is "main of $repo is judged" $? 0
done
is "and with --quiet there is no line" "$(wc -c <"$tmp/steps")" 0

# ---- progress in a pipe ----
branch kernels slow main
echo 'sleep 3' >"$tmp/kernels/kernels/recipe"
echo 1.06 >"$tmp/kernels/kernels/factor"
commit kernels "slower, and longer to build"
push kernels slow
begun=$SECONDS
fw wait slow --timeout 600 >"$tmp/waited" 2>"$tmp/steps"
is "waiting in a pipe ends with the verdict" $? 3
ok "there is a line" grep -qE '^J[0-9]+: (assigned|building|checking|measuring)' "$tmp/steps"
ok "and at most one in ten seconds" test "$(wc -l <"$tmp/steps")" -le $(((SECONDS - begun) / 10 + 1))

# ---- which of two repositories ----
fails "a branch of both is asked about" 2 fw wait main
is "in one line, with what to write" "$out" "flopwatch: main is in several repositories: kernels, others; name one with --repo NAME"
fails "so is a commit" 2 fw wait "$sha"
is "likewise" "$out" "flopwatch: $sha is in several repositories: kernels, others; name one with --repo NAME"
ok "the answer is taken" fw wait main --repo others --quiet
ok "for the commit, too" fw wait "${sha:0:12}" --repo kernels --quiet
which="flopwatch: main is in several repositories: kernels, others; name one with --repo NAME"
for asked in "compare $sha main" "submit main" "bisect $sha main" "peer main" "profile $sha main"; do
	fails "${asked%% *} asks likewise" 2 fw $asked
	is "with the same text" "$out" "$which"
done
fails "and so with a commit" 2 fw submit "${sha:0:12}"
is "which it names" "$out" "flopwatch: ${sha:0:12} is in several repositories: kernels, others; name one with --repo NAME"
of_all="flopwatch: 2 repositories are watched: kernels, others; name one with --repo NAME"
for asked in peer "history nope" "submit nowhere" "profile --suite tiny"; do
	fails "$asked: missing and unnamed values are requested as well" 2 fw $asked
	is "with the names to choose from" "$out" "$of_all"
done
is "a branch that one of them has is that one's" "$(job_field "$(fw submit slow --json | jq .id)" repo)" kernels

# ---- a missing cell ----
fails "history of a cell that is none" 4 fw history nope --repo kernels
like "names it" "$out" '^flopwatch: .*nope'
fails "also for a program" 4 fw history nope --repo kernels --json

# ---- --json, where the daemon has text or files ----
json_of() { # the expected condition, verb...
	local wanted=$1
	shift
	fw "$@" --json >"$tmp/json" && jq -e "$wanted" "$tmp/json" >/dev/null
}
job=$(job_of "$(head_of kernels)")
await job_ended "$(head_of kernels)"
id=$(job_field "$job" comparison)
ok "a log is JSON" json_of ".job == $job and (.log | contains(\"queued: \"))" log "$job"
ok "so is an address" json_of ".address | endswith(\"/comparisons/$id\")" open comparison "$id"
ok "so is a judgement" json_of '.judged == 1 and .changed == []' judge --again "$id"
ok "so are files that were written" json_of '.files | length > 1 and all(endswith(".csv"))' export "$id" "$tmp/exported"
is "which are there" "$(jq -r '.files[]' "$tmp/json" | xargs ls | wc -l)" "$(jq '.files | length' "$tmp/json")"

# ---- a daemon that does not answer whether jobs begin ----
cat >"$tmp/deaf.py" <<-'PY'
	import http.server, pathlib, sys
	class Answer(http.server.BaseHTTPRequestHandler):
	    def do_GET(self):
	        self.close_connection = True
	        if self.path != "/healthz":
	            self.wfile.write(b'HTTP/1.0 200 OK\r\n\r\n{"items":[],"next_cursor":null}')
	    def log_message(self, *_):
	        pass
	server = http.server.HTTPServer(("127.0.0.1", 0), Answer)
	part = pathlib.Path(sys.argv[1] + ".part")
	part.write_text(str(server.server_port))
	part.rename(sys.argv[1])
	server.serve_forever()
PY
python3 "$tmp/deaf.py" "$tmp/deaf.port" &
on_exit kill $!
await test -f "$tmp/deaf.port"
ok "a list is printed although /healthz has no answer" "$bin/flopwatch" --server "http://127.0.0.1:$(cat "$tmp/deaf.port")" jobs
like "and that the health is unknown" "$out" "^WARNING whether jobs begin is unknown: cannot reach flopwatchd at "
unlike "which is not that no job begins" "$out" "no job begins"

# ---- the noise of cells in two suites, and of an older version of one ----
cat >"$tmp/noise.py" <<-'PY'
	import http.server, json, pathlib, sys
	row = lambda suite, cell, pct, day: {"repo": "r", "suite": suite, "class": 1, "model": "m", "cell": cell, "comparisons": 2, "alarms": 0,
	    "runs": 12, "tau0_pct": 1, "mde_pct": pct, "underpowered": False, "updated_at": f"2026-01-0{day}T00:00:00.000Z"}
	rows = [row("fast", "a", 2, 3), row("slow", "a", 3, 3), row("fast", "b", 9, 1), row("fast", "b", 4, 2)]
	class Answer(http.server.BaseHTTPRequestHandler):
	    def do_GET(self):
	        self.close_connection = True
	        self.wfile.write(b"HTTP/1.0 200 OK\r\n\r\n" + json.dumps({"items": rows}).encode())
	    def log_message(self, *_):
	        pass
	server = http.server.HTTPServer(("127.0.0.1", 0), Answer)
	part = pathlib.Path(sys.argv[1] + ".part")
	part.write_text(str(server.server_port))
	part.rename(sys.argv[1])
	server.serve_forever()
PY
python3 "$tmp/noise.py" "$tmp/noise.port" &
on_exit kill $!
await test -f "$tmp/noise.port"
noise() { "$bin/flopwatch" --server "http://127.0.0.1:$(cat "$tmp/noise.port")" calibrate show; }
is "a cell counts once, and the older version of a suite not at all" "$(noise | head -n 1)" "2 cells (3 rows) can show a slowdown of 4.00 % or more"
is "each row of a cell has its suite" "$(noise | awk '$1 == "a" || $1 == "b" { print $1, $2 }' | paste -sd,)" "a fast,a slow,b fast"
