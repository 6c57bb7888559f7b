#!/bin/bash
# Causes: a planted regression gets an alert, the alert requests a profile, a push that a client waits for goes first, the daemon is killed during it, its worker
# disconnects; the profile is served as JSON, CSV and Markdown, and changes no verdict.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
. "$(dirname "$0")/../support/forge.sh"
mkdir "$tmp/r"
python3 "$root/tests/support/receiver.py" "$tmp/r" &
on_exit kill $!
await test -f "$tmp/r/port"
flopwatch() { "$bin/flopwatch" --server "http://127.0.0.1:$(port)" --quiet "$@"; }
slow_branch() { # name, factor: a slower branch, pushed
	branch kernels "$1" main
	echo "$2" >"$tmp/kernels/kernels/factor"
	[ -z "${recipe-}" ] || cp "$recipe" "$tmp/kernels/kernels/recipe"
	commit kernels "slower: $1"
	push kernels "$1"
}
alert_of() { sql "SELECT id FROM alert WHERE branch = '$1'"; }
profile_job() { sql "SELECT p.job FROM profile p WHERE p.alert = '$(alert_of "$1")'"; }
profile_is() { [ "$(job_field "$(profile_job "$1")" state)" = "$2" ]; }
is_idle() { [ "$(sql "SELECT count(*) FROM job WHERE state IN ('queued', 'assigned', 'building', 'checking', 'measuring')")" = 0 ]; }

# A worker that stops before a profile while $tmp/hold is there, and dies in it while $tmp/die is.
cat >"$tmp/worker.py" <<'PY'
import os, select, subprocess, sys, threading, time
folder, *command = sys.argv[1:]
worker = subprocess.Popen(command, stdin=subprocess.PIPE)

def relay():
    job = b""
    while select.select([0], [], []) and (data := os.read(0, 65536)):  # so that the worker never blocks on the shared output
        job = job + data if b"\n" not in job else job
        if b'"kind":"profile"' in job.split(b"\n")[0]:
            if os.path.exists(folder + "/die"):
                worker.kill()
                os._exit(1)
            while os.path.exists(folder + "/hold"):
                open(folder + "/held", "w").close()
                time.sleep(0.05)
        worker.stdin.write(data)
        worker.stdin.flush()
    worker.stdin.close()

threading.Thread(target=relay, daemon=True).start()
os._exit(worker.wait() != 0)
PY
new_repo kernels
write_config "workers: [{name: sim, command: [python3, $tmp/worker.py, $tmp, $bin/flopwatch-worker, serve, --cache, $tmp/cache, --sandbox, none, --device, sim], device: sim}]" "repos: [{name: kernels, url: $tmp/kernels.git}]" \
	"webhooks: [{name: bot, url: \"http://127.0.0.1:$(cat "$tmp/r/port")/bot\", allow_internal: true}]" 'profile: on'
start_daemon || exit 1
push kernels main
is "main is judged" "$(result_of "$(head_of kernels)")" "done unchanged"

