#!/bin/bash
# Approvals by comments where no webhook arrives: the daemon reads the comments of requests that wait, and checks them as it checks events.
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
	: >"$tmp/$kind/reads"
	python3 "$root/tests/support/forge.py" "$tmp/$kind" $kind &
	on_exit kill $!
	await test -s "$tmp/$kind/port"
	cp -r "$tmp/lines.git" "$tmp/$kind.git"
	repos+="{name: $kind, url: $tmp/$kind.git, branches: [main], poll: 1s, status: {kind: $kind, api: 'http://127.0.0.1:$(cat "$tmp/$kind/port")', project: team/kernels, token_file: $tmp/forge.token, allow_internal: true}, pull_requests: {measure: head, approve_by: {comment: /flopwatch approve, users: [ann], permission: write, poll: 1s}}}, "
done
echo '{"bob": "write"}' >"$tmp/github/permissions.json"
echo '{"5": 30}' >"$tmp/gitlab/permissions.json"
write_config "sandbox: none" "workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]" "repos: [$repos]"
start_daemon || exit 1
await job_ended "$main"
write_comment() { # kind, id, user, its number, text, more members
	local file=$tmp/$1/comments.json
	jq --argjson id "$2" --arg who "$3" --argjson number "$4" --arg text "$5" --arg at "$(date -u +%FT%TZ)" --argjson more "${6-"{}"}" \
		'. + [{id: $id, body: $text, created_at: $at, updated_at: $at, user: {login: $who, id: $number}, author: {username: $who, id: $number}} + $more]' "$file" >"$file.new" &&
		mv "$file.new" "$file"
}
reads() { wc -l <"$tmp/$1/reads"; }
has_read() { [ "$(reads "$1")" -ge "$2" ]; } # kind, number of requests
approvals() { sql "SELECT group_concat(a.who || ' ' || a.head_sha) FROM pull_approval a JOIN pull p ON p.id = a.pull JOIN repo r ON r.id = p.repo WHERE r.name = '$1'"; }
refusals() { sql "SELECT count(*) FROM outbox WHERE kind = 'approval' AND target = '$1' AND state = 'failed'"; }
refused() { [ "$(refusals "$1")" = "$2" ]; }
approved() { [ -n "$(approvals "$1")" ]; }
seen() { [ "$(sql "SELECT count(*) FROM pull p JOIN repo r ON r.id = p.repo WHERE r.name = '$1' AND p.head_sha = '$2' AND p.number = ${3-7}")" = 1 ]; }
open_pull() { git -C "$tmp/lines" push -q --force "$tmp/$1.git" "HEAD:refs/$2/7/head"; } # kind, refs
read_again() { # kind: the comments that are there now were read
	local n
	n=$(reads "$1")
	await has_read "$1" $((n + 2))
}

is "nothing is read while no request waits" "$(reads github) $(reads gitlab) $(reads gitea)" "0 0 0"
branch lines fork main
lines_take 1.30
commit lines "slower"
head=$(head_of lines)

# ---- GitHub ----
branch lines gone main
commit lines "a newer request, whose comments the forge does not show"
git -C "$tmp/lines" push -q "$tmp/github.git" HEAD:refs/pull/8/head
await seen github "$(head_of lines)" 8
git -C "$tmp/lines" checkout -q fork
write_comment github 1 ann 4 "/flopwatch approve $main"         # another commit
write_comment github 2 ann 4 "/flopwatch approve ${head:0:12}"  # part of a hash
write_comment github 3 ann 4 "> /flopwatch approve $head"       # a quotation
write_comment github 4 ann 4 "/flopwatch approve $head" '{"updated_at": "2037-11-21T02:46:00Z"}' # changed, perhaps by another user
write_comment github 5 mallory 6 "/flopwatch approve $head"
open_pull github pull
await refused github 1
like "the comment of a user without permission is refused" "$(sql "SELECT last_error FROM outbox WHERE kind = 'approval'")" '^mallory may not approve requests of github: the forge reports the permission `read`$'
read_again github
is "other comments approve nothing" "$(approvals github)" ""
like "the forge is asked for comments since the day before" "$(head -n 1 "$tmp/github/reads")" '^200 /repos/team/kernels/issues/7/comments\?per_page=50&page=1&since=20[0-9-]{8}T[0-9:]{8}Z$'
like "and what is still known is not sent again" "$(tail -n 1 "$tmp/github/reads")" '^304 '
write_comment github 9 bob 7 "$(printf 'looks good\n/flopwatch approve %s\n' "$head")"
await approved github
is "the comment of a user who may write approves" "$(approvals github)" "bob at github $head"
is "that user's comment, which was read again with it, is queued once" "$(sql "SELECT count(*) FROM outbox WHERE kind = 'approval' AND target = 'github' AND subject = '7 mallory'")" 1
like "comments that cannot be read stop none of older requests" "$(cat "$tmp/log")" 'pull.poll_failed.*pull=8 .*the receiver answered 404'
await has_job "$head"
await job_ended "$head"
is "it is measured" "$(sql "SELECT verdict FROM comparison WHERE target_sha = '$head' ORDER BY id DESC LIMIT 1")" regression
before=$(reads github)

