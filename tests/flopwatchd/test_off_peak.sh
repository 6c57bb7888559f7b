#!/bin/bash
# A suite that is too large for a push: a push measures its shard, off-peak jobs the other shards, each against the commit of its previous
# measurement; a push interrupts them; page, JSON and command line name the shard. Times are those of device sim.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
flopwatch() { "$bin/flopwatch" --server "http://127.0.0.1:$(port)" --quiet "$@"; }
shards_done() { # commit: number of shards with a comparison of it
	sql "SELECT count(DISTINCT j.shard) FROM job j JOIN comparison c ON c.job = j.id WHERE j.shard > 0 AND j.target_sha = '$1'"
}
night_is_over() { [ "$(shards_done "$1")" = 2 ]; }
of_push() { # commit: the comparison of its push
	sql "SELECT c.id FROM comparison c JOIN job j ON j.id = c.job WHERE j.shard = 0 AND j.origin = 'push' AND j.target_sha = '$1'"
}
push_ended() { [ -n "$(of_push "$1")" ]; }
pushed() { # commit: the verdict of its push; an off-peak job may have begun
	await push_ended "$1"
	sql "SELECT verdict FROM comparison WHERE id = $(of_push "$1")"
}
of_shard() { # shard, commit
	sql "SELECT c.id FROM comparison c JOIN job j ON j.id = c.job WHERE j.shard = $1 AND j.target_sha = '$2'"
}

# A worker that stops before off-peak cells, which are more than those of a push, while $tmp/hold exists.
cat >"$tmp/worker.py" <<'PY'
import os, select, subprocess, sys, threading, time
folder, *command = sys.argv[1:]
worker = subprocess.Popen(command, stdin=subprocess.PIPE)

def relay():
    job = b""
    while select.select([0], [], []) and (data := os.read(0, 65536)):
        job = job + data if b"\n" not in job else job
        if job.split(b"\n")[0].count(b'"direction"') > 10:
            while os.path.exists(folder + "/hold"):
                open(folder + "/held", "w").close()
                time.sleep(0.05)
        worker.stdin.write(data)
        worker.stdin.flush()
    worker.stdin.close()

threading.Thread(target=relay, daemon=True).start()
os._exit(worker.wait() != 0)
PY
new_repo kernels
cat >"$tmp/kernels/etc/suites/tiny.yaml" <<'YAML'
suite: tiny
family: attention
common: {nhq: 1, nhk: 1, headdim: 8, dtype: bf16}
dense: {seqlens: [16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104], masks: [full, causal]}
directions: [forward, backward]
push: {cells: 4, always: ['*/full/s64/*/forward']}
nights: 3
budget_s: 60
YAML
git -C "$tmp/kernels" commit -q --amend -a -m "with a large suite"
write_config "workers: [{name: sim, command: [python3, $tmp/worker.py, $tmp, $bin/flopwatch-worker, serve, --cache, $tmp/cache, --sandbox, none, --device, sim], device: sim}]" \
	"repos: [{name: kernels, url: $tmp/kernels.git}]" 'off_peak: idle'
touch "$tmp/hold"
start_daemon || exit 1
push kernels main
first=$(head_of kernels)

# ---- a push ----
is "a push measures its shard" "$(pushed "$first")" unchanged
id=$(of_push "$first")
is "and JSON says which" "$(api "comparisons/$id" | jq -c '[(.cells | length), (.shard | .number, .of, .suite_cells, .nights, .measured)]')" '[4,0,2,48,3,0]'
is "with the cells that are always among them" "$(api "comparisons/$id" | jq '[.cells[].cell | select(contains("/full/s64/") and endswith("/forward"))] | length')" 1
words='A push measures 4 of the 48 cells of this suite; the others are measured off-peak, in 2 shards within 3 off-peak periods;'
like "so does its page" "$(http GET "/comparisons/$id")" "$words"
like "and the command line" "$(flopwatch wait "$first")" "$words"