# ---- an alert requests a profile, and a push that a client waits for goes first ----
touch "$tmp/hold"
cat >"$tmp/recipe" <<'LOG'
echo "ptxas info    : (C7512) Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient register resources for the function '_Z4gemmILi128EEvPf'" >&2
LOG
recipe=$tmp/recipe slow_branch slow 1.06
slow=$(head_of kernels)
is "a slower branch is" "$(result_of "$slow")" "done regression"
await test -e "$tmp/held"
is "its alert has requested a profile" "$(api "alerts/$(alert_of slow)" | jq -c '.why | [.state != "done", .sentence]')" "[true,null]"
is "in the transaction that raised it" "$(sql "SELECT count(*) FROM profile p JOIN alert a ON a.id = p.alert JOIN job j ON j.id = p.job WHERE j.queued_at = a.opened_at AND p.comparison = a.comparison")" 1
is "of its worst cell in each direction" "$(sql "SELECT count(*) FROM job_cell w JOIN job j ON j.id = w.job WHERE j.kind = 'profile'")" 2
comparison=$(job_field "$(job_of "$slow")" comparison)
like "the review reports that a profile runs" "$(api "comparisons/$comparison.md")" 'Why: not known yet: the profile is'
verdict=$(api "commits/$slow/verdict?repo=kernels")
branch kernels other main
echo "# words" >>"$tmp/kernels/kernels/Makefile"
commit kernels "another"
push kernels other
flopwatch wait "$(head_of kernels)" --repo kernels >"$tmp/said" 2>&1
is "a push in between is judged" "$(result_of "$(head_of kernels)")" "done identical"
is "the profile yielded to it" "$(sql "SELECT count(*) FROM job_log WHERE job = $(profile_job slow) AND line LIKE 'queued: preempted by J%'")" 1
is "uncounted" "$(sql "SELECT attempt <= 1 FROM job WHERE id = $(profile_job slow)")" 1

# ---- the daemon is killed in the middle ----
rm -f "$tmp/held"
await test -e "$tmp/held"
stop_daemon KILL
start_daemon || exit 1
rm -f "$tmp/hold"
await profile_is slow done
is "after a restart it is done all the same" "$(job_field "$(profile_job slow)" state)" done
id=$(api "profiles?alert=$(alert_of slow)" | jq '.items[0].id')
is "each cell has an end" "$(api "profiles/$id" | jq -c '[.cells[] | [.state, .path]] | unique')" '[["done","code"]]'
is "with the medians of the comparison" "$(api "profiles/$id" | jq -c '[.cells[] | .target_ms > .base_ms] | unique')" '[true]'
is "and why nothing better was read" "$(api "profiles/$id" | jq -r '[.cells[].why != null] | unique[]')" true
is "what ptxas says of the target alone is read out of the logs" "$(api "profiles/$id" | jq -c '.diagnostics[] | [.change, .kind, .code, .kernel]')" '["new","serial","C7512","gemm<128>"]'
like "and shown" "$(flopwatch why "$(alert_of slow)")" 'ptxas, new: \(C7512\) wgmma is serialised because there are too few registers in gemm<128>'
like "as a table" "$(api "profiles/$id.csv" | head -n 1)" '^cell,side,repeat,n,phase,kernel,code_sha,metric,value'
like "as a comment" "$(api "profiles/$id.md")" '^\*\*flopwatch: why\*\*'
is "what the commit deserves is what it was" "$(api "commits/$slow/verdict?repo=kernels")" "$verdict"
is "it is no comparison" "$(sql "SELECT count(*) FROM comparison c JOIN job j ON j.id = c.job WHERE j.kind = 'profile'")" 0
is "and no status" "$(sql "SELECT count(*) FROM outbox WHERE kind = 'status'")" 0
like "flopwatch why prints it" "$(flopwatch why "A$(alert_of slow)" | head -n 1)" '^slow is (up to )?[0-9.]+ % slower in [0-9]+ cells?$'
takes='{"registers":168,"local_bytes":0,"shared_bytes":0,"ctas_per_sm":1}'
sqlite3 -cmd '.timeout 10000' "$tmp/state/flopwatch.db" "INSERT INTO profile_code (profile_cell, base, target, what, opcodes, base_takes, target_takes, target_stalls,
	hunks_len, hunks) SELECT id, 'gemm<64>', 'gemm<128>', 'changed', '[]', '$takes', '$takes', '{\"samples\":200,\"lines\":[[160,50,\"barrier\",40,\"BAR.SYNC 0x7\"]]}', 0, x''
	FROM profile_cell WHERE profile = $id ORDER BY n LIMIT 1" # as a GPU would have reported it
