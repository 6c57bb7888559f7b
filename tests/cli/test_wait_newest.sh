#!/bin/bash
# `wait` reports the verdict of the requested commit and repository: right after a push to a repository that the daemon polls once an hour, and
# never for a repository that the daemon does not watch.
# Starts first.  it waits most of its time
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
fw() { "$bin/flopwatch" --server "http://127.0.0.1:$(port)" "$@"; }
in_checkout() { (cd "$1" && shift && fw "$@"); }
target_of() { jq -r '.target.commit // .target' <<<"$1" 2>/dev/null; }

new_lines_repo
bench() { printf 'echo "{\\"cell\\":\\"row\\",\\"ms\\":[%s,%s,%s]}" # %s\n' "$1" "$1" "$1" "${2:-}" >"$tmp/lines/bench.sh"; }
bench 1.00
commit lines "first"
push lines main
write_config "sandbox: none" "workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]" \
	"repos: [{name: lines, url: \"file://$tmp/lines.git\", poll: 1 h}]"
start_daemon || exit 1
ok "the first push is measured" fw wait main --timeout 150 --quiet

# ---- the newest push, at once ----
stale=""
for n in $(seq 20); do
	bench 1.00 "$n"
	commit lines "push $n"
	push lines main
	where=$tmp
	[ $((n % 2)) = 0 ] || where=$tmp/lines # outside of a checkout, and inside
	answer=$(in_checkout "$where" wait main --timeout 150 --quiet --json 2>"$tmp/errors")
	[ "$(target_of "$answer")" = "$(head_of lines)" ] || stale="$stale $n:$(target_of "$answer"):$(head -n 1 "$tmp/errors")"
done
is "twenty pushes, each waited for at once: never an older commit" "$stale" ""

branch lines slow main
bench 1.30
commit lines "loses 30 %"
push lines slow
fails "a branch that the daemon has never seen is found at once, and lost" 3 in_checkout "$tmp/lines" wait slow --timeout 150 --quiet
bench 1.00 again
commit lines "takes it back"
push lines slow
ok "its next push is judged, not the one that lost" in_checkout "$tmp" wait slow --timeout 150 --quiet

# a rewritten branch
git -C "$tmp/lines" checkout -q -B slow main
bench 1.40
commit lines "another history"
push lines slow
fails "after a forced push its new tip is judged" 3 in_checkout "$tmp/lines" wait slow --timeout 150 --quiet

# ---- an unknown state is an error ----
mv "$tmp/lines.git" "$tmp/away.git"
fails "a repository that cannot be read has no newest verdict" 1 fw wait main --timeout 150 --quiet
like "and the reason is given" "$out" 'the newest push of lines is not known: the daemon cannot read the repository: '
mv "$tmp/away.git" "$tmp/lines.git"
fails "a branch that is not there" 4 fw wait nowhere --quiet

git -C "$tmp/lines" branch local main
fails "a branch of the checkout that was never pushed" 4 in_checkout "$tmp/lines" wait local --quiet
is "names the command that pushes it" "$out" "flopwatch: branch local is not pushed: git push -u origin local"

# ---- another repository ----
git init -q -b main "$tmp/other"
git -C "$tmp/other" commit -q --allow-empty -m "other"
other() { in_checkout "$tmp/other" "$@"; }
for verb in "wait main" "status" "alerts" "submit main" "compare main slow" "history row"; do
	fails "in a checkout of another repository without remotes: $verb" 4 other $verb
	like "names the checkout and what is watched: $verb" "$out" "does not watch the repository of this checkout, $tmp/other \(it has no remote\); it watches lines \(file://$tmp/lines\.git\); add it under repos: in flopwatchd\.yml and reload the daemon, name another daemon with --server URL"
