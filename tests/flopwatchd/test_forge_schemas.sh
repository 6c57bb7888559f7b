#!/bin/bash
# Every request that the daemon sends to a forge, every answer of the fake forges and every event of a webhook, against the schemas that GitHub,
# GitLab, Gitea and Forgejo publish.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
. "$(dirname "$0")/../support/forge.sh"
if ! forge_schemas && [ -n "$why_no_schemas" ]; then
	skip "requests to forges and their published schemas" "$why_no_schemas"
	exit 0
fi
ok "the forges publish each operation and event that is used" forge_check table
table=$out
is "of these forges" "$(cut -f1,2 <<<"$out" | grep -vc event) $(cut -f1 <<<"$out" | sort -u | paste -sd' ')" "22 forgejo gitea github gitlab"

# ---- a daemon with a repository at each forge ----
new_repo kernels
branch kernels fork main
echo 1.05 >"$tmp/kernels/kernels/factor"
commit kernels "slower"
head=$(head_of kernels)
git -C "$tmp/kernels" push -q origin main:main HEAD:refs/pull/7/head HEAD:refs/merge-requests/7/head
(umask 077 && echo forge-token >"$tmp/forge.token" && echo hook-secret >"$tmp/hook.secret")
names="github checks gitlab gitea forgejo"
kind_of() { [ "$1" = checks ] && echo github || echo "$1"; }
repos=""
for name in $names; do
	kind=$(kind_of $name)
	mkdir "$tmp/$name"
	echo '[]' >"$tmp/$name/comments.json"
	echo '{"bob": "write", "5": 30}' >"$tmp/$name/permissions.json"
	: >"$tmp/$name/exchanges"
	python3 "$root/tests/support/forge.py" "$tmp/$name" "$kind" &
	on_exit kill $!
	await test -s "$tmp/$name/port"
	repos+="{name: $name, url: $tmp/kernels.git, branches: [nothing], poll: 1s, secret_file: $tmp/hook.secret, status: {kind: $kind, api: 'http://127.0.0.1:$(cat "$tmp/$name/port")', project: team/kernels, token_file: $tmp/forge.token, allow_internal: true$([ $name = checks ] && echo ', checks: true')}, pull_requests: {measure: head, comment: true, approve_by: {label: measure, comment: /flopwatch approve, users: [ann], permission: write, poll: 1s}}}, "
done
write_config 'public_url: https://bench.example.org' 'workers: [{name: off, command: ["false"], device: sim}]' "repos: [$repos]"
start_daemon || exit 1
server=http://127.0.0.1:$(port)
waits() { [ "$(sql "SELECT count(*) FROM pull WHERE head_sha = '$head'")" = 5 ]; }
await waits
requested() { jq -e --arg method "$2" --arg path "$3" 'select(.method == $method and (.path | test($path)))' "$tmp/$1/exchanges" >/dev/null; } # name, method, path
for name in $names; do
	ok "$name: the comments on the request that waits are read" await requested $name GET '/(comments|notes)'
done

# ---- events ----
event() { # name, event, more
	local name=$1 event=$2
	shift 2
	python3 "$root/tests/support/forge_event.py" "$tmp" "$(kind_of "$name")" "$event" hook-secret "$server/api/v1/hooks/$name" who=bob who_id=5 "head=$head" "$@"
}
approved() { [ "$(sql "SELECT count(*) FROM pull_approval a JOIN pull p ON p.id = a.pull JOIN repo r ON r.id = p.repo WHERE r.name = '$1' AND a.head_sha = '$head'")" = 1 ]; }
is "GitHub's ping is answered" "$(event github ping) $(cat "$tmp/answer")" "200 pong"
for name in $names; do
	is "$name: a push is taken" "$(event $name push)" 202
	case $name in
	github | gitlab) is "$name: so is a label" "$(event $name labeled)" 202 ;;
	gitea) # which the daemon reads by itself
		put "$tmp/gitea/comments.json" "$(jq -nc --arg text "/flopwatch approve $head" --arg at "$(date -u +%FT%TZ)" '[{id: 1, body: $text, user: {login: "bob"}, created_at: $at, updated_at: $at}]')"
		;;
	*) is "$name: so is a comment" "$(event $name commented "text=/flopwatch approve $head")" 202 ;;
	esac
	ok "$name: it approves, after a request for the user's permission" await approved $name
	ok "$name: the commit is pending" await requested $name POST '/(statuses|check-runs)'
done
# the other event of each, about a commit that is no head
for name in $names; do
	case $name in
	github | gitlab) event $name commented "text=/flopwatch approve $(head_of kernels)" ;;
	*) event $name labeled "head=$(head_of kernels)" ;;
	esac
done | paste -sd' ' >"$tmp/statuses"
is "the other events are taken" "$(cat "$tmp/statuses")" "202 202 202 202 202"
fits_forge "all these events are as the forges publish them" events "$tmp/events"
printf '%s\n' "$out" | grep '^#'

