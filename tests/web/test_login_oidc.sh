#!/bin/bash
# The log-in by OpenID Connect with a real provider, oidc-provider from npm: code flow, consent, roles by groups, refresh tokens, log-out.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

modules=$root/tests/client/node_modules
command -v node >/dev/null || { skip "a real provider" "there is no node here"; exit 0; }
[ -d "$modules/oidc-provider" ] || { skip "a real provider" "npm has not installed oidc-provider"; exit 0; }

new_repo kernels
mkdir "$tmp/provider"
ln -s "$modules" "$tmp/provider/node_modules"
cp "$root/tests/client/provider.mjs" "$tmp/provider/"
users() { put "$tmp/provider/users" "$1"; }
provider=""
stop_provider() {
	[ -z "$provider" ] || { kill "$provider"; wait "$provider" 2>/dev/null; }
	provider=""
}
on_exit stop_provider
start_provider() { # algorithm
	rm -f "$tmp/provider/port"
	node "$tmp/provider/provider.mjs" "$tmp/provider" "$1" >>"$tmp/provider.log" 2>&1 &
	provider=$!
	await test -s "$tmp/provider/port"
}
(umask 077 && echo client-secret-of-tests >"$tmp/client.secret")
configure() { # public_url
	write_config 'workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]' "repos: [{name: kernels, url: $tmp/kernels.git}]" \
		"access: token" "public_url: $1" "oidc:" "  issuer: http://localhost:$(cat "$tmp/provider/port")" "  client_id: flopwatch" \
		"  client_secret_file: $tmp/client.secret" "  scopes: [openid, profile, groups, offline_access]" "  roles: {team: trigger, ops: admin}" \
		"  allow_internal: true" ${log_out:+"  log_out: $log_out"}
}
log_out=""
reload() {
	local before
	before=$(grep -c 'ev=config.read' "$tmp/log")
	kill -HUP "$daemon_pid"
	has_read() { [ "$(grep -c 'ev=config.read' "$tmp/log")" -gt "$before" ]; }
	await has_read
}
begin() { # algorithm: a provider, and a daemon that uses it
	start_provider "$1"
	begin_daemon
}
begin_daemon() {
	configure http://127.0.0.1:9
	start_daemon || exit 1
	server=http://127.0.0.1:$(port)
	echo "$server/login/oidc/callback" >"$tmp/provider/redirect_uri"
	configure "$server" # which the daemon reads again at a reload
	reload
}
browse() { # status and final address
	curl -sL -o "$tmp/body" -w '%{http_code} %{url_effective}' --max-time 60 -b "$tmp/jar" -c "$tmp/jar" "$@"
}
log_in() { # user: as a browser, through the provider's pages
	local at
	rm -f "$tmp/jar"
	at=$(browse "$server/login/oidc?next=/alerts")
	at=$(browse --data-urlencode "login=$1" -d "prompt=login&password=any" "${at#* }")
	case $at in *interaction*) at=$(browse -d prompt=consent "${at#* }") ;; esac
	echo "$at"
}
page() { curl -s -o "$tmp/body" -w '%{http_code}' --max-time 60 -b "$tmp/jar" "$server$1"; }

users '{"ann": ["team"], "eve": []}'
begin RS256
like "a user logs in at the provider" "$(log_in ann)" "^200 $server/login/oidc/callback\?code="
like "and is named" "$(cat "$tmp/body")" 'You are logged in as oidc~ann, with scope trigger'
is "pages open" "$(page /alerts)" 200
is "but not those of an admin" "$(page /settings)" 403
is "the provider gave a refresh token" "$(sql "SELECT count(*) FROM account WHERE refresh <> ''")" 1
cp "$tmp/jar" "$tmp/ann.jar"
like "a user without a role has no access" "$(log_in eve)" "^403 $server/login/oidc/callback"
like "and reads why" "$(cat "$tmp/body")" 'oidc~eve is in no group that has a role here'
like "nor does one whom the provider does not know" "$(log_in nobody)" '^(400|403|500|502) '
is "nor get they a session" "$(grep -c flopwatch_session "$tmp/jar")" 0

# ---- the role follows the provider ----
cp "$tmp/ann.jar" "$tmp/jar"
check() {
	sqlite3 "$tmp/state/flopwatch.db" "PRAGMA busy_timeout = 5000; UPDATE account SET checked_at = 1, tried_at = 1" >/dev/null
	reload
}
has_status() { [ "$(page "$1")" = "$2" ]; }
users '{"ann": ["team", "ops"]}'
check
ok "a higher role takes effect" await has_status /settings 200
users '{"ann": ["team"]}'
check
ok "a lower role takes effect" await has_status /settings 403
is "the log-in stays" "$(page /alerts)" 200
users '{"ann": []}'
check
ok "without a role it ends" await has_status /alerts 303
users '{"ann": ["team"]}'
like "with one, the user logs in again" "$(log_in ann)" '^200 '

