#!/bin/bash
# Interleaved programs whose calls take longer when one follows the other: detected only by the sustained runs of turns, which
# are separate runs.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
. "$(dirname "$0")/../support/interleave.sh"

main_of() { # UNITS: of a call in a sustained run; 1,000 otherwise
	echo 'int main(void) { FLOPWATCH("sum", 1e6, 0) take(flopwatch_cell.is_sustained ? '"$1"' : 1000); return 0; }'
}

interleave_repo busy
program busy "$(main_of 1000)"
write_config "sandbox: none" "workers: [{name: sim, command: [flopwatch-worker, serve], device: sim}]" "repos: [{name: busy, url: $tmp/busy.git}]"
start_daemon
is "the daemon starts" $? 0
is "main is judged" "$(on_main busy)" "done unchanged"
is "calls that take 8 % longer in sustained runs are a regression" "$(on_branch busy "$(main_of 1080)")" "done regression"
is "in sustained_runs alone" "$(sql "SELECT verdict || ' ' || decided_by || ' ' || (abs(change_pct) < 1) || ' ' || (decided_pct BETWEEN -8 AND -7) FROM cell WHERE comparison = $newest")" "regression sustained 1 1"
is "whose runs there were two of, or more: overwhelming needs no second set" "$(sql "SELECT count(DISTINCT s.run) >= 2 FROM sample s JOIN sample_kind k ON k.id = s.kind JOIN cell c ON c.id = s.cell WHERE k.series = 'sustained' AND c.comparison = $newest")" 1
stop_daemon