done
git -C "$tmp/other" remote add origin git@example.org:team/other.git
fails "and with a remote" 4 other wait main
like "which is named" "$out" 'remote origin is git@example.org:team/other.git'
fails "--repo names the repository" 3 other wait slow --repo lines --quiet
ok "status --repo answers there, too" other status --repo lines
ok "and status --all" other status --all
fails "a commit in full is meant by itself" 3 other wait "$(head_of lines)" --quiet
git -C "$tmp/other" remote add mine "$tmp/lines"
ok "a remote of the checkout that is a clone is not the watched repository" bash -c "! ( cd '$tmp/other' && '$bin/flopwatch' --server 'http://127.0.0.1:$(port)' status )"
ln -s "$tmp/lines.git" "$tmp/link"
git -C "$tmp/other" remote set-url mine "$tmp/link"
ok "one that leads to it by a link is" other status
git -C "$tmp/lines" worktree add -q "$tmp/linked" main
ok "a linked worktree has the remotes of its checkout" in_checkout "$tmp/linked" wait main --timeout 150 --quiet

# ---- branches that are not watched any more ----
like "status shows what is watched" "$(fw status)" 'slow'
stop_daemon
sed -i 's|poll: 1 h}|poll: 1 h, branches: [main]}|' "$tmp/c.yml"
start_daemon || exit 1
ok "the newest push of main, once more" fw wait main --timeout 150 --quiet
unlike "status leaves out a branch that the configuration names no longer" "$(fw status)" 'slow'
like "it shows those that it names" "$(fw status)" 'main'
like "--all shows it" "$(fw status --all)" 'slow'
is "and in JSON, too" "$(fw status --json | jq -c '[.items[].name]')" '["main"]'

# ---- two files, of which one is missing ----
echo '{}' >"$tmp/a.json"
for missing in missing.json sub/missing.csv ./missing /nowhere/missing; do
	fails "compare with a file that is not there: $missing" 1 in_checkout "$tmp" compare a.json "$missing"
	like "reports that: $missing" "$out" "^flopwatch: $missing: no such file\$"
	fails "in the other order: $missing" 1 in_checkout "$tmp" compare "$missing" a.json
	like "reports that in the other order: $missing" "$out" "^flopwatch: $missing: no such file\$"
done
fails "a folder is none" 1 in_checkout "$tmp" compare a.json ./lines
like "and is called one" "$out" '^flopwatch: ./lines is a folder; name a file in it$'

# ---- an obstacle for one branch blocks no other ----
stop_daemon
git clone -q --bare "$tmp/lines.git" "$tmp/fork.git"
write_config "sandbox: none" "workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]" \
	"repos: [{name: lines, url: \"$tmp/lines.git\", poll: 1 h}, {name: fork, url: \"$tmp/fork.git\", poll: 1 h}]"
start_daemon || exit 1
for repo in lines fork; do
	ok "main of $repo" fw wait main --repo "$repo" --timeout 150 --quiet
done
: >"$tmp/lines.git/refs/heads/bad"
ok "a ref that git cannot read holds back no other branch" fw wait main --repo lines --timeout 150 --quiet
fails "but its own" 1 fw wait bad --repo lines --quiet
like "which is named" "$out" 'has not taken the newest push of bad to repository lines'
rm "$tmp/lines.git/refs/heads/bad"
main=$(git -C "$tmp/fork.git" rev-parse main)
printf '%040d\n' 1 >"$tmp/fork.git/refs/heads/main"
ok "nor does a missing commit of the branch of that name in another repository" fw wait main --repo lines --timeout 150 --quiet
fails "its own repository has no newest verdict" 1 fw wait main --repo fork --quiet
like "and is named" "$out" 'has not taken the newest push of main to repository fork'
echo "$main" >"$tmp/fork.git/refs/heads/main"
ok "once it is repaired, it has one" fw wait main --repo fork --timeout 150 --quiet

# ---- a checkout with remotes of two watched repositories ----
git clone -q "$tmp/fork.git" "$tmp/two"
two() { git -C "$tmp/two" "$@"; }
repo_of() { in_checkout "$tmp/two" wait main --timeout 150 --json 2>&1 | jq -r '.repo'; }
two remote add upstream "$tmp/lines.git"
is "the branch is pulled from origin" "$(repo_of)" fork
two config branch.main.remote upstream
is "the branch is pulled from upstream" "$(repo_of)" lines
two config remote.pushDefault origin
is "branches are pushed to origin" "$(repo_of)" fork
two config branch.main.pushRemote upstream
is "this one is pushed to upstream" "$(repo_of)" lines
two config --remove-section branch.main
two config --unset remote.pushDefault
is "nothing is configured: origin" "$(repo_of)" fork
two remote rename origin mine
two config --remove-section branch.main 2>/dev/null
fails "nor is there an origin: the command asks" 2 in_checkout "$tmp/two" wait main --quiet
like "and names both" "$out" 'several watched repositories: fork \(remote mine\), lines \(remote upstream\); name one with --repo NAME'
ok "--repo answers it" in_checkout "$tmp/two" wait main --repo lines --timeout 150 --quiet
ok "status shows all" in_checkout "$tmp/two" status

