#!/bin/bash
# flopwatch-send against a real mail server with STARTTLS and a login: delivered, rejected, stalled, and a certificate that nobody vouches for.
. "$(dirname "$0")/../support/tap.sh"
/usr/bin/python3 -c 'import aiosmtpd' 2>/dev/null || { skip "mails" "there is no python3-aiosmtpd here"; exit 0; }
for name in good other; do
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
		-addext subjectAltName=DNS:localhost -keyout "$tmp/$name.key" -out "$tmp/$name.pem" 2>/dev/null
done
mkdir "$tmp/plain"
/usr/bin/python3 "$root/tests/support/mail_server.py" "$tmp" "$tmp/good.pem" "$tmp/good.key" 2>"$tmp/server.log" &
on_exit kill $!
/usr/bin/python3 "$root/tests/support/mail_server.py" "$tmp/plain" - - plain 2>"$tmp/plain.log" &
on_exit kill $!
await test -f "$tmp/mail.port"
await test -f "$tmp/plain/mail.port"
port=$(cat "$tmp/mail.port")

deliver() { # address of the recipient, [members that replace others]
	jq -cn --arg url "smtp://localhost:$port" --arg to "$1" --arg ca "$tmp/good.pem" --argjson more "${2:-{\}}" \
		'{url: $url, allow_internal: true, ca_file: $ca, body: "Subject: a test\r\nFrom: w@example.org\r\n\r\n.\r\n.. two\r\nend\r\n",
		mail: {from: "w@example.org", to: [$to, "b@example.org"], user: "watch", password: "mail-password-1"}} * $more' | "$bin/flopwatch-send"
}
mails() { wc -l <"$tmp/mails" 2>/dev/null || echo 0; }

deliver stall@example.org >"$tmp/stall" 2>&1 &
stall=$! began=$SECONDS
ok "a mail" deliver a@example.org
like "reports the reply code" "$out" '^\{"status":2[0-9][0-9],"duration_ms":[0-9]+,"retry_after_s":0\}$'
last=$(tail -n 1 "$tmp/mails")
is "it went over TLS, with the login" "$(jq -c '[.tls, .user]' <<<"$last")" '[true,"watch"]'
is "to all recipients" "$(jq -c .to <<<"$last")" '["a@example.org","b@example.org"]'
is "lines that begin with a dot arrive" "$(jq -r .text <<<"$last")" "$(printf '.\n.. two\nend')"
before=$(mails)
fails "a wrong password" 1 deliver a@example.org '{"mail": {"password": "mail-password-2"}}'
like "is reported without the password" "$out" '^flopwatch-send: the mail server answered 535: [^2]*$'
fails "no login" 1 deliver a@example.org '{"mail": {"user": null, "password": null}}'
fails "an unknown mailbox" 1 deliver unknown@example.org
like "is reported with the reply code" "$out" 'the mail server answered 550'
fails "greylisting" 1 deliver later@example.org
like "is reported with the reply code" "$out" 'the mail server answered 451'
fails "a certificate of an unknown authority" 1 deliver a@example.org "{\"ca_file\": \"$tmp/other.pem\"}"
like "is rejected" "$out" "the receiver's certificate is not trusted: .*; name a private authority's by ca_file$"
fails "the system's authorities do not vouch for it either" 1 deliver a@example.org '{"ca_file": null}'
fails "a certificate of another host" 1 deliver a@example.org "{\"url\": \"smtp://127.0.0.1:$port\"}"
fails "a server without STARTTLS" 1 deliver a@example.org "{\"url\": \"smtp://localhost:$(cat "$tmp/plain/mail.port")\"}"
like "gets nothing" "$out" 'offers no STARTTLS; tls: none'
is "and stored no mail" "$(cat "$tmp/plain/mails" 2>/dev/null)" ""
ok "tls none" deliver a@example.org "{\"url\": \"smtp://localhost:$(cat "$tmp/plain/mail.port")\", \"mail\": {\"tls\": \"none\", \"user\": null, \"password\": null}}"
is "sends without TLS" "$(jq .tls "$tmp/plain/mails")" false
fails "an internal address" 1 deliver a@example.org '{"allow_internal": false}'
like "is refused" "$out" 'is an internal one; set allow_internal'
is "none of them was stored" "$(mails)" "$before"
ok "greylisting ends" deliver later@example.org
for bad in '{"url":"https://x/","mail":{"from":"a@b","to":["c@d"]}}' '{"mail":{"from":"a","to":["c@d"]}}' \
	'{"mail":{"to":["c@d>\r\nRCPT TO:<e@f"]}}' '{"mail":{"to":[]}}' '{"mail":{"tls":"maybe"}}'; do
	fails "invalid: $bad" 2 deliver a@example.org "$bad"
done
wait "$stall"
is "a server that never answers" $? 1
ok "takes less than the daemon's 30 s ($((SECONDS - began)) s)" test $((SECONDS - began)) -lt 25
like "is given up" "$(cat "$tmp/stall")" 'time'
