#!/bin/bash
# The log-in by OpenID Connect, with a provider that misbehaves: no fault logs anybody in, each has one clear line, and while the provider is
# down, tokens and log-ins still work. A role that the provider takes away ends.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

new_repo kernels
mkdir "$tmp/provider"
mode() { put "$tmp/provider/mode" "$1"; }
user() { put "$tmp/provider/user" "$1"; }
mode fine
user '{"sub": "1", "preferred_username": "ann", "groups": ["team", "ops"]}'
python3 "$root/tests/support/openid_provider.py" "$tmp/provider" 2>"$tmp/provider.log" &
provider=$!
stop_provider() { kill "$provider"; wait "$provider" 2>/dev/null; }
on_exit stop_provider
await test -s "$tmp/provider/port"
issuer=http://127.0.0.1:$(cat "$tmp/provider/port")
(umask 077 && echo client-secret-of-tests >"$tmp/client.secret")
configure() { # public_url, keys of oidc
	write_config 'workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]' "repos: [{name: kernels, url: $tmp/kernels.git}]" \
		"access: token" "public_url: $1" \
		"oidc: {issuer: \"$issuer\", client_id: flopwatch, client_secret_file: $tmp/client.secret, roles: {team: trigger, ops: admin, guests: read}$2}"
}
configure http://127.0.0.1:9 ", allow_internal: true"
start_daemon || exit 1
server=http://127.0.0.1:$(port)
reads() { grep -c 'ev=config.read' "$tmp/log"; }
reload() { # and wait for it
	local before
	before=$(reads)
	kill -HUP "$daemon_pid"
	has_read() { [ "$(reads)" -gt "$before" ]; }
	await has_read
}
configure "$server" ", allow_internal: true"
reload
visit() { curl -s -o "$tmp/body" -D "$tmp/head" -w '%{http_code}' --max-time 60 -b "$tmp/jar" -c "$tmp/jar" "$@"; }
location() { sed -n 's/^[Ll]ocation: \(.*\)\r$/\1/p' "$tmp/head"; }
log_in() { # the status of the callback, in a new browser
	rm -f "$tmp/jar"
	visit "$server/login/oidc?next=/alerts" >"$tmp/status"
	[ "$(cat "$tmp/status")" = 303 ] || { cat "$tmp/status"; return; }
	visit "$(location)" >/dev/null
	location >"$tmp/callback"
	visit "$(location)"
}
banner() { sed -n 's/.*<p class=banner role=alert>\([^<]*\)<.*/\1/p' "$tmp/body"; }

# ---- as it should be ----
is "a user logs in" "$(log_in)" 200
like "as who, and with which scope" "$(cat "$tmp/body")" 'You are logged in as oidc~ann, with scope admin'
like "and continues with the page" "$(cat "$tmp/body")" 'http-equiv=refresh content="0; url=/alerts"'
like "scripts cannot read the session" "$(cat "$tmp/head")" 'flopwatch_session=fwt_[0-9a-f]{64}; Path=/; Max-Age=[0-9]+; HttpOnly; SameSite=Strict'
is "pages open" "$(visit "$server/alerts")" 200
is "those of an admin too" "$(visit "$server/settings")" 200
like "the settings do not show the secret" "$(cat "$tmp/body")" 'oidc.client_secret_file</th><td class=wrap>set'
tokens() { grep -c '^/token ' "$tmp/provider/requests"; }
before=$(tokens)
is "a reload of the callback's page is refused" "$(visit "$(cat "$tmp/callback")")" 400
like "and reports the reason" "$(banner)" 'this log-in was used already, perhaps by a reload of its page; log in again'
is "and sends no code again" "$(tokens)" "$before"
like "the log-in page names the provider, and the log-in begins at public_url" "$(curl -s "http://localhost:${server##*:}/login")" "href=\"$server/login/oidc.next=%2F\">Log in at 127.0.0.1:"
is "the audit log has it" "$(sql "SELECT who, path, status FROM audit")" "oidc~ann|/login/oidc/callback|200"
is "refresh tokens are requested with consent" "$(grep -c '/authorize prompt consent' "$tmp/provider/requests")" 1
cp "$tmp/jar" "$tmp/admin.jar"
mode es256
is "an ID token may be signed with ES256" "$(log_in)" 200
mode userinfo
is "groups may be in userinfo alone" "$(log_in)" 200
mode post
is "a provider may want the secret in the form" "$(log_in)" 200
mode "two aud"
is "a token for two clients needs azp" "$(log_in)" 502