# ---- numbers of jobs ----
git init -q "$tmp/elsewhere"
job=$(api "jobs?repo=lines&state=done" | jq -r '[.items[] | select(.branch == "main")][0].id')
ok "the number of a job needs no repository" in_checkout "$tmp/elsewhere" wait "$job" --quiet
ok "nor an answer which one" in_checkout "$tmp/two" wait "$job" --quiet
fails "a number that no job has" 4 in_checkout "$tmp/elsewhere" wait 99999 --quiet
like "is asked of the repository of the checkout" "$out" 'does not watch the repository of this checkout'

# ---- how often the daemon is requested to read a repository ----
cat >"$tmp/between.py" <<'PY'
"""A proxy between the command and the daemon: records requests; the first fetch is polled by the number of an earlier one."""
import http.server, os, re, sys, urllib.error, urllib.request
daemon, notes, where = sys.argv[1:]

class Between(http.server.BaseHTTPRequestHandler):
    is_restarted = False

    def forward(self):
        path = self.path
        with open(notes, "a") as f:
            f.write(f"{self.command} {path}\n")
        if self.command == "GET" and "/fetches/" in path and not Between.is_restarted:
            Between.is_restarted = True
            path = re.sub(r"/fetches/\d+", "/fetches/1", path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)) if self.command == "POST" else None
        headers = {k: v for k, v in self.headers.items() if k.lower() not in ("host", "content-length", "connection", "accept-encoding")}
        try:
            answer = urllib.request.urlopen(urllib.request.Request(daemon + path, body, headers, method=self.command))
        except urllib.error.HTTPError as e:
            answer = e
        content = answer.read()
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.headers.get("Content-Type", ""))
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = forward

    def log_message(self, *args):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Between)
with open(where + ".new", "w") as f:
    f.write(str(server.server_address[1]))
os.rename(where + ".new", where)
server.serve_forever()
PY
python3 "$tmp/between.py" "http://127.0.0.1:$(port)" "$tmp/notes" "$tmp/between" &
between_pid=$!
await test -s "$tmp/between" || exit 1
through() { "$bin/flopwatch" --server "http://127.0.0.1:$(cat "$tmp/between")" "$@"; }
fetches() { grep -c '^POST .*/fetches$' "$tmp/notes"; }
ok "a fetch that was requested before a restart of the daemon" through wait main --repo lines --timeout 150 --quiet
is "is requested once more" "$(fetches)" 2
: >"$tmp/notes"
fails "a branch that is not there, for eight seconds" 4 through wait typo --repo lines --timeout 8 --quiet
reads=$(grep -c '^GET .*/branches' "$tmp/notes")
ok "is looked for in git a few times, at growing intervals" test "$(fetches)" -le 4
ok "and more often in what the daemon has" test "$reads" -gt "$(fetches)"
kill "$between_pid"

# ---- a slowdown that is older than the newest push ----
git -C "$tmp/lines" checkout -q --detach main
bench 1.60
commit lines "main loses 60 %"
push lines main
fails "main loses" 3 fw wait main --repo lines --timeout 150 --quiet
bench 1.60 again
commit lines "changes nothing"
push lines main
ok "its next push changes nothing" fw wait main --repo lines --timeout 150
like "the open alert of the older push is named" "$out" 'A[0-9]+ is open: main is [0-9.]+ % slower in 1 cell since '
like "and is the next step" "$out" 'next: flopwatch why A'
bench 1.70
commit lines "loses less"
push lines main
fails "the next push loses less" 3 fw wait main --repo lines --timeout 150
like "the larger loss is named, too" "$out" 'A[0-9]+ is open: main is 3[0-9.]+ % slower in 1 cell since '
ok "the list of branches" fw status --repo lines
like "has the larger loss" "$out" 'main +regression +-3[0-9.]+ % +1 cell .*newest push regression'
