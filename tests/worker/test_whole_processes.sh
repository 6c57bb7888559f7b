#!/bin/bash
# Programs that are not interleaved: the calls before a process is stable are excluded from its time, and the effect of its clock
# is removed.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
. "$(dirname "$0")/../support/interleave.sh"

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
like "the number of omitted results is reported" "$(notes)" \
	'took a while to stabilise: [0-9]+ of [0-9]+ calls, at the start of a process .* are left out, of 1 of 2 cells; most of warms/up, [0-9]+ of [0-9]+$'
is "about half of them" "$(notes | sed -nE 's/.*most of warms.up, ([0-9]+) of ([0-9]+)$/\1 \2/p' | awk '{ print ($1 * 16 / $2 >= 4 && $1 * 16 / $2 <= 8) }')" 1
stop_daemon TERM

# ---- several results of the same name, in different numbers: the verdict does not depend on the other rows only
results() { # TIMES of results of one name, and a constant row: a benchmark that prints hyperfine's JSON
	local list='{"command":"steady","times":[0.001,0.001,0.001]}' ms
	for ms in "$@"; do list+=",{\"command\":\"twin\",\"times\":[0.00$ms,0.00$ms,0.00$ms]}"; done
	printf "echo '{\"results\":[%s]}'\n" "$list" >"$tmp/twins/bench.sh"
}
verdicts() { # of the newest comparison: KEY:VERDICT ...
	sql "SELECT group_concat(key || ':' || verdict, ' ') FROM (SELECT key, verdict FROM cell WHERE comparison = $newest ORDER BY key)"
}
repository twins </dev/null
sed -i 's/reader: flopwatch/reader: hyperfine/' "$tmp/twins/.flopwatch.yaml"
results 2 3
write_config "sandbox: none" "workers: [{name: cpu, command: [flopwatch-worker, serve], device: cpu}]" \
	"repos: [{name: twins, url: $tmp/twins.git}]"
start_daemon
is "results of one name are distinguished by their order" "$(on_main twins first) $(verdicts)" "done unchanged steady:unchanged twin#1:unchanged twin#2:unchanged"
results 2 3 9
is "a push with a result more of a name is no word about the other rows alone" "$(on_main twins more)" "done not_comparable"
is "and its cells, named" "$(verdicts)" "steady:unchanged twin#1:not_comparable twin#2:not_comparable twin#3:not_comparable"
is "each with the reason" "$(sql "SELECT DISTINCT reason FROM cell WHERE comparison = $newest AND verdict = 'not_comparable'")" \
	"the files have different numbers of results of this name"
like "and the numbers are in a note" "$(notes)" "the base's output has 2 results called twin, the target's output has 3: their order is unknown"
echo "# the same" >>"$tmp/twins/bench.sh"
is "the next push is compared again" "$(on_main twins same) $(verdicts)" \
	"done unchanged steady:unchanged twin#1:unchanged twin#2:unchanged twin#3:unchanged"
is "no result is reported as removed" "$(sql "SELECT count(*) FROM alert WHERE kind = 'missing'")" 0
results 2 5
is "nor is one with a result less, and one cell is removed" "$(on_main twins fewer) $(verdicts)" \
	"done not_comparable steady:unchanged twin#1:not_comparable twin#2:not_comparable twin#3:removed"
results 2
is "a single result has the key without a number" "$(on_main twins single) $(verdicts)" \
	"done not_comparable steady:unchanged twin:not_comparable twin#1:removed twin#2:removed"
is "the commit that lost results is named" "$(sql "SELECT group_concat(key, ' ') FROM (SELECT w.value ->> 'cell' AS key FROM alert a, json_each(a.cells) w WHERE a.kind = 'missing' AND a.target_sha = '$(head_of twins)' ORDER BY key)")" "twin#1 twin#2"
stop_daemon TERM

# ---- processes that the device ran at different clocks: the time of a process follows its clock, of four in a run
repository clocks <<SH
exec 9>"$tmp/runs.lock" # both sides are listed at the same time
flock 9
runs=\$(cat "$tmp/runs" 2>/dev/null || echo 0)
echo \$((runs + 1)) >"$tmp/runs"
flock -u 9
work=\$(cat work)
[ \$((runs % 2)) = 0 ] && mhz=1500 || mhz=1400
echo "{\"cell\":\"bound\",\"us\":[\$((1500 * work / mhz))]}"
SH
echo 100000 >"$tmp/clocks/work"
printf '#!/bin/sh\nexport FLOPWATCH_SIM_DEVICE_CHECK=%s\nexec "%s" "$@"\n' "$tmp/guard" "$bin/flopwatch-worker" >"$tmp/worker"
chmod +x "$tmp/worker"
write_config "sandbox: none" "workers: [{name: cpu, command: [\"$tmp/worker\", serve], device: cpu}]" \
	"repos: [{name: clocks, url: $tmp/clocks.git}]"
printf 'at=clocks %s\n' "pass=0 sm_mhz=1500" "pass=1 sm_mhz=1400" "pass=2 sm_mhz=1500" "pass=3 sm_mhz=1400" >"$tmp/guard"
start_daemon
is "clocks that differ by 7 % from process to process" "$(on_main clocks first)" "done unchanged"
is "are known of each" "$(sql "SELECT count(*) > 0 AND min(mhz IS NOT NULL) FROM sample s JOIN cell c ON c.id = s.cell WHERE c.comparison = $newest")" 1
api "comparisons/$(sql "SELECT $newest")" >"$tmp/comparison.json"
"$root/tests/gpu/interleave/figures.py" "$tmp/comparison.json" "$tmp/state/flopwatch.db" clocks >"$tmp/figures" 2>"$tmp/said"
is "figures of it have every run" "$(jq -c '[.cells[] | (.runs_pct | length) == .runs, .clocks]' "$tmp/figures") $(cat "$tmp/said")" "[true,true] "
like "and say that clocks are known" "$("$root/tests/gpu/interleave/figures.py" --sum "$tmp/figures")" 'clocks known$'
"$root/tests/gpu/interleave/figures.py" "$tmp/comparison.json" "$tmp/none.db" clocks >"$tmp/figures"
like "whatever else cannot be read" "$("$root/tests/gpu/interleave/figures.py" --sum "$tmp/figures")" 'clocks known$'
like "and that is reported" "$("$root/tests/gpu/interleave/figures.py" --sum "$tmp/figures")" '^not ok - clocks: what single runs say is not known: .*none.db: unable to open'
is "and taken out of it" "$(sql "SELECT abs(change_pct) < 0.1 AND ci_high_pct - ci_low_pct < 1.5 FROM cell WHERE comparison = $newest")" 1
echo 103000 >"$tmp/clocks/work"
on_side() { # branches have no reference commit, which would run between base and target
	branch clocks "$1" main
	echo "$2" >"$tmp/clocks/work"
	commit clocks "$1"
	push clocks "$1"
	in_the_end "$(head_of clocks)"
}
is "3 % more work is found next to them" "$(on_side more 103000)" "done regression"
: >"$tmp/guard"
is "without them nothing is" "$(on_side again 103001)" "done undecided"
is "and none is made up" "$(sql "SELECT count(mhz) FROM sample s JOIN cell c ON c.id = s.cell WHERE c.comparison = $newest")" 0