# ---- a push interrupts the off-peak job ----
ok "the night begins when nothing waits" await test -f "$tmp/held"
night=$(sql "SELECT id FROM job WHERE origin = 'off_peak' ORDER BY id LIMIT 1")
is "with the first shard of the newest commit" "$(sql "SELECT shard || ' ' || target_sha FROM job WHERE id = $night")" "1 $first"
branch kernels team/other main
echo 1.01 >"$tmp/kernels/kernels/factor"
commit kernels "something else"
push kernels team/other
made_way() { [ "$(sql "SELECT count(*) FROM job_log WHERE job = $night AND line LIKE '%preempted by J%'")" -ge 1 ]; }
ok "it yields to a push" await made_way
rm "$tmp/hold"
like "which is measured" "$(result_of "$(head_of kernels)")" '^done '
is "before it" "$(sql "SELECT count(*) FROM comparison WHERE job = $night AND id < (SELECT max(c.id) FROM comparison c JOIN job j ON j.id = c.job WHERE j.branch = 'team/other')")" 0

# ---- the off-peak period ----
ok "then the off-peak jobs continue to their end" await night_is_over "$first"
is "push and night have measured every cell of main" "$(sql "SELECT count(DISTINCT key) FROM cell WHERE branch = 'main'")" 48
is "each in one shard" "$(sql "SELECT count(*) FROM cell WHERE branch = 'main'")" 48
id=$(of_shard 2 "$first")
is "JSON says which shard" "$(api "comparisons/$id" | jq -c '[(.cells | length), (.shard | .number, .of, .suite_cells, .nights, .measured)]')" '[4,2,2,48,3,2]'
like "so does its page" "$(http GET "/comparisons/$id")" 'Shard 2 of the 2 that are measured off-peak: 4 of the 48 cells of this suite\.'
ok "its verdict is no commit's" flopwatch wait "$first"

# ---- the next period, with a regression ----
branch kernels main main
echo 1.1 >"$tmp/kernels/kernels/factor"
commit kernels "slower"
push kernels main
slow=$(head_of kernels)
is "the push of a slower commit finds it" "$(pushed "$slow")" regression
ok "so does the night after it" await night_is_over "$slow"
is "which measures against the commit of the night before" \
	"$(sql "SELECT DISTINCT base_sha || ' ' || base_how FROM comparison c WHERE id IN ($(of_shard 1 "$slow"), $(of_shard 2 "$slow"))")" "$first last-off-peak"
is "and loses every cell" "$(sql "SELECT DISTINCT verdict FROM cell WHERE comparison IN ($(of_shard 1 "$slow"), $(of_shard 2 "$slow"))")" regression
is "which an alert reports" "$(sql "SELECT count(DISTINCT w.value ->> 'cell') FROM alert a JOIN json_each(a.cells) w WHERE a.branch = 'main' AND a.kind = 'regression'")" 48
is "no cell is removed" "$(sql "SELECT count(*) FROM alert WHERE kind = 'missing'")" 0
is "each shard was asked for once a commit" "$(sql "SELECT count(*) FROM job WHERE shard > 0")" 4

# ---- the period after the fix ----
echo 1 >"$tmp/kernels/kernels/factor"
commit kernels "as fast as before"
push kernels main
fast=$(head_of kernels)
is "its push finds the gain" "$(pushed "$fast")" improvement
ok "the night has it back too" await night_is_over "$fast"
is "in every cell, so that no alert is left" "$(sql "SELECT count(*) FROM alert WHERE state = 'open'")" 0

