#!/bin/bash
# Messages to people: mail by a real mail server, and chats; in threads, in groups, in quiet hours, by a daemon that is killed while messages
# wait; test messages, faults, and no secret in any log.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
/usr/bin/python3 -c 'import aiosmtpd' 2>/dev/null || { skip "mails and chats" "there is no python3-aiosmtpd here"; exit 0; }
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
	-addext subjectAltName=DNS:localhost -keyout "$tmp/mail.key" -out "$tmp/mail.pem" 2>/dev/null
/usr/bin/python3 "$root/tests/support/mail_server.py" "$tmp" "$tmp/mail.pem" "$tmp/mail.key" 2>"$tmp/mail.log" &
on_exit kill $!
python3 "$root/tests/support/chat_server.py" "$tmp" 2>"$tmp/chat.log" &
on_exit kill $!
await test -f "$tmp/mail.port"
await test -f "$tmp/chat.port"
at=http://127.0.0.1:$(cat "$tmp/chat.port")
for secret in mail-password-1 mail-password-2 matrix-token-1 matrix-token-2; do
	echo "$secret" >"$tmp/$secret"
	chmod 600 "$tmp/$secret"
done
got() { jq -c --arg path "$1" 'select(.path | startswith($path))' "$tmp/chat" 2>/dev/null; } # requests of a path
mails() { jq -c --arg to "$1@example.org" 'select(.to | index($to))' "$tmp/mails" 2>/dev/null; }
count() { "$@" | wc -l; }

quiet="$(date -u -d '-1 hour' +%H:%M)-$(date -u -d '+3 hours' +%H:%M)"
mail() { # name, further keys, name of the password's file
	printf '  - {name: %s, kind: mail, url: "smtp://localhost:%s", from: fw@example.org, to: [%s@example.org], user: watch, password_file: %s, ca_file: %s, allow_internal: true%s}\n' \
		"$1" "$(cat "$tmp/mail.port")" "$1" "$tmp/${3:-mail-password-1}" "$tmp/mail.pem" "${2:-}"
}
chat() { printf '  - {name: %s, kind: %s, url: "%s/%s", allow_internal: true%s}\n' "$1" "$2" "$at" "$3" "${4:-}"; }
configure() { # quiet hours of a receiver
	write_config 'workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]' \
		'public_url: https://bench.example.org/' \
		"repos: [{name: kernels, url: $tmp/kernels.git}]" \
		'webhooks:' "$(mail team)" "$(mail night "${1:-}")" "$(mail wrong "" mail-password-2)" "$(mail unknown)" "$(mail later)" \
		"$(chat room matrix '' ", room: \"!room:example.org\", token_file: $tmp/matrix-token-1")" \
		"$(chat stranger matrix '' ", room: \"!room:example.org\", token_file: $tmp/matrix-token-2")" \
		"$(chat locked matrix '' ", room: \"!other:example.org\", token_file: $tmp/matrix-token-1")" \
		"$(chat forum discord discord/forum ', forum: true')" "$(chat text discord discord/text)" "$(chat html discord discord/html)" \
		"$(chat office teams teams)" "$(chat slack slack slack)" "$(chat limited slack limited)" "$(chat denied teams denied)" "$(chat removed teams removed)" \
		"  - {name: inside, kind: teams, url: \"$at/teams\"}"
}
new_repo kernels
git -C "$tmp/kernels" push -q origin main
configure ", quiet: \"$quiet\", group: 2 s"
ok "config check" "$bin/flopwatchd" --config "$tmp/c.yml" --check-config
start_daemon || exit 1
fw() { "$bin/flopwatch" --server "http://127.0.0.1:$(port)" "$@"; }

# ---- test messages ----
for name in team room forum text html office slack night; do
	ok "notify test $name" fw notify test "$name"
	like "reports the receiver" "$out" "^$name received the test message after [0-9.]+ s$"
done
like "a test mail arrives, also in quiet hours" "$(mails night | jq -r '.subject + "|" + .text')" '^\[flopwatch\] a test message\|A test message: flopwatch can reach this receiver'
for fault in 'wrong:answered 535' 'unknown:answered 550' 'later:answered 451' 'stranger:answered 401' 'locked:answered 403' 'denied:answered 403' \
	'limited:answered 429' 'inside:is an internal one'; do
	fails "notify test ${fault%%:*}" 1 fw notify test "${fault%%:*}"
	like "reports why" "$out" "^flopwatch: ${fault%%:*} did not receive the test message: .*${fault#*:}.*; the daemon repeats it for an hour$"
done
fails "notify test removed" 1 fw notify test removed
like "a message that the daemon gave up is not repeated" "$out" '^flopwatch: removed did not receive the test message: .*answered 410; the daemon does not repeat it$'
fails "a receiver that is not there" 4 fw notify test nobody
like "is named" "$out" 'there is no receiver nobody'
is "as JSON" "$(fw notify test team --json | jq -r '.target + " " + .state')" "team sent"

