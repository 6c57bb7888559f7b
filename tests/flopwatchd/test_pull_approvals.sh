#!/bin/bash
# Requests at a forge: approvals by label and comment, which the forge's webhook reports; check runs; one comment, which the daemon updates.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
. "$(dirname "$0")/../support/forge.sh"
new_repo kernels
main=$(head_of kernels)
push kernels main
pull() { git -C "$tmp/kernels" push -q --force origin "$2:refs/pull/$1/head"; } # number, commit
factor() { # branch, factor
	branch kernels "$1" "${3:-main}"
	echo "$2" >"$tmp/kernels/kernels/factor"
	commit kernels "$1"
}
mkdir "$tmp/forge"
echo '[]' >"$tmp/forge/comments.json"
echo '{"bob": "write", "carol": "admin", "dave": "hidden"}' >"$tmp/forge/permissions.json"
python3 "$root/tests/support/forge.py" "$tmp/forge" github &
on_exit kill $!
await test -s "$tmp/forge/port"
(umask 077 && echo forge-token >"$tmp/forge.token" && echo hook-secret >"$tmp/hook.secret")
write_config 'access: token' 'public_url: https://bench.example.org' 'workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]' \
	"repos:
  - name: kernels
    url: $tmp/kernels.git
    branches: [main, own*]
    poll: 1h
    secret_file: $tmp/hook.secret
    status: {kind: github, api: 'http://127.0.0.1:$(cat "$tmp/forge/port")', project: team/kernels, token_file: $tmp/forge.token, allow_internal: true, checks: true}
    pull_requests: {measure: head, comment: true, approve_by: {label: measure, comment: /flopwatch approve, users: [ann], permission: write}}"
start_daemon || exit 1
server=http://127.0.0.1:$(port)
export FLOPWATCH_SERVER=$server
token=$("$bin/flopwatch" token add tester --scope trigger 2>/dev/null || FLOPWATCH_TOKEN=$(cat "$tmp/state/admin.token") "$bin/flopwatch" token add tester --scope trigger 2>/dev/null)
export FLOPWATCH_TOKEN=$token
has_fetched() { [ "$(api "repos/kernels/fetches/$1" -H "Authorization: Bearer $token" | jq .ended)" = true ]; }
fetch() { await has_fetched "$(api repos/kernels/fetches -X POST -H "Authorization: Bearer $token" | jq .fetch)"; }
event() { # event, secret: the status that the daemon answers
	local secret=$2 event=$1
	shift 2
	python3 "$root/tests/support/forge_event.py" "$tmp" github "$event" "$secret" "$server/api/v1/hooks/kernels" "$@"
}
labeled() { event labeled "${3:-hook-secret}" "who=$1" "head=$2"; }                             # who, head, secret
commented() { event commented hook-secret "who=$1" "text=/flopwatch approve $2"; } # who, commit
approvals() { sql "SELECT group_concat(who || ' ' || head_sha) FROM pull_approval"; }
rows() { sql "SELECT count(*) FROM outbox WHERE kind = 'approval' AND state = '$1'"; }
refused() { [ "$(rows failed)" = "$1" ]; }
verdict_of() { sql "SELECT verdict FROM comparison WHERE target_sha = '$1' ORDER BY id DESC LIMIT 1"; }
await job_ended "$main"

# ---- strangers ----
factor fork 1.05
head=$(head_of kernels)
pull 7 "$head"
fetch
is "an event with another secret is refused" "$(labeled bob "$head" other)" 401
is "and queues nothing" "$(rows waiting)$(rows failed)" 00
is "the label of a user without permission is removed" "$(labeled mallory "$head")" 202
await refused 1
like "and refused" "$(sql "SELECT last_error FROM outbox WHERE kind = 'approval'")" '^mallory may not approve requests of kernels: the forge reports the permission `read`$'
commented mallory "$head" >/dev/null
await refused 2
is "so is the comment of a user without permission" "$(approvals)" ""
asked() { [ "$(sql "SELECT attempts FROM outbox WHERE kind = 'approval' AND subject = '7 $1'")" = 1 ]; } # who
labeled dave "$head" >/dev/null
await asked dave
like "an answer without a permission refuses no user permanently" "$(sql "SELECT state || ' ' || last_error FROM outbox WHERE subject = '7 dave'")" '^waiting 404: there is no such user, or the token '
is "nothing was measured" "$(sql "SELECT count(*) FROM job WHERE target_sha = '$head'")" 0

# ---- a label ----
touch "$tmp/forge/limited"
is "the label of a user who may write is taken" "$(labeled bob "$head")" 202
await has_job "$head"
is "and approves this head" "$(approvals)" "bob at github $head"
await job_ended "$head"
is "it is measured" "$(verdict_of "$head")" regression

