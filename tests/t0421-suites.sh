#!/bin/bash
# Two suites of one repository on device sim: one commit has one alert, with the cells of both and the culprits of both.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/daemon.sh"

# factor: one commit at that speed. A C expression over `a`, the case that is run: a->total_q is 64 in suite tiny, 128 in other.
factor() {
	echo "'($1)'" >"$tmp/kernels/kernels/factor"
	echo "# $1" >>"$tmp/kernels/kernels/Makefile"
	commit kernels "$1"
}
is_idle() { # number of comparisons of the tip
	[ "$(sql "SELECT (SELECT count(*) FROM job WHERE state NOT IN ('done', 'failed', 'cancelled', 'superseded', 'gone')) + (SELECT count(*) FROM bisect WHERE state IN ('listing', 'measuring'))")" = 0 ] &&
		[ "$(sql "SELECT count(*) FROM comparison WHERE kind = 'change' AND target_sha = '$(head_of kernels)'")" = "$1" ]
}
pushed() {
	push kernels main
	await 60 is_idle "${1:-2}"
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
is "it opened once, and somebody hears of the rest" "$(sql "SELECT group_concat(kind) FROM event WHERE kind IN ('alert.opened', 'alert.extended') ORDER BY id")" "alert.opened,alert.extended"

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

stop_daemon