# ---- faults of the provider: a page with one line, no session ----
fault() { # mode, status, what the line says
	local got
	mode "$1"
	got=$(log_in)
	is "fault \"$1\": the status" "$got" "$2"
	like "fault \"$1\": one line says why" "$(banner)" "^The log-in failed: $3"
	is "fault \"$1\": no session" "$(grep -c flopwatch_session "$tmp/jar")" 0
}
fault "wrong nonce" 502 "the ID token is of another log-in .nonce..$"
fault "wrong aud" 502 "the ID token is for another client .aud..$"
fault "wrong issuer" 502 "the ID token is from another issuer .iss..$"
fault "expired" 502 "the ID token has expired .exp.; check the clocks"
fault "future" 502 "the ID token was issued in the future .iat.; check the clocks"
fault "no user" 502 "the ID token names no user .sub..$"
fault "wrong signature" 502 "the signature of the ID token is wrong.$"
fault "no signature" 502 "the ID token is signed with none; RS256 and ES256 are supported.$"
fault "shared secret" 502 "the ID token is signed with HS256; RS256 and ES256 are supported.$"
fault "no key" 502 "the provider lists no key for the signature of the ID token.$"
fault "not signed JSON" 502 "the ID token is not a signed token of JSON.$"
fault "no ID token" 502 "the provider sent no ID token; oidc.scopes must contain openid.$"
fault "wrong state" 400 "this log-in was not begun in this browser, or more than 10 minutes ago; log in again.$"
fault "wrong iss" 400 "another provider than that of oidc.issuer sent the browser back .iss..$"
fault "denied" 403 "the provider refused the log-in: access_denied.$"
fault "no endpoint" 502 "the provider's description has no token_endpoint with http://"
fault "another issuer" 502 "the provider names another issuer than oidc.issuer: https://id.example.org.$"
fault "token refuses" 403 "the provider does not accept the code of this log-in; log in again.$"
fault "token 401" 502 "the provider answered 401 to the request for tokens: access_denied.$"
fault "token 403" 502 "the provider answered 403 to the request for tokens: access_denied.$"
fault "token 500" 502 "the provider answered 500 to the request for tokens: server_error.$"
fault "token garbage" 502 "the provider's answer to the request for tokens is not a JSON object of at most 65536 bytes.$"
fault "token redirect" 502 "the provider answered 302 to the request for tokens; redirects are not followed.$"
fault "token endless" 502 "the provider did not answer the request for tokens: the receiver's answer is longer than"
fault "token silence" 502 "the provider did not answer the request for tokens: .*[Tt]imed? ?out"
fault "keys 500" 502 "the provider answered 500 to the request for its keys"
fault "keys garbage" 502 "the provider's answer to the request for its keys is not a JSON object"
fault "me 403" 502 "the provider answered 403 to the request for the user's claims"
fault "me other" 502 "the provider's answer to the request for the user's claims is for another user.$"
is "log-ins of which the provider named no user fill no audit log" "$(sql "SELECT count(*) FROM audit WHERE status <> 200")" 0
mode fine
is "a browser that did not begin is refused" "$(rm "$tmp/jar"; visit "$server/login/oidc/callback?code=x&state=$(printf 0%.0s {1..64})")" 400
user '{"sub": "2", "preferred_username": "eve", "groups": ["strangers"]}'
is "a user without a role has no access" "$(log_in)" 403
is "the audit log has it, without a name that may be of another user" "$(sql "SELECT who, path, status FROM audit WHERE status <> 200")" \
	"oidc|/login/oidc/callback|403"
