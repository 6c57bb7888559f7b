#!/bin/bash
# Two suites of one repository on device sim: one commit has one alert, with the cells of both and the culprits of both. Then faults before any
# measurement: a suite that main no longer names, and a manifest that cannot be planned.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

# factor: one commit at that speed. A C expression over `a`, the case that is run: a->total_q is 64 in suite tiny, 128 in other.
factor() {
	echo "'($1)'" >"$tmp/kernels/kernels/factor"
	echo "# $1" >>"$tmp/kernels/kernels/Makefile"
	commit kernels "$1"
}
is_idle() { # number of comparisons of the tip
	[ "$(sql "SELECT (SELECT count(*) FROM job WHERE state NOT IN ('done', 'failed', 'cancelled', 'superseded', 'target_missing')) + (SELECT count(*) FROM bisect WHERE state IN ('listing', 'measuring'))")" = 0 ] &&
		[ "$(sql "SELECT count(*) FROM comparison WHERE kind = 'compare' AND target_sha = '$(head_of kernels)'")" = "$1" ]
}
pushed() {
	push kernels main
	await is_idle "${1:-2}"
}
alerts() {
	api alerts | jq -rc '.items[] | [.kind, .state, (.cells | group_by(.suite) | map("\(.[0].suite) \(length)") | join(", "))] | join(": ")'
}

new_repo kernels
sed 's/suite: tiny/suite: other/; s/seqlens: \[64\]/seqlens: [128]/; s/masks: .*/masks: [full]}/' "$tmp/kernels/etc/suites/tiny.yaml" >"$tmp/kernels/etc/suites/other.yaml"
sed -i 's/suites: .*/suites: [tiny, other]/' "$tmp/kernels/.flopwatch.yaml"
commit kernels "two suites"
write_config
start_daemon
pushed 1 # with itself, before its suites are known
is "main begins, and nothing is wrong" "$(alerts)" ""

# ---- a loss in both, among three commits ----
factor "1.0001"
factor "1.08"
factor "1.0801"
pushed
is "one alert holds the cells of both" "$(alerts)" "regression: open: other 2, tiny 4"
is "one commit is named, for the cells of both" "$(api alerts | jq -c '[.items[].culprits[] | [.subject, .commits, (.cells | length)]]')" '[["1.08",1,6]]'
is "its groups are of both" "$(api alerts | jq -c '[.items[].groups[].cells] | add')" 6
is "it opened once, and later cells are notified" "$(sql "SELECT group_concat(kind) FROM event WHERE kind IN ('alert.opened', 'alert.extended') ORDER BY id")" "alert.opened,alert.extended"

# ---- one suite recovers, then nothing changes, then the other does ----
factor "a->total_q == 64 ? 1.08 : 1.0"
pushed
is "half of it is well" "$(alerts)" "regression: open: other 2, tiny 4"
factor "a->total_q == 64 ? 1.0802 : 1.0002"
pushed
is "an unchanged commit ends nothing" "$(alerts)" "regression: open: other 2, tiny 4"
factor "1.0"
pushed
is "all of it is" "$(alerts)" "regression: resolved: other 2, tiny 4"

# ---- a manifest with fewer suites, then only missing ones, then all again ----
suites() { sed -i "s/suites: .*/suites: [$1]/" "$tmp/kernels/.flopwatch.yaml"; }
news() { # alerts about missing suites and failures
	api alerts | jq -rc '[.items[] | select(.kind == "missing" or .kind == "failing") | "\(.kind) \(.state)"] | join(", ")'
}
title_of() { api alerts | jq -r --arg kind "$1" '[.items[] | select(.kind == $kind)][0].title'; }
has_failed() { [ "$(sql "SELECT count(*) FROM job WHERE target_sha = '$(head_of kernels)' AND state = 'failed'")" = 1 ]; }
suites tiny
factor "1.0003"
pushed # by the suites of its base, which has both
is "a suite that main drops is reported" "$(news)" "missing open"
is "with the cells that are not measured any more" "$(api alerts | jq -c '.items[] | select(.kind == "missing") | [.title, .target == "'"$(head_of kernels)"'", (.cells | length)]')" '["suite other was removed: .flopwatch.yaml no longer names it, so 2 cells are not measured",true,2]'
factor "1.0004"
pushed 1
is "the next commit neither reports it again nor ends it" "$(news)" "missing open"
suites "tiny, other"
factor "1.0005"
pushed 1
is "it ends when a commit names the suite again" "$(news)" "missing resolved"

suites nosuch
factor "1.0006"
push kernels main
await has_failed
is "a commit of which no plan can be made is reported" "$(news)" "failing open, missing resolved"
like "with the reason" "$(title_of failing)" '^cannot be measured: commit [0-9a-f]{12}: .flopwatch.yaml:4:10: suites\[0\]: there is no suite nosuch: '
echo 'speed: high' >>"$tmp/kernels/.flopwatch.yaml"
factor "1.0008"
push kernels main
await has_failed
is "the next wrong commit blames no other commit" "$(news)" "failing open, missing resolved"
sed -i '/^speed/d' "$tmp/kernels/.flopwatch.yaml"
suites "tiny, other"
factor "1.0009"
pushed
is "a commit that fixes it is measured against the last measurable one" \
	"$(sql "SELECT t.name || ' ' || c.kind || ' ' || c.verdict || ' ' || m.subject FROM comparison c JOIN suite t ON t.id = c.suite JOIN git_commit m ON m.sha = c.base_sha WHERE c.target_sha = '$(head_of kernels)' ORDER BY 1" | paste -sd,)" \
	"other compare unchanged 1.0003,tiny compare unchanged 1.0005"
is "and every alert is resolved" "$(news)" "failing resolved, missing resolved"
factor "1.08"
pushed
is "the commit after it is compared with it" "$(sql "SELECT count(*) FROM comparison WHERE target_sha = '$(head_of kernels)' AND kind = 'compare' AND verdict = 'regression'")" 2
is "and has the only alert that is open" "$(api 'alerts?state=open' | jq '.items | length')" 1

stop_daemon
