#!/bin/bash
# Notifications: webhooks, statuses of three forges, git notes and feeds, by a daemon that is killed in between, to receivers that fail, stall,
# redirect, answer late, hang up and request a pause.
# Starts first.  it waits most of its time
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
. "$(dirname "$0")/../support/forge.sh"
mkdir "$tmp/r"
python3 "$root/tests/support/receiver.py" "$tmp/r" &
receiver=$!
on_exit kill "$receiver"
await test -f "$tmp/r/port"
at=http://127.0.0.1:$(cat "$tmp/r/port")
got() { # path: its received messages, a JSON line each
	jq -c --arg path "$1" 'select(.path == $path)' "$tmp/r/got" 2>/dev/null
}
ids() { jq -r '.headers["webhook-id"]' | sort -u; }
notifications() { # filter over all rows
	api 'notifications?limit=500' | jq -r "[.items[] | select($1)] | length"
}
none_left() { # of these targets, no pending notification
	[ "$(notifications ".state == \"waiting\" and (.target | IN($1))")" = 0 ]
}

new_repo kernels
git -C "$tmp/kernels" push -q origin main
printf 'whsec_%s\n' "$(printf 'a key of twenty-four byte' | base64)" >"$tmp/hook.secret"
echo forge-token-1 >"$tmp/token"
chmod 600 "$tmp/hook.secret" "$tmp/token"
hook() { printf '  - {name: %s, url: "%s/%s", allow_internal: true%s}\n' "$1" "$at" "$1" "${2:-}"; }
write_config 'workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]' \
	'public_url: https://bench.example.org/' \
	'repos:' \
	"  - {name: hub, url: $tmp/kernels.git, notes: write, status: {kind: github, api: \"$at/github\", project: team/kernels, token_file: $tmp/token, allow_internal: true}}" \
	"  - {name: lab, url: \"file://$tmp/far.git\", poll: 1 s, notes: push, status: {kind: gitlab, api: \"$at/gitlab/\", project: team/sub/kernels, token_file: $tmp/token, allow_internal: true}}" \
	"  - {name: tea, url: \"file://$tmp/far.git\", poll: 1 s, status: {kind: gitea, api: \"$at/gitea\", project: team/kernels, token_file: $tmp/token, allow_internal: true}}" \
	'webhooks:' \
	"$(hook flaky ", secret_file: $tmp/hook.secret")" "$(hook stall)" "$(hook late)" "$(hook midway)" "$(hook busy)" "$(hook moved)" "$(hook gone)" \
	"$(hook chat ', kind: slack, comparisons: true')" \
	"  - {name: inside, url: \"$at/inside\"}"
ok "config check" "$bin/flopwatchd" --config "$tmp/c.yml" --check-config
git clone -q --bare "$tmp/kernels.git" "$tmp/far.git"
start_daemon || exit 1

main=$(head_of kernels)
judged() { [ "$(sql "SELECT count(*) FROM comparison WHERE target_sha = '$1'")" = 3 ]; }
await judged "$main"
branch kernels slow main
echo 1.05 >"$tmp/kernels/kernels/factor"
commit kernels "slower & <b>"
slow=$(head_of kernels)
push kernels slow
git -C "$tmp/kernels" push -q "$tmp/far.git" HEAD:refs/heads/slow
await judged "$slow"
is "three repositories have their verdict" "$(sql "SELECT group_concat(verdict) FROM comparison WHERE target_sha = '$slow'")" "regression,regression,regression"

# ---- a restart between the first attempts and the next ----
# Each rejecting receiver has answered: after an answer that a killed daemon did not store, it sends again at once.
first_tries() {
	[ "$(sql "SELECT count(*) FROM outbox WHERE kind = 'webhook' AND target IN ('flaky', 'busy') AND id NOT IN (SELECT outbox FROM outbox_attempt)")" = 0 ]
}
await first_tries
stop_daemon KILL
before=$(sql "SELECT group_concat(message_id) FROM (SELECT message_id FROM outbox WHERE kind = 'webhook' ORDER BY id)")
start_daemon || exit 1
await none_left '"flaky", "stall", "late", "midway", "busy", "chat", "gone", "hub", "lab", "tea"'
is "all that can be sent is sent" "$(notifications '.state == "waiting" and (.target | IN("moved", "inside") | not)')" 0
is "under the ids that were written with the verdict" "$(sql "SELECT group_concat(message_id) FROM (SELECT message_id FROM outbox WHERE kind = 'webhook' ORDER BY id)")" "$before"

