#!/bin/bash
# A profile of every cell of a suite by one command, on device sim: two providers of one commit, timed and profiled cell by cell, with a table of
# configurations; it sets no verdict.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
fw() {
	"$bin/flopwatch" --server "http://127.0.0.1:$(port)" --quiet "$@"
}

new_repo kernels
echo '-DYARDSTICK_FACTOR=1.25' >"$tmp/kernels/kernels/flags"
cat >"$tmp/kernels/etc/suites/lengths.yaml" <<'YAML'
suite: lengths
family: attention
common: {nhq: 2, nhk: 1, headdim: 64, dtype: bf16}
dense: {seqlens: [64, 128], masks: [full, causal]}
directions: [forward, backward]
seed: 42
threshold_pct: 1.5
budget_s: 60
YAML
git -C "$tmp/kernels" add -A
git -C "$tmp/kernels" commit -q --amend -m "two providers"
write_config
start_daemon || exit 1
push kernels main
main=$(head_of kernels)
is "main is judged" "$(result_of "$main")" "done unchanged"
verdict=$(api "commits/$main/verdict?repo=kernels")

# ---- two providers of the upstream branch, by one command ----
fw profile --suite lengths --base-provider yardstick >"$tmp/said" 2>&1
is "one command" $? 0
id=$(sql "SELECT max(id) FROM profile")
like "says what it looked at" "$(cat "$tmp/said")" "^profile $id  kernels  lengths  base ${main:0:12} by yardstick target ${main:0:12}"
api "profiles/$id" >"$tmp/profile"
is "every cell of the suite has its place" "$(jq -c '[(.configurations | length), (.cells | length), ([.cells[].state] | unique)]' "$tmp/profile")" '[8,8,["done"]]'
is "with both times, where both do it" "$(jq -c '[.configurations[] | select(.base.ms and .target.ms)] | [length, (map(.speedup > 1.2 and .speedup < 1.3) | unique)]' "$tmp/profile")" '[6,[true]]'
is "TFLOP/s of both" "$(jq -c '[.configurations[] | select(.base.ms) | .target.tflops > .base.tflops] | unique' "$tmp/profile")" '[true]'
is "what each runs" "$(jq -c '[.configurations[].target.configuration] | unique' "$tmp/profile")" '["NAIVE=1"]'
is "the longest over the shortest" "$(jq -c '[.long_over_short[] | [.title, .direction, .shortest, .longest]]' "$tmp/profile")" \
	'[["full","forward",64,128],["full","backward",64,128],["causal","forward",64,128]]'
like "as lines" "$(cat "$tmp/said")" '^long over short: full forward, TFLOP/s at 128 over 64: base [0-9.]+, target [0-9.]+$'
like "and a table" "$(cat "$tmp/said")" 'attention/dense/full/s128/hq2/hk1/d64/bf16/forward +base '
like "and the memory of each, without columns for what was not counted" "$(cat "$tmp/said")" ' cell +side +allocated MB$'
like "which is named as not counted" "$(cat "$tmp/said")" '^warps, sectors and stalls were not counted$'
like "that says why nothing was counted" "$(cat "$tmp/said")" '^6 cells: .*no counters'
like "and which one side does not support" "$(cat "$tmp/said")" '^2 cells: .*no causal backward'
is "with the columns of counters" "$(api "profiles/$id/configurations.csv" | head -n 1 | tr -d '\r' | cut -d, -f7-)" "ms,tflops,allocated_mb,dram_mb,dram_gb_s,l2_hit_pct,l1_hit_pct,bank_conflicts_pct,tensor_pct,issue_pct,warp_execution_pct,load_sector_pct,store_sector_pct,long_scoreboard_pct,barrier_pct,speedup"
is "as CSV" "$(api "profiles/$id/configurations.csv" | wc -l)" 17
like "as Markdown" "$(api "profiles/$id/configurations.md")" '^\| `attention/dense/full/s64/.*` \| target \| NAIVE=1 \| '
is "as JSON of the command" "$(fw profile main main --suite lengths --base-provider yardstick --cells '*/full/*/forward' --json | jq -c '[(.configurations | length), .suite]')" '[2,"lengths"]'
is "of one commit by itself, too" "$(fw profile --suite lengths --cells '*/full/*/forward' --json | jq -c '[.configurations[] | .speedup > 0.9] | unique')" '[true]'
fw profile >"$tmp/said" 2>&1
is "without a suite it wants sides" $? 2

# ---- and no verdict ----
is "the commit's verdict stays" "$(api "commits/$main/verdict?repo=kernels")" "$verdict"
is "there is no alert" "$(sql "SELECT count(*) FROM alert")" 0
is "it is no yardstick" "$(sql "SELECT count(*) FROM job WHERE kind = 'peer' AND NOT quick")" 0