# ---- the log-out at the provider ----
page /alerts >/dev/null
curl -s -o "$tmp/out" -D "$tmp/out.head" -b "$tmp/jar" -c "$tmp/jar" -X POST "$server/logout"
like "a log-out ends the session here first" "$(page /alerts) $(cat "$tmp/out.head")" '^303 HTTP/1.1 200'
like "no cache stores its page" "$(cat "$tmp/out.head")" 'Cache-Control: no-store'
at=$(grep -o 'url=[^"]*' "$tmp/out" | head -n 1 | sed 's/^url=//; s/&amp;/\&/g')
like "the browser goes to the provider's log-out" "$at" "^http://localhost:$(cat "$tmp/provider/port")/session/end\?id_token_hint=eyJ[^&]*&client_id=flopwatch&post_logout_redirect_uri=[^&]*logged-out&state=[0-9]+-[0-9a-f]{64}\$"
like "which asks the user" "$(browse "$at") $(cat "$tmp/body")" '<title>Logout Request'
xsrf=$(grep -o 'name="xsrf" value="[^"]*' "$tmp/body" | sed 's/.*"//')
like "and returns the browser" "$(browse -d "xsrf=$xsrf&logout=yes" "http://localhost:$(cat "$tmp/provider/port")/session/end/confirm")" "^200 $server/login/oidc/logged-out\?state="
like "who reads that" "$(cat "$tmp/body")" 'You are logged out here and at the provider'
unlike "a state that is not of this daemon shows nothing" "$(curl -s "$server/login/oidc/logged-out?state=1-$(printf 0%.0s {1..64})")" 'You are logged out'
like "the provider requires the password again" "$(browse "$server/login/oidc")" '/interaction/'
like "the user logs in again" "$(log_in ann)" '^200 '
is "the ID token is encrypted" "$(sql "SELECT count(*) FROM session WHERE log_out <> '' AND instr(log_out, ':') = 0")" 1

# ---- the provider is down ----
stop_provider
check
ok "the daemon logs that" await grep -q 'ev=login.check .*who=oidc~ann err=' "$tmp/log"
is "the log-in that exists still works" "$(page /alerts)" 200
is "and the log-out" "$(curl -s -o "$tmp/body" -w '%{http_code}' -b "$tmp/jar" -X POST "$server/logout")" 200
is "which ends the session" "$(page /alerts)" 303
is "every step is in the audit log" "$(sql "SELECT group_concat(path || ' ' || status, ', ' ORDER BY id) FROM audit WHERE who = 'oidc~ann'" 2>/dev/null ||
	sql "SELECT group_concat(path || ' ' || status, ', ') FROM (SELECT * FROM audit WHERE who = 'oidc~ann' ORDER BY id)")" \
	"/login/oidc/callback 200, /login/oidc/check 200, /login/oidc/check 200, /login/oidc/check 403, /login/oidc/callback 200, /logout 200, /login/oidc/callback 200, /logout 200"
stop_daemon

# ---- the other algorithm ----
begin ES256
like "an ID token with ES256" "$(log_in ann)" '^200 '

# ---- in a browser: the provider is on another site (localhost), so the session's cookie is not sent along its redirects ----
browser() { timeout -k 5 170 node "$root/tests/browser/login.mjs" "$server" ann "$@" 2>&1 | paste -sd' '; }
if command -v chromium-headless-shell chromium >/dev/null && [ -d "$root/tests/browser/node_modules/playwright-core" ]; then
	is "a browser logs in, and out" "$(browser)" "/alerts Log out /login"
	is "and without scripts" "$(browser off)" "/alerts Log out /login"
else
	skip "a browser logs in, and out" "there is no chromium here, or npm has not installed playwright-core"
fi

# ---- log_out: false ----
log_out_here() { curl -s -o "$tmp/out" -D "$tmp/out.head" -w '%{http_code} %{redirect_url}' -b "$tmp/jar" -c "$tmp/jar" -X POST "$server/logout"; }
like "a session that may log out at the provider" "$(log_in ann) $(sql "SELECT min(log_out <> '') FROM session")" '^200 .* 1$'
stop_daemon
log_out=false
begin_daemon
is "with log_out: false it ends here alone" "$(log_out_here) $(page /alerts)" "303 $server/login 303"
unlike "and the browser does not learn the provider's address" "$(cat "$tmp/out.head" "$tmp/out")" 'session/end|id_token_hint'
stop_daemon
stop_provider
begin ES256
like "a new session" "$(log_in ann)" '^200 '
is "has no ID token" "$(sql "SELECT count(*), sum(log_out <> '') FROM session")" "1|0"
is "and ends here, too" "$(log_out_here) $(page /alerts)" "303 $server/login 303"
stop_daemon
unlike "no secret is in the log" "$(cat "$tmp/log")" 'client-secret-of-tests|code=|eyJ'