# ---- each receiver ----
for name in flaky stall late midway busy; do
	is "$name: three alerts arrived" "$(got /$name | jq -r 'select(.status >= 200 and .status < 300) | .headers["webhook-id"]' | sort -u | wc -l)" 3
	is "$name: no other request" "$(got /$name | ids | paste -sd' ')" \
		"$(api 'notifications?limit=500' | jq -r ".items[] | select(.target == \"$name\") | .message_id" | sort | paste -sd' ')"
done
is "what arrived once is not sent again" "$(got /flaky | jq -r 'select(.status == 204) | .headers["webhook-id"]' | sort | uniq -d | wc -l)" 0
is "a failure is tried again" "$(got /flaky | jq -s '[.[] | select(.status == 500)] | length')" 3
waits() { # seconds between the attempts at the first message
	got "$1" | jq -s '[group_by(.headers["webhook-id"])[] | (.[1].at - .[0].at)] | min | floor'
}
ok "a receiver that says when is asked then ($(waits /busy) s)" test "$(waits /busy)" -ge 9
ok "a failure that says nothing is tried after a few seconds ($(waits /flaky) s)" test "$(waits /flaky)" -ge 3
like "a stall is an attempt with its time" "$(api 'notifications?limit=500' | jq -c '.items[] | select(.target == "stall") | .log[] | select(.error) | [.duration_ms, .status, .error]')" '^\[1[0-9]{4},null,".*timed out'
like "an answer cut in the middle is no answer" "$(api 'notifications?limit=500' | jq -r '.items[] | select(.target == "midway") | .log[0].error')" 'closed|transfer'
is "a redirect is not followed" "$(got /secret | wc -l)" 0
like "and reported" "$(api 'notifications?limit=500' | jq -r '[.items[] | select(.target == "moved")][0].last_error')" 'answered 302, and redirects are not followed'
is "it continues to try" "$(notifications '.target == "moved" and .state == "waiting"')" 3
is "an internal address is not called" "$(got /inside | wc -l)" 0
like "and reported" "$(api 'notifications?limit=500' | jq -r '[.items[] | select(.target == "inside")][0].last_error')" 'is an internal one; set allow_internal'
is "410 ends it at once" "$(notifications '.target == "gone" and .state == "failed" and .attempts == 1')" 3

# ---- content of a message ----
got /flaky | tail -n 1 >"$tmp/message"
ok "it is signed as Standard Webhooks say" python3 - "$tmp/message" "$tmp/hook.secret" <<'PY'
import base64, hashlib, hmac, json, sys, time
message = json.load(open(sys.argv[1]))
key = base64.b64decode(open(sys.argv[2]).read().strip()[len("whsec_"):])
h = message["headers"]
signed = f'{h["webhook-id"]}.{h["webhook-timestamp"]}.{message["body"]}'.encode()
want = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
assert h["webhook-signature"] == want, (h["webhook-signature"], want)
assert abs(int(h["webhook-timestamp"]) - time.time()) < 300
PY
like "it links to the alert" "$(jq -r '.body | fromjson | .event + " " + .url' "$tmp/message")" '^alert.opened https://bench.example.org/alerts/[0-9]+$'
is "without a secret there is no signature" "$(got /late | jq -r '.headers | has("webhook-signature")' | sort -u)" false
like "Slack gets a sentence" "$(got /chat | jq -r '.body | fromjson | .text')" "^\*regression\* opened (hub|lab|tea) slow ${slow:0:10} \"slower &amp; &lt;b&gt;\": .*, worst -[45]\.[0-9]+ % <https://bench.example.org/alerts/[0-9]+\|look>"
is "and gets comparisons that it subscribed to" "$(got /chat | jq -r '.body | fromjson | .text' | grep -c '^\*unchanged\*')" 3

