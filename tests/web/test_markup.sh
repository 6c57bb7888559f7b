#!/bin/bash
# HTML of every kind of page, over the demo database.
. "$(dirname "$0")/../support/tap.sh"

command -v tidy >/dev/null || { skip "markup of pages" "there is no tidy here"; exit 0; }
mkdir "$tmp/story"
(cd "$root" && exec build/tests/browser/pages_demo "$tmp/story") >"$tmp/demo.log" 2>&1 &
demo=$!
on_exit kill "$demo"
listens() { grep -q '^listening' "$tmp/demo.log"; }
await listens || { tap_result 1 "pages_demo listens" "$(cat "$tmp/demo.log")"; exit 1; }
server=$(sed -n 's/^listening on //p' "$tmp/demo.log")
timeout -k 5 300 python3 "$root/tests/support/markup.py" "${server%/}" >"$tmp/checks.log" 2>&1
is "every page was read" $? 0
while IFS= read -r line; do
	case "$line" in
	"ok - "*) tap_result 0 "${line#ok - }" ;;
	"not ok - "*) tap_result 1 "${line#not ok - }" "$(grep -A8 -F "$line" "$tmp/checks.log" | sed 1d | grep '^#')" ;;
	esac
done <"$tmp/checks.log"
printf '<!doctype html><title>x</title><span><form></form></span>\n' >"$tmp/wrong.html"
like "tidy would find a form in a line of text" "$(tidy -e -q "$tmp/wrong.html" 2>&1)" "missing </span> before <form>"