like "and where warps wait" "$(flopwatch why "$(alert_of slow)" | grep -A 2 'where warps wait in gemm<128>' | tr '\n' ' ')" 'target +00a0 +25\.0 +barrier +BAR\.SYNC 0x7'
is "by its comparison too" "$(flopwatch why "C$comparison" --json | jq .id)" "$id"
flopwatch why "$(alert_of slow)" no/such/cell >"$tmp/said" 2>&1
is "a cell that it does not have is status 4" $? 4
flopwatch why 999 >"$tmp/said" 2>&1
is "so is an alert without a request" $? 4

# ---- requests of users ----
flopwatch profile main other >"$tmp/said" 2>&1
is "of two commits" $? 0
like "with an answer" "$(sed -n 2p "$tmp/said")" '^why: '
flopwatch profile comparison "$comparison" --cells '*/forward' --json >"$tmp/said"
is "of a comparison's cells" "$(jq -c '[.comparison == '"$comparison"', (.cells | length)]' "$tmp/said")" '[true,1]'
like "a comparison that has no such cell is refused" "$(post profiles "{\"comparison\": $comparison, \"cells\": \"none\"}")" 'timed no cell that matches none'

like "one is asked again" "$(post "jobs/$(profile_job slow)/retry" | jq -r .state)" '^queued$'
is "as a profile of the same" "$(sql "SELECT count(*) FROM profile WHERE alert = $(alert_of slow) AND comparison = $comparison")" 2
await is_idle
is "which is done, too" "$(sql "SELECT group_concat(DISTINCT state) FROM job WHERE kind = 'profile'")" done

# ---- the comment at a review is updated ----
mkdir "$tmp/forge"
echo '[]' >"$tmp/forge/comments.json"
python3 "$root/tests/support/forge.py" "$tmp/forge" &
on_exit kill $!
await test -s "$tmp/forge/port"
touch "$tmp/hold"
slow_branch review 1.07
is "a review's commit is slower" "$(result_of "$(head_of kernels)")" "done regression"
FLOPWATCH_SERVER=http://127.0.0.1:$(port) COMMIT=$(head_of kernels) REPOSITORY=kernels REVIEW=7 FORGE_TOKEN=secret GITHUB_REPOSITORY=team/kernels \
	GITHUB_API_URL=http://127.0.0.1:$(cat "$tmp/forge/port") bash "$root/etc/ci/comment.sh" >"$tmp/comment.log" 2>&1 &
comment=$!
is_said() { jq -e ".[-1].body $1" "$tmp/forge/comments.json" >"$tmp/said"; }
await is_said '| contains("Why: not known yet: the profile is")'
rm -f "$tmp/hold"
wait "$comment"
is "the comment is written" $? 0
is "twice, at one place" "$(cut -d' ' -f1 "$tmp/forge/requests" | paste -sd' ')" "POST PATCH"
fits_forge "as the forge publishes it" exchanges "$tmp/forge/exchanges"
ok "and checks no more" is_said '| contains("not known yet") | not'

# ---- a worker that is disconnected every time ----
touch "$tmp/die"
slow_branch slower 1.09
is "a loss is judged" "$(result_of "$(head_of kernels)")" "done regression"
await profile_is slower failed
like "though its profile cannot be made" "$(job_field "$(profile_job slower)" state_why)" '^interrupted: '
flopwatch why "$(alert_of slower)" >"$tmp/said"
is "which why says with status 7" $? 7
rm -f "$tmp/die"

# ---- off ----
sed -i 's/^profile: on/profile: off/' "$tmp/c.yml"
kill -HUP "$daemon_pid"
await grep -q config.read "$tmp/log"
profiles=$(sql 'SELECT count(*) FROM profile')
slow_branch off 1.12
is "off: a loss is judged" "$(result_of "$(head_of kernels)")" "done regression"
await is_idle
is "and no profile is requested" "$(sql 'SELECT count(*) FROM profile')" "$profiles"
is "what the alert says" "$(api "alerts/$(alert_of off)" | jq .why)" null