like "and reads why" "$(banner)" 'oidc~eve is in no group that has a role here; ask an admin'
user '{"sub": "3", "preferred_username": "ann", "groups": ["team"]}'
is "no user gets the name of another" "$(log_in)" 403
like "and reads how an admin can free it" "$(banner)" 'another user of the provider has the name oidc~ann; an admin can free it: flopwatch token revoke oidc~ann'
user '{"sub": "4", "preferred_username": "<b>bob</b>/../x", "groups": "guests"}'
is "a strange name is made plain" "$(log_in)" 200
like "for addresses and logs" "$(cat "$tmp/body")" 'logged in as oidc~~b~bob~~b~~..~x, with scope read'
is "a reader is no admin" "$(visit "$server/settings")" 403

# ---- a client with many requests ----
many() { visit -H 'X-Forwarded-For: 9.9.9.9' "$server/login/oidc$1"; }
for _ in {1..10}; do
	echo "$(many "") $(many "/callback?code=x&state=y")"
done >"$tmp/many"
is "an address begins and ends 20 log-ins a minute" "$(sort -u "$tmp/many")" "303 400"
is "no more of them" "$(many "") $(many "/callback?code=x&state=y")" "429 429"

# ---- without a refresh token nobody can check the role later ----
mode "no refresh"
user '{"sub": "5", "preferred_username": "kim", "groups": ["team"]}'
is "a log-in without a refresh token" "$(log_in)" 200
is "ends after 10 minutes" "$(sql "SELECT max(s.expires_at) <= (unixepoch() + 601) * 1000 FROM session s JOIN token t ON t.id = s.token WHERE t.name = 'oidc~kim'")" 1
like "and the log has that" "$(cat "$tmp/log")" 'ev=login.unchecked .*who=oidc~kim'

# ---- the provider is down ----
mode fine
user '{"sub": "1", "preferred_username": "ann", "groups": ["team", "ops"]}'
due() { sqlite3 "$tmp/state/flopwatch.db" "PRAGMA busy_timeout = 5000; UPDATE account SET checked_at = 1, tried_at = 1 WHERE subject = '1'" >/dev/null; }
check() { # and wait until the daemon has tried
	due
	reload
	is_tried() { [ "$(sql "SELECT tried_at > 1 FROM account WHERE subject = '1'")" = 1 ]; }
	await is_tried
}
mode "token 500"
check
ok "a failed check is logged" await grep -q 'ev=login.check .*who=oidc~ann err=.*answered 500' "$tmp/log"
is "the log-in that exists still works" "$(visit -b "$tmp/admin.jar" "$server/settings")" 200
is "as do tokens" "$(curl -s -o "$tmp/body" -w '%{http_code}' -H "Authorization: Bearer $(cat "$tmp/state/admin.token")" "$server/api/v1/tokens")" 200

# ---- the timer ----
mode fine
due # without a reload, which would start the check
is_checked() { [ "$(sql "SELECT checked_at > 1 FROM account WHERE subject = '1'")" = 1 ]; }
ok "the daemon checks users who are due by itself" await is_checked

# ---- a refresh token is used once: the new one is stored, although the answer is of no use ----
refresh() { sql "SELECT refresh FROM account WHERE subject = '1'"; }
recent() { # an answer of a minute ago, which is no reason to end the log-in
	sqlite3 "$tmp/state/flopwatch.db" "PRAGMA busy_timeout = 5000; UPDATE account SET checked_at = unixepoch() * 1000 - 600000, tried_at = 1 WHERE subject = '1'" >/dev/null
	before=$(sql "SELECT checked_at FROM account WHERE subject = '1'")
	reload
}
is_new() { [ "$(refresh)" != "$old" ]; }
unchanged() { [ "$(sql "SELECT checked_at FROM account WHERE subject = '1'")" = "$before" ]; }
failures() { grep -c "ev=login.check .*who=oidc~ann err=.*$1" "$tmp/log"; }
has_failed() { [ "$(failures "$1")" -gt 0 ]; }
mode "me 403"
old=$(refresh)
recent
ok "the user's claims are refused: the new refresh token is stored" await is_new
ok "which is no check" unchanged
ok "as the log says" await has_failed "answered 403 to the request for the user"
old=$(refresh)
mode "keys 500"
recent
ok "without keys the check fails" await has_failed "answered 500 to the request for its keys"
is "before the refresh token is used" "$(refresh)" "$old"
mode "me other"
recent
ok "claims of another user do not count" await has_failed "claims is for another user"
mode "refresh without ID token"
check
ok "a refresh without an ID token is checked by userinfo" await is_checked
is "the log-in works" "$(visit -b "$tmp/admin.jar" "$server/settings")" 200

