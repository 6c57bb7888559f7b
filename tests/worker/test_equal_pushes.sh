#!/bin/bash
# Pushes of equal programs, in C and in Python, next to processes that use the same cores: none is accused, and none is slower or
# faster.
# Runs beside three others.
. "$(dirname "$0")/../support/tap.sh"
mkdir -p "$tmp/bundle/share"
ln -s "$bin" "$tmp/bundle/bin"
ln -s "$root/daemon/kit" "$tmp/bundle/share/kit"
ln -s "$root/etc/suites" "$tmp/bundle/share/suites"
"$root/tests/interleave/pushes/pushes.py" "$tmp/bundle" "$tmp/out" --python /usr/bin/python3 --equal 4 --planted 2 --share 0.1 --loads 0,4 --budget 6 >"$tmp/said" 2>&1
is "no message misleads" $? 0
sed 's/^/# /' "$tmp/said"
is "of four pushes of equal programs" "$(jq -r 'select(.kind == "equal") | .verdict | IN("unchanged", "undecided")' "$tmp/out/pushes.jsonl" | sort | uniq -c | xargs)" "4 true"
is "or of two with a tenth more work" "$(jq -r 'select(.kind == "planted") | .verdict | IN("regression", "undecided")' "$tmp/out/pushes.jsonl" | sort | uniq -c | xargs)" "2 true"
is "of which each has its runs" "$(jq -s '[.[].cells[].runs > 0] | all and length == 12' "$tmp/out/pushes.jsonl")" true