# ---- statuses ----
last_status() { # path, context: the last status of the slow commit
	got "$1/statuses/$slow" | jq -c --arg context "${2:-flopwatch/tiny}" 'select(.body | fromjson | .context // .name | . == $context)' | tail -n 1
}
is "GitHub: pending first" "$(got "/github/repos/team/kernels/statuses/$slow" | jq -r '.body | fromjson | .state' | uniq | paste -sd' ')" "pending failure"
like "GitHub: failure at last" "$(last_status /github/repos/team/kernels | jq -r '.body')" \
	"\"state\":\"failure\",\"target_url\":\"https://bench.example.org/comparisons/[0-9]+\",\"description\":\"regression: 4 of 4 cells, worst -[45]\.[0-9]+ % in attention/.*\",\"context\":\"flopwatch/tiny\""
is "GitHub: and in sum" "$(last_status /github/repos/team/kernels flopwatch | jq -r '.body | fromjson | .state + " " + (.description | sub("[0-9.]+"; "N"))')" "failure tiny regression -N %"
is "GitHub: with its token" "$(last_status /github/repos/team/kernels | jq -r '.headers.authorization')" "Bearer forge-token-1"
is "GitLab: its own terms" "$(last_status /gitlab/projects/team%2Fsub%2Fkernels | jq -r '(.body | fromjson | .state + " " + .name) + " " + .headers["private-token"]')" "failed flopwatch/tiny forge-token-1"
is "Gitea: its own terms" "$(last_status /gitea/repos/team/kernels | jq -r '(.body | fromjson | .state) + " " + .headers.authorization')" "failure token forge-token-1"
is "main is fine" "$(got "/gitea/repos/team/kernels/statuses/$main" | tail -n 1 | jq -r '.body | fromjson | .state')" success
ok "no description is longer than 140 characters" test -z "$(jq -r 'select(.path | test("/statuses/")) | .body | fromjson | .description | select(length > 140)' "$tmp/r/got")"
unlike "tokens are not in the log of notifications" "$(api 'notifications?limit=500')" 'forge-token|whsec_'

# ---- notes ----
like "a note in the repository that is read in place" "$(git -C "$tmp/kernels.git" notes --ref flopwatch show "$slow")" "^tiny: regression against ${main:0:12}, C[0-9]+"
like "names the cells that lost" "$(git -C "$tmp/kernels.git" notes --ref flopwatch show "$slow")" "^  attention/dense/.*/forward: regression -[45]\.[0-9]+ % \("
like "a note pushed to the other" "$(git -C "$tmp/far.git" notes --ref flopwatch show "$slow")" "^tiny: regression against ${main:0:12}"
git clone -q "$tmp/far.git" "$tmp/colleague"
git -C "$tmp/colleague" fetch -q origin refs/notes/flopwatch:refs/notes/flopwatch
git -C "$tmp/colleague" notes --ref flopwatch add -m "from a person" "$(git -C "$tmp/colleague" rev-parse "$slow^{tree}")"
ok "another program writes notes as well" git -C "$tmp/colleague" push -q origin refs/notes/flopwatch
branch kernels fast main
echo 0.9 >"$tmp/kernels/kernels/factor"
commit kernels "faster"
fast=$(head_of kernels)
git -C "$tmp/kernels" push -q "$tmp/far.git" HEAD:refs/heads/fast
noted() { git -C "$tmp/far.git" notes --ref flopwatch show "$1" >"$tmp/note" 2>&1; }
await noted "$fast"
like "the next note is pushed on top" "$(cat "$tmp/note")" '^tiny: improvement against'
is "and theirs is still there" "$(git -C "$tmp/far.git" notes --ref flopwatch show "$(git -C "$tmp/far.git" rev-parse "$slow^{tree}")")" "from a person"

# ---- users' answers to an alert ----
alerts=$(api 'alerts?limit=10')
step() { # verb, reason, repository: prints the status
	curl -s -o "$tmp/answer" -w '%{http_code}' -H 'Content-Type: application/json' -d "{\"reason\":\"$2\"}" \
		"http://127.0.0.1:$(port)/api/v1/alerts/$(jq ".items[] | select(.repo == \"$3\") | .id" <<<"$alerts")/$1"
}
message() { got /late | jq -c '.body | fromjson | select(.event == "'"$1"'") | [.alert, .state, .by, .reason]'; }
written() { sql "SELECT count(*) FROM outbox WHERE payload ->> 'event' = '$1'"; }
receivers=$(sql "SELECT count(DISTINCT target) FROM outbox WHERE kind = 'webhook'")
is "acknowledge" "$(step acknowledge 'I am on it' hub)" 200
is "accept" "$(step accept 'the & price of <safety>' lab)" 200
is "not real" "$(step invalidate 'the fan was off' tea)" 200
is "a second answer is refused" "$(step accept 'again' lab)" 409
is "and sent to no receiver" "$(written alert.accepted)" "$receivers"
is "every receiver has one message of each" "$(written alert.acknowledged) $(written alert.invalid)" "$receivers $receivers"
heard() { [ -n "$(message "$1")" ]; }
for event in acknowledged accepted invalid; do
	ok "alert.$event arrives" await heard "alert.$event"