# ---- roles change at the provider ----
mode fine
status_of() { curl -s -o "$tmp/body" -w '%{http_code}' -b "$tmp/admin.jar" "$server/settings"; }
has_status() { [ "$(status_of)" = "$1" ]; }
: >"$tmp/events"
curl -sN --max-time 170 -b "$tmp/admin.jar" "$server/api/v1/events" >"$tmp/events" 2>/dev/null &
listener=$!
await grep -q '^retry' "$tmp/events"
user '{"sub": "1", "preferred_username": "ann", "groups": ["team"]}'
check
ok "a lower role takes effect" await has_status 403
ok "and ends the event stream" wait "$listener"
is "the user still reads" "$(curl -s -o "$tmp/body" -w '%{http_code}' -b "$tmp/admin.jar" "$server/alerts")" 200
is "the audit log has the change" "$(sql "SELECT count(*) FROM audit WHERE who = 'oidc~ann' AND path = '/login/oidc/check' AND status = 200")" 1
user '{"sub": "1", "preferred_username": "ann", "groups": []}'
check
ok "without a role the log-in ends" await has_status 303
is "its refresh token is deleted" "$(sql "SELECT refresh FROM account WHERE subject = '1'")" ""
is "and the audit log has that" "$(sql "SELECT count(*) FROM audit WHERE who = 'oidc~ann' AND path = '/login/oidc/check' AND status = 403")" 1
user '{"sub": "1", "preferred_username": "ann", "groups": ["team"]}'
is "with one again, the user logs in" "$(log_in)" 200
cp "$tmp/jar" "$tmp/admin.jar"
reads_alerts() { [ "$(curl -s -o "$tmp/body" -w '%{http_code}' -b "$tmp/admin.jar" "$server/alerts")" = "$1" ]; }
ok "and has access" reads_alerts 200
mode "token refuses"
check
ok "a refused refresh token ends the log-in" await reads_alerts 303

for word in interaction_required login_required consent_required; do
	mode fine
	log_in >/dev/null
	cp "$tmp/jar" "$tmp/admin.jar"
	mode "token $word"
	check
	ok "a provider that answers $word ends it too" await reads_alerts 303
done
mode fine
log_in >/dev/null
cp "$tmp/jar" "$tmp/admin.jar"
mode "token garbage"
recent
ok "an answer of no use" await has_failed "tokens is not a JSON object"
is "does not end the log-in at once" "$(visit -b "$tmp/admin.jar" "$server/alerts")" 200
check # as if the last good answer was long ago
ok "but after a day" await reads_alerts 303

# ---- log-out, and an admin who ends log-ins ----
mode fine
log_in >/dev/null
is "the log-out" "$(visit -X POST "$server/logout")" 303
is "ends the session" "$(visit "$server/alerts")" 303
is "its refresh token is deleted too" "$(sql "SELECT refresh FROM account WHERE subject = '1'")" ""
is "and it is in the audit log" "$(sql "SELECT who, path FROM audit ORDER BY id DESC LIMIT 1")" "oidc~ann|/logout"
log_in >/dev/null
ok "an admin ends the log-ins of a user" "$bin/flopwatch" --server "$server" --token-file "$tmp/state/admin.token" token revoke oidc~ann
is "at once" "$(visit "$server/alerts")" 303

# ---- a restart, and secrets ----
is "a user logs in again" "$(log_in)" 200
stop_daemon
refresh=$(sql "SELECT refresh FROM account WHERE subject = '1'")
unlike "refresh tokens are stored encrypted" "$refresh$(base64 -d <<<"$refresh" | tr -d '\0')" refresh-
for secret in client-secret-of-tests access-of-tests refresh-; do
	is "no $secret in the log and the database" "$(grep -a -l -- "$secret" "$tmp/log" "$tmp"/state/flopwatch.db*)" ""
