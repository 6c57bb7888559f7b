#!/bin/bash
# Permissions: a real daemon that requires tokens, with requests by curl and by the command line. Tokens by scope, revoked ones, a browser's
# session, a log-out, names of the host, and no secret stored in clear.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

new_repo kernels
# ---- before: requests need no token, so the author of a change is unknown ----
write_config 'workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]' "repos: [{name: kernels, url: $tmp/kernels.git}]"
start_daemon || exit 1
server=http://127.0.0.1:$(port)
new_admin() { curl -s "$@" -H 'Content-Type: application/json' -d '{"name":"mine","scope":"admin"}' "$server/api/v1/tokens"; }
like "under access: local no token is made" "$(new_admin)" '"status":409,.*no token can be created'
is "none is there" "$(sql 'SELECT count(*) FROM token')" 0
like "answers are the same for everybody there" "$(curl -sI "$server/")" 'Cache-Control: no-cache.'
stop_daemon
# tokens of earlier versions
hash_of() { printf %s "$1" | sha256sum | cut -d' ' -f1; }
sqlite3 "$tmp/state/flopwatch.db" "INSERT INTO token (name, hash, scope, created_at) VALUES
	('planted', '$(hash_of fwt_planted)', 'admin', 1), ('older', '$(hash_of fwt_older)', 'read', 1);
	INSERT INTO session (hash, token, expires_at) SELECT '$(hash_of fwt_session)', id, 9000000000000 FROM token WHERE name = 'planted'"

write_config 'workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]' \
	"repos: [{name: kernels, url: $tmp/kernels.git}]" "access: token" "names: [gpu1.example.org]"
start_daemon || exit 1
port=$(cat "$tmp/state/port")
server=http://127.0.0.1:$port
status() { curl -s -o "$tmp/body" -D "$tmp/head" -w '%{http_code}' --max-time 10 "$@"; }
with() { # token, curl arguments
	local token=$1
	shift
	status -H "Authorization: Bearer $token" "$@"
}
cli() { "$bin/flopwatch" --server "$server" "$@"; }

# ---- no access without a token ----
is "the API refuses" "$(status "$server/api/v1/repos")" 401
like "with how to do it" "$(cat "$tmp/head")" '[Ww][Ww][Ww]-[Aa]uthenticate: Bearer'
like "as a problem document" "$(cat "$tmp/body")" 'flopwatch token add'
is "counts are not for everybody" "$(status "$server/metrics")" 401
is "health is" "$(status "$server/healthz")" 200
is "a page leads to the log-in" "$(status "$server/alerts")" 303
like "and back" "$(cat "$tmp/head")" '[Ll]ocation: /login\?next=/alerts'
is "a wrong token is none" "$(with fwt_0000 "$server/api/v1/repos")" 401
is "nor is a password" "$(status -u admin:admin "$server/api/v1/repos")" 401
is "an invented session neither" "$(status -b flopwatch_session=fwt_00 "$server/api/v1/repos")" 401
fails "the command line reports that" 1 cli jobs
like "as a sentence" "$out" 'access token'

is "an admin without a creator is none now" "$(with fwt_planted "$server/api/v1/tokens")" 401
is "nor is its session one" "$(status -b flopwatch_session=fwt_session "$server/alerts")" 303
ok "the log has that" await grep -q 'ev=token.revoked .*scope=admin n=1' "$tmp/log"
is "who may only read, still may" "$(with fwt_older "$server/api/v1/repos")" 200

