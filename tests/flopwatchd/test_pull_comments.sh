#!/bin/bash
# Comments on requests of GitHub, GitLab and Gitea: one on each request, also if answers of the forge are lost, unreadable or refusals.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
. "$(dirname "$0")/../support/forge.sh"
new_lines_repo
lines_take 1.00
commit lines "first"
push lines main
main=$(head_of lines)
(umask 077 && echo forge-token >"$tmp/forge.token")
repos=""
for kind in github gitlab gitea; do
	mkdir "$tmp/$kind"
	echo '[]' >"$tmp/$kind/comments.json"
	python3 "$root/tests/support/forge.py" "$tmp/$kind" $kind &
	on_exit kill $!
	await test -s "$tmp/$kind/port"
	cp -r "$tmp/lines.git" "$tmp/$kind.git"
	repos+="{name: $kind, url: $tmp/$kind.git, poll: 1s, status: {kind: $kind, api: 'http://127.0.0.1:$(cat "$tmp/$kind/port")', project: team/kernels, token_file: $tmp/forge.token, allow_internal: true}, pull_requests: {measure: head, comment: true}}, "
done
write_config "sandbox: none" "workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]" "repos: [$repos]"
start_daemon || exit 1
await job_ended "$main"
fw() { "$bin/flopwatch" --server "http://127.0.0.1:$(port)" "$@"; }
comments() { jq -r "$2" "$tmp/$1/comments.json"; } # kind, program
has_comment() { comments "$1" '.[].body' | grep -qE "$2"; }
writes() { grep -oE '^(POST|PUT|PATCH) [^ ]*(comments|notes)(/[0-9]+)? [^ ]*( [^ ]*)?' "$tmp/$1/requests"; } # kind
open_pull() { # kind, refs: the request 7 of branch slow
	git -C "$tmp/lines" push -q "$tmp/$1.git" HEAD:refs/heads/slow "HEAD:refs/$2/7/head"
}
sent() { [ "$(sql "SELECT count(*) FROM outbox WHERE kind = 'comment' AND target = '$1' AND state = 'sent'")" -ge 1 ]; }
attempts() { sql "SELECT group_concat(a.status || ' ' || iif(a.error = '', 'sent', 'again')) FROM outbox o JOIN outbox_attempt a ON a.outbox = o.id WHERE o.kind = 'comment' AND o.target = '$1'"; }

# ---- the forge's answers ----
jq -n '[range(70) | {id: (. + 1), body: "as I said: <!-- flopwatch github pull 7 -->", user: {login: "ann"}}]' >"$tmp/github/comments.json"
echo drop >"$tmp/github/next"      # the comment is written, its answer is lost
echo garbage >"$tmp/gitlab/next"   # the comment is written, its answer has no id
echo 500 >"$tmp/gitea/next"        # nothing is written
branch lines slow main
lines_take 1.30
commit lines "slower"
slow=$(head_of lines)
open_pull github pull
open_pull gitlab merge-requests
open_pull gitea pull
for kind in github gitlab gitea; do
	await sent $kind
	like "$kind has the comment" "$(comments $kind '.[-1].body' | head -n 2 | tr '\n' ' ')" "^<!-- flopwatch $kind pull 7 msg_[0-9a-f]{32} --> \*\*flopwatch: regression\*\*"
done
is "an answer that was lost" "$(attempts github)" "0 again,200 sent"
is "leaves one comment, which the next attempt finds behind 70 others and updates" "$(comments github length) $(writes github | tr '\n' ',')" \
	"71 POST /repos/team/kernels/issues/7/comments Bearer forge-token,PATCH /repos/team/kernels/issues/comments/71 Bearer forge-token,"
is "comments of others that name the daemon are as they were" "$(comments github '[.[] | select(.body == "as I said: <!-- flopwatch github pull 7 -->")] | length')" 70
is "an answer that is no JSON counts as sent" "$(attempts gitlab)" "200 sent"
is "with GitLab's address and token" "$(writes gitlab)" "POST /projects/team%2Fkernels/merge_requests/7/notes forge-token"
is "a failure of the forge is tried again" "$(attempts gitea)" "500 again,201 sent"
is "with Gitea's address and token" "$(writes gitea | tail -n 1) $(comments gitea length)" "POST /repos/team/kernels/issues/7/comments token forge-token 1"

# ---- a user accepts the regression ----
alert_of() { api "alerts?limit=100" | jq -r --arg repo "$1" '.items[] | select(.repo == $repo and .branch != "main") | .id' | sort -n; }
echo 429 >"$tmp/github/next" # a limit: the forge states when to ask again
# At Gitea a maintainer deletes the comment, of which a stranger has a copy.
copied=$(comments gitea '.[0].body' | head -n 1)
jq -n --arg body "$copied" '[{id: 1000, body: $body, user: {login: "eve"}}]' >"$tmp/gitea/comments.new"
mv "$tmp/gitea/comments.new" "$tmp/gitea/comments.json"
for kind in github gitlab gitea; do
	unlike "$kind: no user accepted it" "$(comments $kind '.[-1].body')" accepted
	for alert in $(alert_of $kind); do fw alerts accept "$alert" --reason "exact rows" >/dev/null; done
	await has_comment $kind 'accepted'
	like "$kind: an accepted regression changes the comment" "$(comments $kind '.[-1].body')" 'What to do: nothing; A[0-9]+ is accepted'
done
is "in place at GitHub, after the pause that the forge states" "$(comments github length) $(writes github | tail -n 1)" "71 PATCH /repos/team/kernels/issues/comments/71 Bearer forge-token"
is "at GitLab, where the daemon finds its comment by its first line" "$(comments gitlab length) $(writes gitlab | tail -n 1)" "1 PUT /projects/team%2Fkernels/merge_requests/7/notes/1 forge-token"
is "a deleted comment is written again" "$(comments gitea length) $(writes gitea | tail -n 2 | cut -d' ' -f1,2 | paste -sd' ')" \
	"2 PATCH /repos/team/kernels/issues/comments/1 POST /repos/team/kernels/issues/7/comments"
unlike "with a mark that cannot have been copied" "$(comments gitea '.[1].body' | head -n 1)" "^$copied$"
is "and the copy by another user is as it was" "$(comments gitea '.[0].body')" "$copied"
is "the refusals are attempts" "$(attempts gitea) $(attempts github)" '500 again,201 sent,404 again,201 sent 0 again,200 sent,429 again,200 sent'
is "no comment failed" "$(sql "SELECT count(*) FROM outbox WHERE kind = 'comment' AND state = 'failed'")" 0
ok "and the branch passes" fw wait slow --repo github --timeout 150 --quiet
for kind in github gitlab gitea; do
	fits_forge "$kind: requests and answers are as the forge publishes them" exchanges "$tmp/$kind/exchanges"
done
unlike "no token is in the log" "$(cat "$tmp/log")" forge-token