done
start_daemon || exit 1
server=http://127.0.0.1:$(port)
is "a log-in outlives a restart" "$(visit "$server/alerts")" 200
check
ok "and is checked after it" await is_checked
stop_daemon

# ---- a stop while the provider issues a new refresh token ----
start_daemon || exit 1
server=http://127.0.0.1:$(port)
mode "token held"
check
await grep -q '/token held' "$tmp/provider/requests"
kill -TERM "$daemon_pid"
await grep -q 'ev=stop ' "$tmp/log"
touch "$tmp/provider/go"
wait "$daemon_pid"
mode fine
start_daemon || exit 1
server=http://127.0.0.1:$(port)
check
if grep -q 'ev=stop.forced' "$tmp/log"; then
	skip "the token that the provider then sent is used after the next start" "the machine is too busy for the time of a stop"
	skip "and the log-in has not ended" "likewise"
else
	ok "the token that the provider then sent is used after the next start" await is_checked
	is "and the log-in has not ended" "$(visit "$server/alerts")" 200
fi
stop_daemon

# ---- an address inside the network, and the part off ----
configure http://127.0.0.1:9 ""
echo "requests_per_minute: 2" >>"$tmp/c.yml"
start_daemon || exit 1
server=http://127.0.0.1:$(port)
is "an internal provider needs allow_internal" "$(visit "$server/login/oidc")" 502
like "as the page says" "$(banner)" "the provider's address of its description is an internal one; set oidc.allow_internal to permit it"
often() { visit -H 'X-Forwarded-For: 9.9.9.9' "$server/login/oidc"; }
is "log-ins of one address are limited" "$(often) $(often) $(often)" "502 502 429"
stop_provider
is "the form for tokens is there" "$(visit "$server/login")" 200
stop_daemon

# ---- with TLS, by a private authority ----
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost \
	-keyout "$tmp/key.pem" -out "$tmp/cert.pem" 2>/dev/null
mkdir "$tmp/tls"
put "$tmp/tls/mode" fine
put "$tmp/tls/user" '{"sub": "1", "preferred_username": "ann", "groups": ["team"]}'
python3 "$root/tests/support/openid_provider.py" "$tmp/tls" "$tmp/cert.pem" "$tmp/key.pem" 2>"$tmp/provider.log" &
provider=$!
await test -s "$tmp/tls/port"
issuer=https://localhost:$(cat "$tmp/tls/port")
configure http://127.0.0.1:9 ", allow_internal: true"
start_daemon || exit 1
server=http://127.0.0.1:$(port)
is "an unknown certificate is refused" "$(visit "$server/login/oidc")" 502
like "as the page says" "$(banner)" 'the provider did not answer the request for its description: .*certificate'
stop_daemon
configure http://127.0.0.1:9 ", allow_internal: true, ca_file: $tmp/cert.pem, consent: false"
start_daemon || exit 1
server=http://127.0.0.1:$(port)
configure "$server" ", allow_internal: true, ca_file: $tmp/cert.pem, consent: false"
reload
tls_log_in() {
	rm -f "$tmp/jar"
	visit "$server/login/oidc?next=/alerts" >/dev/null
	visit --cacert "$tmp/cert.pem" "$(location)" >/dev/null
	visit "$(location)"
}
is "that of ca_file is not" "$(tls_log_in)" 200
is "consent: false requests none" "$(grep -c '/authorize prompt none' "$tmp/tls/requests")" 1
is "users of another provider may have the same names" "$(sql "SELECT count(*) FROM account")" 4
stop_daemon
write_config 'workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]' "repos: [{name: kernels, url: $tmp/kernels.git}]" "access: token"
start_daemon || exit 1
server=http://127.0.0.1:$(port)
is "without oidc there is no such log-in" "$(visit "$server/login/oidc")" 404
is "log-ins of a provider that is not configured any more end" "$(sql "SELECT count(*) FROM session s JOIN account a ON a.token = s.token")" 0
stop_daemon
