#!/bin/bash
# mandoc accepts the man pages that scdoc makes of their sources.
. "$(dirname "$0")/../support/tap.sh"

for program in scdoc mandoc; do
	command -v $program >/dev/null || { skip "man pages" "there is no $program here"; exit 0; }
done
# scdoc begins a paragraph where mandoc expects none; a page does not show it.
lint() { mandoc -T lint -W warning "$1" 2>&1 | grep -v 'skipping paragraph macro'; }

for source in "$root"/etc/man/*.scd; do
	page=$(basename "$source" .scd)
	scdoc <"$source" >"$tmp/$page" 2>"$tmp/err" || { tap_result 1 "scdoc reads $page" "$(cat "$tmp/err")"; continue; }
	is "mandoc has nothing to say of $page" "$(lint "$tmp/$page")" ""
done
printf '.TH x 1\n.SH NAME\n.Xx wrong\n' >"$tmp/wrong.1"
like "and would of a wrong one" "$(lint "$tmp/wrong.1")" "skipping unknown macro: .Xx"