# ---- another push ----
lines_take 1.40
commit lines "after the approval"
later=$(head_of lines)
open_pull github pull
await seen github "$later"
await has_read github $((before + 2))
is "an approval holds for its commit" "$(approvals github)" "bob at github $head"
is "nothing else was measured" "$(sql "SELECT count(*) FROM job WHERE target_sha = '$later'")" 0

# ---- comments that a migration by ann wrote ----
write_comment gitea 7 ann 4 "/flopwatch approve $head" '{"original_author": "mallory", "original_author_id": 6}'
write_comment gitlab 60 ann 4 "/flopwatch approve $head" '{"imported": true}'
git -C "$tmp/lines" push -q "$tmp/gitea.git" "$head:refs/pull/7/head"
git -C "$tmp/lines" push -q "$tmp/gitlab.git" "$head:refs/merge-requests/7/head"
await has_read gitea 2
await has_read gitlab 2
is "approve nothing" "$(approvals gitea)$(approvals gitlab) $(sql "SELECT count(*) FROM outbox WHERE kind = 'approval' AND target <> 'github'")" " 0"
like "Gitea is asked for no page: it has none" "$(tail -n 1 "$tmp/gitea/reads")" '^[0-9]+ /repos/team/kernels/issues/7/comments\?since=20[0-9-]{8}T[0-9:]{8}Z$'
put "$tmp/gitlab/comments.json" '[]'

# ---- GitLab, a named user, and more than one page ----
for i in $(seq 40); do write_comment gitlab "$i" carol 8 "no"; done
write_comment gitlab 41 bob 5 "/flopwatch approve $later" '{"created_at": "2020-11-20T00:00:00Z", "updated_at": "2020-11-20T00:00:00Z"}'
open_pull gitlab merge-requests
read_again gitlab
is "a comment from long before that head approves nothing" "$(approvals gitlab) $(sql "SELECT count(*) FROM outbox WHERE kind = 'approval' AND target = 'gitlab'")" " 0"
write_comment gitlab 42 ann 4 "/flopwatch approve $later"
await approved gitlab
is "a named user of GitLab approves" "$(approvals gitlab)" "ann at gitlab $later"
like "on the second page" "$(tail -n 1 "$tmp/gitlab/reads")" '^200 /projects/team%2Fkernels/merge_requests/7/notes\?per_page=50&page=2&order_by=created_at&sort=desc$'

# ---- a limit of the forge ----
touch "$tmp/gitlab/used-up"
lines_take 1.50
commit lines "a third head"
before=$(reads gitlab)
open_pull gitlab merge-requests
await has_read gitlab $((before + 1))
read_again github
read_again github
is "a forge without requests left gets no more before its limit ends" "$(reads gitlab)" $((before + 1))

# ---- another line approves ----
write_comment github 10 ann 4 "/measure $later"
read_again github
like "the forge reports what is known as unchanged" "$(tail -n 1 "$tmp/github/reads")" '^304 '
sed -i 's#/flopwatch approve#/measure#g' "$tmp/c.yml"
kill -HUP "$daemon_pid"
later_approved() { [[ $(approvals github) == *"ann at github $later"* ]]; }
ok "a comment from before the line was configured approves" await later_approved

# ---- a request with more comments than an interval reads ----
branch lines crowded main
lines_take 1.60
commit lines "many comment on it"
crowded=$(head_of lines)
jq -n --arg at "$(date -u +%FT%TZ)" '[range(100; 260) | {id: ., body: "me too", created_at: $at, updated_at: $at, user: {login: "eve", id: 9}, author: {username: "eve", id: 9}}]' >"$tmp/github/comments.new"
mv "$tmp/github/comments.new" "$tmp/github/comments.json"
write_comment github 300 ann 4 "/measure $crowded"
open_pull github pull
crowded_approved() { [[ $(approvals github) == *"ann at github $crowded"* ]]; }
ok "the approval behind 160 comments of others is read by a later interval" await crowded_approved
for kind in github gitlab gitea; do
	fits_forge "$kind: requests and answers are as the forge publishes them" exchanges "$tmp/$kind/exchanges"
done
unlike "no token is in the log" "$(cat "$tmp/log")" forge-token