# ---- what the forge shows ----
runs() { jq -r "$1" "$tmp/forge/checks.json"; }
run_ended() { [ "$(runs '[.[] | select(.name == "flopwatch/tiny" and .head_sha == "'"$head"'" and .status == "completed")] | length')" = 1 ]; }
await run_ended
is "one check run a suite" "$(runs '[.[] | select(.name == "flopwatch/tiny" and .head_sha == "'"$head"'")] | length')" 1
is "with the verdict" "$(runs '.[] | select(.name == "flopwatch/tiny" and .head_sha == "'"$head"'") | .conclusion')" failure
like "and the worst cells as annotations" "$(runs '.[] | select(.name == "flopwatch/tiny" and .head_sha == "'"$head"'") | .output.annotations[0] | "\(.path) \(.annotation_level) \(.message)"')" '^\.flopwatch\.yaml failure regression -[0-9.]+ %'
no_comment() { [ "$(jq length "$tmp/forge/comments.json")" = 0 ]; }
commented_on() { ! no_comment; }
await commented_on
body() { jq -r '.[0].body' "$tmp/forge/comments.json"; }
like "one comment is on the request" "$(jq length "$tmp/forge/comments.json") $(body | head -n 1)" '^1 <!-- flopwatch kernels pull 7 msg_[0-9a-f]{32} -->$'
like "it begins with the verdict" "$(body | sed -n 2p)" '^\*\*flopwatch: regression\*\*'
is "with five cells at most" "$(($(body | grep -c '^| `') <= 5))" 1
like "how sure it is" "$(body)" 'How sure: '
like "what to do" "$(body)" 'What to do: push a fix'
like "and a link" "$(body)" '\(https://bench.example.org/comparisons/[0-9]+\)'
ok "in fewer than 25 lines" test "$(body | wc -l)" -lt 25

# ---- a push after the approval ----
echo 1.09 >"$tmp/kernels/kernels/factor"
commit kernels "after the label"
evil=$(head_of kernels)
pull 7 "$evil"
fetch
is "a label before a push approves nothing" "$(sql "SELECT count(*) FROM job WHERE target_sha = '$evil'")" 0
late() { sql "SELECT count(*) FROM outbox WHERE kind = 'approval' AND subject LIKE '%$1' AND last_error LIKE '% is not the newest head of request 7; %'"; } # who
was_late() { [ "$(late "$1")" = 1 ]; }
labeled carol "$head" >/dev/null # about the head before
await was_late carol
is "nor does a late event about the older head" "$(approvals)" "bob at github $head"
commented ann "$head" >/dev/null
await was_late ann
is "nor a comment that names it" "$(approvals)" "bob at github $head"
is "nothing of this was measured" "$(sql "SELECT count(*) FROM job WHERE target_sha = '$evil'")" 0
echo 1.07 >"$tmp/kernels/kernels/factor"
commit kernels "better"
better=$(head_of kernels)
pull 7 "$better" # the daemon has not read it: the event makes it
is "a comment of a named user" "$(commented ann "$better")" 202
await has_job "$better"
await job_ended "$better"
is "approves the commit that it names" "$(verdict_of "$better")" regression
updated() { body | grep -q "${better:0:10}"; }
await updated
is "the comment was updated in place" "$(jq length "$tmp/forge/comments.json") $(grep -c 'POST /repos/team/kernels/issues/7/comments' "$tmp/forge/requests")" "1 1"
unlike "no secret is in the log" "$(cat "$tmp/log")" 'forge-token|hook-secret'
unlike "nor in a notification" "$(sql "SELECT group_concat(payload || last_error) FROM outbox")" 'forge-token|hook-secret'
is "a refusal for a moment was no failure" "$(sql "SELECT count(*) FROM outbox WHERE kind <> 'approval' AND state = 'failed'") $(test -e "$tmp/forge/limited"; echo $?)" "0 1"

# ---- the noise model ----
factor even 1.0001
even=$(head_of kernels)
pull 7 "$even"
commented ann "$even" >/dev/null
await has_job "$even"
await job_ended "$even"
noise_of() { sql "SELECT count(*) > 0 FROM noise n JOIN comparison c ON c.id = n.comparison WHERE c.target_sha = '$1'"; }
is "an equal fork is unchanged" "$(verdict_of "$even")" unchanged
is "and teaches nothing about noise" "$(noise_of "$even")" 0
factor own-even 1.0002
push kernels own-even
own=$(head_of kernels)
await has_job "$own"
await job_ended "$own"
is "as an own branch does" "$(verdict_of "$own") $(noise_of "$own")" "unchanged 1"

# ---- a fork that was merged ----
branch kernels main main
git -C "$tmp/kernels" merge -q --no-ff -m "merge the request" "$even"
push kernels main
factor own-after 1.0003 "$even"
push kernels own-after
after=$(head_of kernels)
await has_job "$after"
await job_ended "$after"
is "its commit is a base of own branches then" "$(sql "SELECT state || ' ' || base_sha FROM job WHERE target_sha = '$after' ORDER BY id DESC LIMIT 1")" "done $even"
fits_forge "requests to the forge and its answers are as it publishes them" exchanges "$tmp/forge/exchanges"
fits_forge "so are its events" events "$tmp/events"