# ---- each state of a commit, and each refusal ----
stop_daemon
states="pending running success failure neutral error cancelled"
refusals="401 403 404 422 429 500"
add() { # kind, repository, subject, payload
	row=$((row + 1))
	printf "INSERT INTO outbox(message_id, kind, target, subject, payload, next_at, created_at) VALUES ('msg_%s', '%s', '%s', '%s', '%s', 0, %d);\n" \
		"$(printf '%032x' $row)" "$1" "$2" "$3" "$4" "$now"
}
long=$(printf 'a very long cell %.0s' {1..40})
row=0 now=$(date +%s000)
for name in $names; do
	for state in $states; do
		add status $name "$head flopwatch/$state" "{\"sha\": \"$head\", \"state\": \"$state\", \"context\": \"flopwatch/$state\", \"description\": \"$long\", \"page\": \"/commits/$head\", \"findings\": [{\"cell\": \"$long\", \"text\": \"regression\", \"is_loss\": true}, {\"cell\": \"b\", \"text\": \"gone\", \"is_loss\": false}]}"
	done
	echo "$refusals" >"$tmp/$name/next"
	n=0
	for status in 0 $refusals; do
		add comment $name "pull 7 $((n++))" "{\"number\": 7, \"words\": \"no device\", \"comparison\": 0}"
	done
done >"$tmp/rows.sql"
sqlite3 "$tmp/state/flopwatch.db" <"$tmp/rows.sql"
start_daemon || exit 1
all_sent() { [ "$(sql "SELECT count(*) FROM outbox WHERE message_id LIKE 'msg_00000000%' AND state <> 'sent'")" = 0 ]; }
ok "all are sent in the end" await all_sent
is "after each refusal" "$(sql "SELECT DISTINCT group_concat(status, ' ') FROM (SELECT o.target, a.status FROM outbox o JOIN outbox_attempt a ON a.outbox = o.id WHERE o.kind = 'comment' AND a.error <> '' AND a.status <> 0 ORDER BY o.target, a.id) GROUP BY target")" "$refusals"

# ---- what replaces an earlier message ----
stop_daemon
for name in $names; do
	add comment $name "pull 7 0" '{"number": 7, "words": "a device is there", "comparison": 0}'
	for state in pending success; do
		add status $name "$head flopwatch/$state" "{\"sha\": \"$head\", \"state\": \"${state/success/failure}\", \"context\": \"flopwatch/$state\", \"description\": \"lost\", \"page\": \"/commits/$head\", \"findings\": []}"
	done
done >"$tmp/rows.sql"
sqlite3 "$tmp/state/flopwatch.db" <"$tmp/rows.sql"
start_daemon || exit 1
ok "later messages are sent" await all_sent
is "GitLab refuses a state that the commit has, which is no failure" "$(sql "SELECT group_concat(o.target || ' ' || a.status || a.error) FROM outbox o JOIN outbox_attempt a ON a.outbox = o.id WHERE a.status = 400")" "gitlab 400"
# without a token each forge refuses
for name in $names; do
	path=/repos/team/kernels/issues/7/comments
	[ $name != gitlab ] || path=/projects/team%2Fkernels/merge_requests/7/notes
	curl -s -o "$tmp/answer" -w '%{http_code} ' "http://127.0.0.1:$(cat "$tmp/$name/port")$path"
done >"$tmp/statuses"
is "a request without a token is refused" "$(cat "$tmp/statuses")" "401 401 401 401 401 "
exchanges=()
for name in $names; do exchanges+=("$tmp/$name/exchanges"); done
fits_forge "all requests and answers are as the forges publish them" exchanges "${exchanges[@]}"
printf '%s\n' "$out" | grep '^#'
is "each operation was requested" "$(grep '^# ' <<<"$out" | sed 's/^# //; s/:.*//' | sort)" "$(cut -f1,2 <<<"$table" | grep -v event | tr '\t' ' ' | sort)"
unlike "each with success" "$(grep '^# ' <<<"$out" | grep -vE ' x 20[01]')" .
unlike "no token is in the log" "$(cat "$tmp/log")" 'forge-token|hook-secret'

