#!/bin/bash
# Programs that take no turns: what a process takes to settle is no part of its time, and the clock that it ran at is taken out of it.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/daemon.sh"
. "$(dirname "$0")/../lib/turns.sh"

notes() {
	api "comparisons/$(sql "SELECT $newest")" | jq -r '.notes[]?.text'
}
repository() { # NAME: its benchmark is bench.sh, read from standard input
	git init -q --bare -b main "$tmp/$1.git"
	git init -q -b main "$tmp/$1"
	git -C "$tmp/$1" remote add origin "$tmp/$1.git"
	printf 'flopwatch: 1\nbenchmarks: {one: {command: [sh, bench.sh], reader: flopwatch, budget_s: 60}}\n' >"$tmp/$1/.flopwatch.yaml"
	cat >"$tmp/$1/bench.sh"
}

# ---- a start that is slower than the rest
repository settles <<'SH'
echo '{"cell":"steady","us":[1000,1001,1000,999,1000,1001,1000,999,1000,1001,1000,999,1000,1001,1000,999]}'
echo '{"cell":"warms/up","us":[1500,1400,1300,1250,1200,1150,1100,1050,1000,1001,999,1000,1001,1000,999,1000]}'
SH
write_config "sandbox: none" "workers: [{name: cpu, command: [flopwatch-worker, serve], device: cpu}]" \
	"repos: [{name: settles, url: $tmp/settles.git}]"
start_daemon
is "a program that warms up is compared with itself" "$(on_main settles first)" "done unchanged"
is "by what it came to" "$(sql "SELECT base_median_ms BETWEEN 0.999 AND 1.001 FROM cell WHERE comparison = $newest AND key = 'warms/up'")" 1
like "how much is left out is said" "$(notes)" \
	'took a while to settle: [0-9]+ of [0-9]+ calls, at the start of a process .* are left out, of 1 of 2 cells; most of warms/up, [0-9]+ of [0-9]+$'
is "about half of them" "$(notes | sed -nE 's/.*most of warms.up, ([0-9]+) of ([0-9]+)$/\1 \2/p' | awk '{ print ($1 * 16 / $2 >= 4 && $1 * 16 / $2 <= 8) }')" 1