# ---- a shard that a user requests again ----
rm -f "$tmp/held"
touch "$tmp/hold"
flopwatch retry "$night" >/dev/null
ok "is measured at once" await test -f "$tmp/held"
branch kernels team/third main
echo 1.02 >"$tmp/kernels/kernels/factor"
commit kernels "something else again"
push kernels team/third
waits() { [ "$(sql "SELECT count(*) FROM job WHERE branch = 'team/third' AND state = 'queued' AND base_sha <> ''")" = 1 ]; }
ok "while a push waits" await waits
rm "$tmp/hold"
like "which comes after it" "$(result_of "$(head_of kernels)")" '^done '
is "because a person waits for it" "$(sql "SELECT state || ' ' || shard FROM job WHERE origin = 'retry'")" "done 1"
is "and nothing interrupted it" "$(sql "SELECT count(*) FROM job_log l JOIN job j ON j.id = l.job WHERE j.origin = 'retry' AND l.line LIKE '%preempted by%'")" 0

# ---- removed cells that only off-peak jobs measure ----
gone() { # kind: state, commit and cells of its alerts
	sql "SELECT a.state || ' ' || a.target_sha || ' ' || (SELECT group_concat(key, ' ') FROM (SELECT w.value ->> 'cell' AS key FROM json_each(a.cells) w ORDER BY key)) FROM alert a WHERE a.kind = '$1'"
}
has_gone() { [ -n "$(gone "$1")" ]; }
has_ended() { [[ "$(gone "$1")" = resolved* ]]; }
shard_is_done() { [ -n "$(of_shard 1 "$1")" ]; }
next() { # factor, message: a commit on main with another module
	echo "$1" >"$tmp/kernels/kernels/factor"
	commit kernels "$2"
	push kernels main
	head_of kernels
}
cells_of() { # length
	local mask direction
	for mask in causal full; do for direction in backward forward; do echo -n " attention/dense/$mask/s$1/hq1/hk1/d8/bf16/$direction"; done; done
}
branch kernels main main
is "no push measures these" "$(sql "SELECT count(*) FROM cell k JOIN comparison c ON c.id = k.comparison JOIN job j ON j.id = c.job WHERE j.shard = 0 AND (k.key LIKE '%/s96/%' OR k.key LIKE '%/s104/%')")" 0
sed -i 's/, 104\]/]/' "$tmp/kernels/etc/suites/tiny.yaml"
less=$(next 1.0001 "a shorter suite")
is "the suite of a push is its base's" "$(pushed "$less")" unchanged
ok "and of the night" await night_is_over "$less"
is "so that no cell is removed yet" "$(gone missing)" ""
echo "'-DCANNOT=(fw_attention_of(problem)->total_q==96)'" >"$tmp/kernels/kernels/flags"
without=$(next 1.0002 "nothing of 96 any more")
is "the push after it measures nothing of that, either" "$(pushed "$without")" unchanged
is "but reports the removed cells" "$(gone missing)" "open $less$(cells_of 104)"
like "on its page" "$(curl -s "http://127.0.0.1:$(port)/alerts/$(sql "SELECT id FROM alert WHERE kind = 'missing'")")" '4 cells are removed from suite tiny'
ok "then the night finds what the kernel does no more" await has_gone failing
is "and reports it as a push does" "$(gone failing)" "open $without$(cells_of 96)"
is "with its class" "$(sql "SELECT DISTINCT w.value ->> 'failure' FROM alert a JOIN json_each(a.cells) w WHERE a.kind = 'failing'")" unsupported
: >"$tmp/kernels/kernels/flags"
sed -i 's/, 96\]/, 96, 104]/' "$tmp/kernels/etc/suites/tiny.yaml"
with=$(next 1.0003 "both are back")
ok "it ends when a night has measured it again" await has_ended failing
like "while the suite is still the shorter one" "$(gone missing)" '^open '
last=$(next 1.0004 "after it")
like "and no push ends what it does not measure" "$(pushed "$last") $(gone missing)" '^unchanged open '
ok "but the night, which measures it again" await has_ended missing
is "each was reported once" "$(sql "SELECT kind || ' ' || count(*) FROM event WHERE kind IN ('alert.opened', 'alert.extended', 'alert.resolved') AND payload ->> 'alert' IN (SELECT id FROM alert WHERE kind IN ('failing', 'missing')) GROUP BY kind")" $'alert.opened 2\nalert.resolved 2'