# ---- the daemon's token, and those made with it ----
file=$tmp/state/admin.token
is "the daemon's token is its own" "$(stat -c %a "$file")" 600
read_token=$(cli --token-file "$file" --quiet token add reader --scope read)
ok "a token that may start things" cli --token-file "$file" token add pusher --scope trigger
trigger_token=$(grep -o 'fwt_[0-9a-f]*' <<<"$out")
fails "a name is taken once" 1 cli --token-file "$file" token add reader --scope read
like "and reports that" "$out" 'exists'
fails "a scope that is none" 1 cli --token-file "$file" token add x --scope root
fails "a name that is none" 1 cli --token-file "$file" token add 'a b' --scope read
is "reading" "$(with "$read_token" "$server/api/v1/repos")" 200
like "what he reads is his" "$(cat "$tmp/head")" '[Cc]ache-[Cc]ontrol: private, no-cache'
like "as is a page" "$(with "$read_token" "$server/" >/dev/null && cat "$tmp/head")" '[Vv]ary: Accept, Accept-Encoding, Authorization, Cookie'
is "counts" "$(with "$read_token" "$server/metrics")" 200
is "the command line by environment" "$(FLOPWATCH_TOKEN=$read_token "$bin/flopwatch" --server "$server" jobs >/dev/null && echo fine)" fine
is "a reader starts nothing" "$(with "$read_token" -X POST -d '{"repo":"kernels","target":"main"}' "$server/api/v1/jobs")" 403
like "and gets the reason" "$(cat "$tmp/body")" 'reader has scope read; this needs trigger'
push kernels main
commit_is_seen() { [ -n "$(sql "SELECT sha FROM git_commit LIMIT 1")" ]; }
await commit_is_seen
is "one who may, does" "$(with "$trigger_token" -H 'Content-Type: application/json' -d "{\"repo\":\"kernels\",\"target\":\"$(head_of kernels)\"}" "$server/api/v1/jobs" | cut -c1)" 2
is "but is no admin" "$(with "$trigger_token" "$server/api/v1/tokens")" 403
is "nor resets the noise of cells" "$(with "$trigger_token" -X POST "$server/api/v1/calibration/forget")" 403
is "nor pauses devices" "$(with "$trigger_token" -X POST "$server/api/v1/devices/x/pause")" 403
is "a hook needs its signature, not a token" "$(status -X POST "$server/api/v1/hooks/kernels")" 404

# ---- a browser ----
is "the log-in is a page" "$(status "$server/login?next=/alerts")" 200
is "a wrong token is refused there" "$(status -d "token=fwt_1&next=/" "$server/login")" 403
is "a right one opens a session" "$(status -c "$tmp/jar" -d "token=$read_token&next=/alerts" "$server/login")" 303
like "that scripts cannot read" "$(cat "$tmp/head")" 'flopwatch_session=fwt_[0-9a-f]{64}; Path=/; Max-Age=[0-9]+; HttpOnly; SameSite=Strict'
like "and leads on" "$(cat "$tmp/head")" '[Ll]ocation: /alerts'
unlike "without the token in it" "$(cat "$tmp/jar")" "$read_token"
like "and stored by no cache" "$(cat "$tmp/head")" '[Cc]ache-[Cc]ontrol: no-store'
unlike "without TLS, where users connect without TLS" "$(cat "$tmp/head")" '; Secure'
is "pages open" "$(status -b "$tmp/jar" "$server/alerts")" 200
like "and offer to log out" "$(cat "$tmp/body")" '<form method=post action=/logout><button[^>]*>Log out</button></form>'
is "the log-in page does not" "$(curl -s -b "$tmp/jar" "$server/login" | grep -c /logout)" 0
is "what a reader may not do, a session may not" "$(status -b "$tmp/jar" -X POST "$server/api/v1/jobs" -d '{}')" 403
is "the log-in leads nowhere else" "$(status -d "token=$read_token&next=//evil.example" "$server/login")" 303
like "but home" "$(cat "$tmp/head")" '[Ll]ocation: /.?$'
is "another site cannot log anybody in" "$(status -H 'Origin: https://evil.example' -d "token=$read_token" "$server/login")" 403
session=$(awk '/flopwatch_session/ {print $7}' "$tmp/jar")
is "another site cannot log anybody out" "$(status -b "$tmp/jar" -H 'Origin: https://evil.example' -X POST "$server/logout")" 403
is "nor can a link" "$(status -b "$tmp/jar" "$server/logout")" 405
is "the session is still there" "$(status -b "$tmp/jar" "$server/alerts")" 200
listen() { # file, curl arguments: events until the stream ends
	curl -sN --max-time 60 "${@:2}" "$server/api/v1/events" >"$1"
	echo "ended with $?" >>"$1"
}
listen "$tmp/listener" -b "$tmp/jar" &
listen "$tmp/other" -H "Authorization: Bearer $trigger_token" &
await grep -q '^retry' "$tmp/listener"
await grep -q '^retry' "$tmp/other"
is "a client without a session logs out" "$(status -X POST "$server/logout")" 303
is "or with an invented session" "$(status -b flopwatch_session=fwt_00 -X POST "$server/logout")" 303
is "then something happens" "$(with "$(cat "$file")" -X POST "$server/api/v1/devices/sim-0/pause")" 200
ok "and a client that listened receives it" await grep -q device.state "$tmp/listener"
is "the log-out" "$(status -b "$tmp/jar" -X POST "$server/logout")" 303
is "ends the session" "$(status -b "flopwatch_session=$session" "$server/alerts")" 303
ok "and what it was listening to" await grep -q 'ended with 0' "$tmp/listener"
is "it cannot listen again" "$(status -b "flopwatch_session=$session" "$server/api/v1/events")" 401
listen "$tmp/other" -H "Authorization: Bearer $trigger_token" &
ok "others can" await grep -q '^retry' "$tmp/other"