# ---- an alert, and its answer in the same thread ----
judged() { [ "$(sql "SELECT count(*) FROM comparison WHERE target_sha = '$1'")" = 1 ]; }
await judged "$(head_of kernels)"
branch kernels slow main
echo 1.05 >"$tmp/kernels/kernels/factor"
commit kernels "slower *grün* & <b>"
slow=$(head_of kernels)
push kernels slow
await judged "$slow"
alert=$(api 'alerts?limit=10' | jq '.items[0].id')
sent_to() { [ "$(sql "SELECT count(*) FROM outbox WHERE target = '$1' AND alert = $alert AND state = 'sent'")" = "$2" ]; }
for name in team room forum text html office slack limited; do ok "$name gets the alert" await sent_to "$name" 1; done
ok "acknowledge" fw alerts acknowledge "A$alert" --reason 'I am on it'
for name in team room forum text office slack; do ok "$name gets the answer" await sent_to "$name" 2; done

first=$(mails team | tail -n 2 | head -n 1) second=$(mails team | tail -n 1)
like "the subject of the mail has commit and change" "$(jq -r .subject <<<"$first")" "^\[flopwatch\] regression in kernels slow ${slow:0:10}: .*attention"
like "its text is a sentence with the address" "$(jq -r .text <<<"$first")" "^regression opened kernels slow ${slow:0:10} \"slower \*grün\* & <b>\": .*, worst -[45]\.[0-9]+ % https://bench.example.org/alerts/$alert$"
is "the reply has the same subject" "$(jq -r .subject <<<"$second")" "Re: $(jq -r .subject <<<"$first")"
is "and names the first mail" "$(jq -r '.headers | .["in-reply-to"] + " " + .references' <<<"$second")" "$(jq -r '.id + " " + .id' <<<"$first")"
is "no header is malformed" "$(mails team | jq -c .defects | sort -u)" "[]"
is "no line is too long" "$(mails team | jq 'select(.longest > 78)')" ""
room=$(got /_matrix/ | jq -c 'select(.status == 200)')
is "Matrix: the answer is in the thread" "$(tail -n 1 <<<"$room" | jq -r '.body["m.relates_to"].rel_type')" m.thread
is "of the first message" "$(tail -n 2 <<<"$room" | head -n 1 | jq -r '.body["m.relates_to"]')" null
is "Discord: a post of the forum" "$(got /discord/forum | tail -n 2 | jq -r '(.body.thread_name // "reply")[:13] + " " + .query' | paste -sd'|')" "regression in wait=true|reply wait=true&thread_id=771"
like "Discord shows no markup of a commit" "$(got /discord/text | jq -r .body.content | grep '^\*\*regression\*\* opened')" 'slower \\\*grün\\\* & \\<b\\>'
for path in /discord/text /teams /slack; do
	like "$path: the answer names the first message" "$(got $path | tail -n 1 | jq -r '.body | tostring')" 'This follows the message of 20[0-9-]+ [0-9:]+ UTC\.'
done
like "Teams links the alert" "$(got /teams | tail -n 1 | jq -r '.body.attachments[0].content.actions[0].url')" "/alerts/$alert$"
is "no chat refused a message" "$(got / | jq -r 'select(.status == 400 or .status == 404) | .path')" ""
is "Retry-After is obeyed" "$(got /limited | jq -s '[.[] | select(.body.text | test("opened"))] | map(.at) | (last - first) >= 7')" true

# ---- quiet hours: held through kill -9, then one message ----
is "quiet hours hold both" "$(sql "SELECT group_concat(state) FROM outbox WHERE target = 'night' AND alert = $alert")" "waiting,waiting"
stop_daemon KILL
before=$(count mails night)
start_daemon || exit 1
is "also after a kill" "$(sql "SELECT group_concat(state) FROM outbox WHERE target = 'night' AND alert = $alert")" "waiting,waiting"
configure
kill -HUP "$daemon_pid"
ok "the end of quiet hours sends them" await sent_to night 2
is "as one mail" "$(count mails night)" $((before + 1))
like "with both events" "$(mails night | tail -n 1 | jq -r .text)" '^regression opened, acknowledged by local kernels slow .* \(I am on it\)'
is "what arrived is not sent again" "$(mails team | jq -r .id | sort | uniq -d)" ""

# ---- a message that a user sends again ----
last_of() { sql "SELECT max(id) FROM outbox WHERE target = '$1' AND alert = $alert"; }
events=$(count got /_matrix/)
ok "redeliver to Matrix" fw redeliver "$(last_of room)"
more_events() { [ "$(count got /_matrix/)" -gt "$events" ]; }
ok "sends it" await more_events
is "as a new event: its transaction is another one" "$(got /_matrix/ | jq -r 'select(.status == 200) | .path' | sort | uniq -d)" ""

# ---- a thread that was deleted ----
touch "$tmp/delete-threads"
ok "answer an alert" fw alerts accept "A$alert" --reason 'a known price'
new_thread() { [ "$(got /discord/forum | tail -n 2 | jq -r '[.status, .query, (.body.thread_name // "reply")[:13]] | join(" ")' | paste -sd'|')" = "404 wait=true&thread_id=771 reply|200 wait=true regression in" ]; }
ok "a reply to a deleted thread begins a new one" await new_thread

# ---- secrets ----
unlike "no secret is in the log" "$(cat "$tmp/log" "$tmp"/*.log)" 'mail-password-|matrix-token-'
unlike "or in the list of notifications" "$(api 'notifications?limit=500')" 'mail-password-|matrix-token-'
unlike "or on pages" "$(curl -s "http://127.0.0.1:$(port)/settings" "http://127.0.0.1:$(port)/notifications")" 'mail-password-|matrix-token-'
