#!/bin/bash
# The reference under Help: every man page and every verb of the command line, generated when flopwatch is built and never committed.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

new_repo kernels
write_config
start_daemon || exit 1
server=http://127.0.0.1:$(port)
index=$(curl -s "$server/reference")
missing=$({ for page in "$root"/etc/man/*.scd; do basename "$page" .scd; done; "$bin/flopwatch" completion verbs | tr ' ' '\n' | sed '/./s/.*/flopwatch-&.1/'; } |
	while read -r page; do grep -qF "<a href=\"/reference/$page\">" <<<"$index" || echo "$page"; done)
is "the index has every man page and every verb" "$missing" ""
wrong=""
for page in $(grep -o 'href="/reference/[^"]*' <<<"$index" | sed 's,.*/,,'); do
	curl -s -o "$tmp/page" -w '%{http_code}' "$server/reference/$page" >"$tmp/status"
	[ "$(cat "$tmp/status")" = 200 ] && grep -q '<h2>Name</h2>' "$tmp/page" || wrong="$wrong $page"
	command -v tidy >/dev/null || continue
	tidy -e -q -utf8 "$tmp/page" 2>&1 | grep -E 'missing|discarding|unexpected|inserting' | grep -v '<t[hr]>' >"$tmp/tidy" && wrong="$wrong $page: $(head -n 1 "$tmp/tidy")"
done
is "each is a page of valid HTML" "$wrong" ""
page=$(curl -s "$server/reference/flopwatch-alerts.1")
like "an option has its meaning" "$page" '<dt><b>--reason</b> TEXT</dt><dd>reason, for the alert'
like "an example is code" "$page" "<pre class=log>.*"
like "pages link to each other" "$page" '<a href="/reference/flopwatch.1"><b>flopwatch</b>\(1\)</a>'
like "the configuration has its keys" "$(curl -s "$server/reference/flopwatchd.yml.5")" '<dt><b>public_url</b></dt>'
like "it is found under Help" "$(curl -s "$server/help")" '<a href=/reference>Reference</a>'
for name in nothing index-- '%2e%2e%2fx' 'flopwatch.1-->'; do
	like "there is no page $name" "$(curl -s -o /dev/null -w '%{http_code}' "$server/reference/$name")" '^40[04]$'
done
is "no generated page is committed" "$(git -C "$root" ls-files build 2>/dev/null)" ""
stop_daemon