# ---- names of the host ----
is "a name from the configuration" "$(with "$read_token" -H 'Host: gpu1.example.org' "$server/api/v1/repos")" 200
is "no other" "$(with "$read_token" -H 'Host: evil.example' "$server/api/v1/repos")" 421

# ---- the end of a token ----
status -c "$tmp/jar" -d "token=$read_token" "$server/login" >/dev/null
# ---- tokens that expire, and their sessions ----
short=$(cli --token-file "$file" --quiet token add short --scope trigger --expires 1h)
is "a token may expire" "$(with "$short" "$server/api/v1/repos")" 200
like "the list says when" "$(cli --token-file "$file" --json token list | jq -r '.items[] | select(.name == "short") | .expires_at')" '^20[0-9-]+T[0-9:.]+Z$'
is "others never" "$(cli --token-file "$file" --json token list | jq '.items[] | select(.name == "pusher") | .expires_at')" null
status -d "token=$short" "$server/login" >/dev/null
short_session=$(grep -o 'flopwatch_session=[^;]*' "$tmp/head")
is "it opens a session" "$(status -b "$short_session" "$server/alerts")" 200
expire_soon() { # table, condition: its rows expire after a few seconds
	sqlite3 "$tmp/state/flopwatch.db" "PRAGMA busy_timeout = 5000; UPDATE $1 SET expires_at = $(date +%s%3N) + 4000 WHERE $2" >/dev/null
}
expire_soon session "hash = '$(hash_of "${short_session#*=}")'"
listen "$tmp/of_session" -b "$short_session"
is "an event stream ends with its session" "$(sed -n '1p;$p' "$tmp/of_session" | paste -sd" ")" "retry: 3000 ended with 0"
status -d "token=$short" "$server/login" >/dev/null
short_session=$(grep -o 'flopwatch_session=[^;]*' "$tmp/head")
expire_soon token "name = 'short'"
listen "$tmp/of_token" -H "Authorization: Bearer $short"
is "and with its token" "$(sed -n '1p;$p' "$tmp/of_token" | paste -sd" ")" "retry: 3000 ended with 0"
is "an expired one is none" "$(with "$short" "$server/api/v1/repos")" 401
is "nor is its session" "$(status -b "$short_session" "$server/alerts")" 303
is "nor opens one" "$(status -d "token=$short" "$server/login")" 403
for when in yesterday 2001-01-01 0d -5d 2026-99-01; do
	fails "a token expires in the future, not '$when'" 1 cli --token-file "$file" token add late --scope read "--expires=$when"
	like "with how to write it ('$when')" "$out" 'expires must be a future time: 30d'
done

# ---- the audit log ----
audit() { cli --token-file "$file" --json audit "$@" | jq -r '.items[] | "\(.who) \(.status) \(.path)"'; }
like "requests that may change something are in the audit log" "$(audit)" 'admin.token 201 /api/v1/tokens'
unlike "reads are not" "$(audit)" '/api/v1/repos'
with "$trigger_token" -X POST "$server/api/v1/jobs/999999/cancel" >/dev/null
is "with who, and the status" "$(audit --limit 1)" "pusher 404 /api/v1/jobs/999999/cancel"
with "$read_token" -X POST "$server/api/v1/jobs/999999/cancel" >/dev/null
is "a refused one changed nothing and is not" "$(audit --limit 1)" "pusher 404 /api/v1/jobs/999999/cancel"
unlike "and never a secret" "$(sqlite3 "$tmp/state/flopwatch.db" 'SELECT * FROM audit')" 'fwt_'
is "only admins read it" "$(with "$trigger_token" "$server/api/v1/audit")" 403
sqlite3 "$tmp/state/flopwatch.db" "UPDATE audit SET at = at - 401 * 86400000"
with "$trigger_token" -X POST "$server/api/v1/jobs/999999/cancel" >/dev/null
is "rows older than 400 days are deleted" "$(audit)" "pusher 404 /api/v1/jobs/999999/cancel"

ok "revoke" cli --token-file "$file" token revoke reader
is "it works no more" "$(with "$read_token" "$server/api/v1/repos")" 401
is "nor do its sessions" "$(status -b "$tmp/jar" "$server/alerts")" 303
fails "once" 4 cli --token-file "$file" token revoke reader
ok "the list" cli --token-file "$file" token list
like "remembers it" "$out" '^  reader +read .* 20[0-9-]+T'
is "no token is stored in clear" "$(sql "SELECT count(*) FROM token WHERE hash LIKE 'fwt%'")" 0
like "and who made it" "$out" '^  pusher .* admin.token'
old=$(cat "$file")
status -c "$tmp/own" -d "token=$old" "$server/login" >/dev/null
is "a session of the daemon's own token" "$(status -b "$tmp/own" "$server/api/v1/tokens")" 200
stop_daemon
echo 'public_url: https://bench.example.org' >>"$tmp/c.yml"
start_daemon || exit 1
port=$(cat "$tmp/state/port")
server=http://127.0.0.1:$port
is "a restart keeps tokens" "$(with "$trigger_token" "$server/api/v1/repos")" 200
is "and changes the daemon's own" "$(with "$old" "$server/api/v1/repos")" 401
is "its sessions end with it" "$(status -b "$tmp/own" "$server/alerts")" 303
is "and make no token" "$(new_admin -b "$tmp/own" | jq .status)" 401
is "an admin vouched for stays one" "$(cli --token-file "$file" --quiet token add second --scope admin >"$tmp/second" && new_admin -H "Authorization: Bearer $(cat "$tmp/second")" | jq -r .scope)" admin
stop_daemon
start_daemon || exit 1
server=http://127.0.0.1:$(cat "$tmp/state/port")
is "through a restart, too" "$(with "$(cat "$tmp/second")" "$server/api/v1/tokens")" 200

# ---- users connect by https ----
status -c "$tmp/jar" -d "token=$trigger_token&next=/" "$server/login" >/dev/null
like "then the session never leaves in clear" "$(cat "$tmp/head")" 'flopwatch_session=fwt_[0-9a-f]{64}; Path=/; Max-Age=[0-9]+; HttpOnly; SameSite=Strict; Secure'
status -X POST "$server/logout" >/dev/null
like "nor does its end" "$(cat "$tmp/head")" 'flopwatch_session=; .*; Secure'