# ---- events of other tests: they have only the members that the daemon reads ----
wrapped() { # lines of bodies
	jq -c '{forge: (if .object_kind then "gitlab" elif .action == "label_updated" then "gitea" else "github" end),
		event: (.object_kind // (if .issue then "issue_comment" else "pull_request" end)), body: .}' "$@"
}
wrapped "$root"/tests/data/fuzz/forge/{github,gitea,gitlab}-* >"$tmp/parts"
program=$root/build/tests/flopwatchd/test_approval
if [ -x "$program" ]; then
	FORGE_EVENTS=$tmp/bodies "$program" >"$tmp/approval.log" 2>&1
	wrapped "$tmp/bodies" >>"$tmp/parts"
	ok "test_approval has events" test "$(wc -l <"$tmp/parts")" -gt 30
else
	skip "events of test_approval" "nobody has built $program"
fi
fits_forge "events in part have no member that the forges do not publish" events --part "$tmp/parts"

# ---- what is wrong is found ----
wrong() { # name, file, choice, change by jq, expected deviation: a line of $tmp/controls
	jq -c --arg name "$1" --arg wanted "$5" "def body(f): .body |= (fromjson | f | tojson); def answer(f): .answer |= (fromjson | f | tojson);
		first(inputs | select($3)) | {name: \$name, wanted: \$wanted, right: ., wrong: ($4)}" -n "$tmp/$2" >>"$tmp/controls"
}
wrong_exchange() { # name, repository, path, change, expected deviation
	wrong "$1" "$2/exchanges" "(.path | test(\"$3\")) and .status < 300 and .fault == \"\" and (.body != \"\" or .method == \"GET\")" "$4" "$5"
}
wrong_exchange "a state that GitHub does not know" github /statuses/ 'body(.state = "warning")' "state: 'warning' is not one of"
wrong_exchange "one that GitLab does not know" gitlab /statuses/ 'body(.state = "failure")' "state: 'failure' is not one of"
wrong_exchange "one that Gitea does not know" gitea /statuses/ 'body(.state = "warning")' "state: 'warning' is not one of"
wrong_exchange "one that Forgejo does not know" forgejo /statuses/ 'body(.state = "neutral")' "state: 'neutral' is not one of"
wrong_exchange "a status without a state" github /statuses/ 'body(del(.state))' "'state' is a required property"
wrong_exchange "a member that GitHub's statuses do not have" github /statuses/ 'body(.name = "a")' "'name' was unexpected"
wrong_exchange "a member that GitLab's statuses do not have" gitlab /statuses/ 'body(.target = "a")' "'target' was unexpected"
wrong_exchange "a check run without a commit" checks '/check-runs$' 'body(del(.head_sha))' "'head_sha' is a required property"
wrong_exchange "a check run that has ended, without a conclusion" checks '/check-runs$' 'body(.status = "completed" | del(.conclusion))' "a run that is completed has a 'conclusion'"
wrong_exchange "an annotation without a line" checks '/check-runs$' 'body(.output.annotations = [{path: "a", annotation_level: "notice", message: "b"}])' "'start_line' is a required property"
wrong_exchange "a long title" checks '/check-runs$' 'body(.output.annotations = [{path: "a", start_line: 1, end_line: 1, annotation_level: "notice", message: "b", title: ("a" * 256)}])' "256 are more than 255"
wrong_exchange "a comment without a text" gitlab '/notes$' '.method = "POST" | .body = "{}"' "'body' is a required property"
wrong_exchange "a parameter that Gitea does not have" gitea '/comments.since' '.path += "&page=2"' "the operation has no parameter page"
wrong_exchange "a number that is none" github '/comments.per_page' '.path |= sub("page=1"; "page=first")' "parameter page: .*'first' is not of type 'integer'"
wrong_exchange "an operation that does not exist" gitlab /statuses/ '.path |= sub("statuses"; "status")' "gitlab has no such operation"
wrong_exchange "the token of another forge" gitlab /statuses/ '.headers = {Authorization: "Bearer a", "Content-Type": "application/json"}' "the header PRIVATE-TOKEN is none of gitlab"
wrong_exchange "an answer without its id" github /statuses/ 'answer(del(.id))' "answer 201: .*'id' is a required property"
wrong_exchange "an answer with a member of another forge" gitea /statuses/ 'answer(.state = "success")' "'state' was unexpected"
wrong_exchange "an answer with a status of another operation" github /statuses/ '.status = 202' "the operation has no answer 202"
wrong_exchange "an error without a message" github /statuses/ '.status = 404 | .answer = "{}"' "an error without a message"
wrong "an event without the commit" events '.event == "pull_request" and .forge == "github"' 'del(.body.pull_request.head.sha)' "pull_request/head: 'sha' is a required property"
wrong "an event with a member of another forge" events '.event == "merge_request"' '.body.object_attributes.last_commit.sha = "a"' "object_attributes/last_commit: .*'sha' was unexpected"
wrong "an event without a header" events '.event == "issue_comment" and .forge == "github"' 'del(.headers["X-GitHub-Delivery"])' "the header X-GitHub-Delivery is missing"
wrong "an event that does not exist" events '.event == "ping"' '.event = "pong"' "there is no such event"
is "there are the controls" "$(wc -l <"$tmp/controls")" 24
forge_check controls "$tmp/controls" >"$tmp/controls.log" 2>&1
while IFS= read -r line; do
	case $line in
	"ok "*) tap_result 0 "found: ${line#ok }" ;;
	*) tap_result 1 "found: ${line#not ok }" ;;
	esac
done <"$tmp/controls.log"
: >"$tmp/nothing"
forge_check exchanges "$tmp/nothing" >"$tmp/answer" 2>&1
is "a check of nothing fails" $? 1
