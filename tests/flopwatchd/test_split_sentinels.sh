#!/bin/bash
# A comparison over two devices checks each direction's power draw on one of them; if it differs, cells of the other are measured again.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"

new_repo kernels
sed -i 's/seqlens: \[64\]/seqlens: [512]/' "$tmp/kernels/etc/suites/tiny.yaml"
commit kernels "calls long enough for the governor"
printf '#!/bin/sh\nFLOPWATCH_SIM_DEVICES=0,1 exec "%s" "$@"\n' "$bin/flopwatch-worker" >"$tmp/worker"
chmod +x "$tmp/worker"
write_config "workers: [{name: host, command: [$tmp/worker, serve], device: sim}]" "repos: [{name: kernels, url: $tmp/kernels.git}]" \
	"sandbox: none" "split: true" "profile: off"
start_daemon
push kernels main
result_of "$(head_of kernels)" >/dev/null

pushed() { # name, W in forward: a branch whose forward calls draw that much at the clock that others run at 700 W
	branch kernels "$1" main
	sed -i "s/= CHOOSE(config);/= problem->direction == FW_FORWARD ? \"SIM_POWER_W=$2\" : CHOOSE(config);/" "$tmp/kernels/kernels/good.c"
	commit kernels "$1"
	push kernels "$1"
	result_of "$(head_of kernels)"
}
tip() { sql "SELECT max(id) FROM comparison WHERE target_sha = '$(head_of kernels)'"; }
in_sustained_runs() { # WHAT of cells that have had sustained runs
	sql "SELECT $1 FROM (SELECT DISTINCT x.id, x.key, x.device, x.verdict FROM cell x JOIN sample s ON s.cell = x.id JOIN sample_kind k ON k.id = s.kind WHERE k.series = 'sustained' AND x.comparison = $(tip))"
}
logged() { sql "SELECT count(*) FROM job_log WHERE line LIKE 'again, since power draw differs: % cell% on sim-_' AND job = (SELECT job FROM comparison WHERE id = $(tip))"; }
directions_on() { sql "SELECT group_concat(n, ' ') FROM (SELECT count(DISTINCT direction) AS n FROM cell WHERE comparison = $(tip) GROUP BY device)"; }
runs_of_two() { sql "SELECT count(*) FROM (SELECT s.run FROM sample s JOIN cell x ON x.id = s.cell WHERE x.comparison = $(tip) GROUP BY s.run HAVING count(DISTINCT x.device) > 1)"; }

is "a branch that draws as much is unchanged" "$(pushed alike 700)" "done unchanged"
is "both devices have cells of both directions" "$(directions_on)" "2 2"
is "each direction has been looked at once, on a device of its own" "$(in_sustained_runs "count(*) || ' ' || count(DISTINCT device) || ' ' || sum(key LIKE '%/forward')")" "2 2 1"
is "and no cell was measured again" "$(logged)" 0

is "one that draws more in one direction" "$(pushed hungry 900)" "done regression"
is "lost it in all cells of that, in sustained_runs" "$(sql "SELECT sum(verdict = 'regression' AND key LIKE '%/forward') || ' of ' || sum(key LIKE '%/forward') || ', ' || sum(decided_by = 'sustained') FROM cell WHERE comparison = $(tip)")" "2 of 2, 2"
is "those of the device that had not looked were measured again" "$(logged)" 1
is "the other direction is unchanged" "$(sql "SELECT group_concat(DISTINCT verdict) FROM cell WHERE comparison = $(tip) AND key LIKE '%/backward'")" unchanged
is "and no run timed cells of two devices" "$(runs_of_two)" 0
begins() { # N: the first side of each cell's n-th run
	sql "SELECT group_concat(who, '') FROM (SELECT substr(s.call_order, 1, 1) AS who, row_number() OVER (PARTITION BY x.id ORDER BY l.n) AS nth FROM sample s JOIN sample_kind k ON k.id = s.kind JOIN run l ON l.id = s.run JOIN cell x ON x.id = s.cell WHERE k.series = 'device' AND k.side = 'target' AND x.comparison = $(tip) ORDER BY x.id) WHERE nth = $1"
}
is "who begins a cell changes from run to run" "$(begins 2)" "$(begins 1 | tr AB BA)"
like "and from cell to cell" "$(begins 1)" 'AB|BA'

echo 1.1 >"$tmp/kernels/kernels/factor"
is "one that takes more work, too" "$(pushed hungry_and_slow 900)" "done regression"
is "has shown it in pairs" "$(sql "SELECT count(*) FROM cell WHERE comparison = $(tip) AND verdict = 'regression' AND decided_by = '' AND change_pct < -5")" 4
is "and nothing was measured again" "$(logged)" 0
stop_daemon

# ---- confirmed elsewhere ----
sed -i 's/^split: true/&\nconfirm: other_device/' "$tmp/c.yml"
start_daemon
is "one whose losses another device confirms" "$(pushed hungrier 950)" "done regression"
is "has been measured again, too" "$(logged)" 1
is "before that" "$(sql "SELECT sum(confirmed_on <> device) FROM cell WHERE comparison = $(tip) AND verdict = 'regression'")" 2
stop_daemon