done
hub=$(jq '.items[] | select(.repo == "hub") | .id' <<<"$alerts")
is "it has the user and the reason" "$(message alert.acknowledged)" "[$hub,\"acknowledged\",\"local\",\"I am on it\"]"
heard_chat() { got /chat | jq -r '.body | fromjson | .text' | grep -q "^\*regression\* accepted"; }
ok "Slack gets a message" await heard_chat
like "in a sentence" "$(got /chat | jq -r '.body | fromjson | .text' | grep '^.regression. accepted')" \
	"^\*regression\* accepted by local lab slow .* \(the &amp; price of &lt;safety&gt;\) <https://bench.example.org/alerts/[0-9]+\|look>"

# ---- log, page and retry ----
id=$(api 'notifications?limit=500' | jq '[.items[] | select(.target == "late")][0].id')
times=$(got /late | wc -l) messages=$(got /late | ids | wc -l)
ok "flopwatch notifications" "$bin/flopwatch" --server "http://127.0.0.1:$(port)" notifications
like "shows the receivers" "$out" 'webhook +late +sent'
ok "flopwatch redeliver" "$bin/flopwatch" --server "http://127.0.0.1:$(port)" redeliver "$id"
more() { [ "$(got /late | wc -l)" -gt "$times" ]; }
ok "sends it again" await more
is "under the same id" "$(got /late | ids | wc -l)" "$messages"
fails "redeliver none" 4 "$bin/flopwatch" --server "http://127.0.0.1:$(port)" redeliver 99999
like "the page shows attempts and a button" "$(http GET /notifications)" 'HTTP 302.*/redeliver'
is "its button leads back" "$(curl -s -o "$tmp/page" -w '%{http_code} %{redirect_url}' -X POST -H 'Content-Type: application/x-www-form-urlencoded' -H 'Accept: text/html' "http://127.0.0.1:$(port)/api/v1/notifications/$id/redeliver")" "303 http://127.0.0.1:$(port)/notifications"

# ---- feeds ----
for feed in alerts comparisons; do
	http GET "/$feed.atom" >"$tmp/$feed.atom"
	ok "$feed.atom is a feed" python3 - "$tmp/$feed.atom" <<'PY'
import re, sys, xml.etree.ElementTree as tree
a = "{http://www.w3.org/2005/Atom}"
feed = tree.parse(sys.argv[1]).getroot()
stamp = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")
assert feed.tag == a + "feed"
for need in ("id", "title", "updated", "author"):
    assert feed.find(a + need) is not None, need
entries = feed.findall(a + "entry")
assert len(entries) >= 3
assert len({e.find(a + "id").text for e in entries}) == len(entries)
for e in entries:
    assert stamp.match(e.find(a + "updated").text)
    assert e.find(a + "title").text and e.find(a + "id").text.startswith("tag:bench.example.org,2026:")
    assert e.find(a + "link").get("href").startswith("https://bench.example.org/")
    assert e.find(a + "summary").text
assert stamp.match(feed.find(a + "updated").text)
assert "alerts.atom" not in sys.argv[1] or all("/alerts/" in e.find(a + "link").get("href") for e in entries)
assert any("slower & <b>" in e.find(a + "summary").text for e in entries)
PY
done
is "feeds can be of one repository" "$(http GET "/alerts.atom?repo=tea" | grep -c '<entry>')" 1
fits_forge "github: statuses are as the forge publishes them" exchanges --of github /github "$tmp/r/got"
fits_forge "gitlab: statuses are as the forge publishes them" exchanges --of gitlab /gitlab "$tmp/r/got"
fits_forge "gitea: statuses are as the forge publishes them" exchanges --of gitea /gitea "$tmp/r/got"
