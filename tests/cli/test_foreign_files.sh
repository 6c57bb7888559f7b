#!/bin/bash
# Files of foreign benchmarks: compared without a daemon, imported once, and MagiAttention's CSV written from a comparison.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/daemon.sh"
fw() { "$bin/flopwatch" --server "http://127.0.0.1:$(port)" "$@"; }
data=$root/tests/data/readers

# ---- two files, no daemon --------------------------------------------------------------------------------------------------
sed 's/3.5861,613.2000/3.7000,594.3000/' "$data/ffa-dense.csv" >"$tmp/slower.csv"
fails "a slower row ends with 7" 7 "$bin/flopwatch" compare "$data/ffa-dense.csv" "$tmp/slower.csv"
like "the table shows it" "$out" 'ffa/dense/full/s8192/forward +3\.5861 +613\.2 +3\.7 +594\.3 +-3\.08 % +1/1'
like "in words, too" "$out" 'ffa/dense/full/s8192/forward took 3\.18 % more time'
like "and says what two files cannot say" "$out" 'This is no verdict: each file is one run'
ok "a faster row is none to fail for" "$bin/flopwatch" compare "$tmp/slower.csv" "$data/ffa-dense.csv"
like "but is named as well" "$out" 'ffa/dense/full/s8192/forward took 3\.08 % less time'
like "and counted" "$out" '4 cells are in both files, 0 slower and 1 faster by more than 1\.5 %'
ok "a wider threshold" "$bin/flopwatch" compare "$data/ffa-dense.csv" "$tmp/slower.csv" --threshold 3.5
fails "is a percentage" 2 "$bin/flopwatch" compare "$data/ffa-dense.csv" "$tmp/slower.csv" --threshold x
fails "a third file is written" 7 "$bin/flopwatch" compare "$data/ffa-dense.csv" "$tmp/slower.csv" "$tmp/out.csv"
is "in MagiAttention's columns" "$(cut -d, -f1-6 "$tmp/out.csv" | head -n 2)" "mask_type,direction,seqlen,tflops_per_sec_baseline,tflops_per_sec_target,tflops_per_sec_improvement(%)
full,fwd,8192,613.2000,594.3000,-3.0822"
ok "of other formats, too" "$bin/flopwatch" compare "$data/nvbench.json" "$data/nvbench.json" "$tmp/nv.csv"
is "with the columns that all have" "$(head -n 1 "$tmp/nv.csv")" "cell,base_ms,target_ms,base_tflops,target_tflops,change_pct"
fails "two branches have no third file" 2 "$bin/flopwatch" compare main other "$tmp/out.csv"
like "which is said" "$out" 'is written from two files, but main and other are not both files here'
sed 's/4,623,840/4,723,840/' "$data/ncu.csv" >"$tmp/slower.ncu.csv"
fails "two exports of ncu" 7 "$bin/flopwatch" compare "$data/ncu.csv" "$tmp/slower.ncu.csv"
like "are compared kernel by kernel" "$out" 'void_v2_backward_kernel<128,_128,_1> +4\.62384 +4\.72384 +-2\.12 %'
fails "a folder that is not there" 1 "$bin/flopwatch" compare "$data/nvbench.json" "$data/nvbench.json" "$tmp/no/nv.csv"
ok "equal files end with 0" "$bin/flopwatch" compare "$data/nvbench.json" "$data/nvbench.json"
head -n 3 "$data/ffa-dense.csv" >"$tmp/fewer.csv"
fails "a row that vanished is no silence" 7 "$bin/flopwatch" compare "$data/ffa-dense.csv" "$tmp/fewer.csv"
like "but a warning" "$out" "WARNING ffa/dense/causal/s8192/forward is not in $tmp/fewer.csv"
ok "old and new columns name a case alike" "$bin/flopwatch" compare "$data/ffa-block-sparse-old.csv" "$data/ffa-block-sparse.csv"
like "so that they meet" "$out" 'ffa/block_sparse/s49152/r0\.1/b64/forward +23 '
ok "--json" "$bin/flopwatch" compare "$data/hyperfine.json" "$data/hyperfine.json" --json
is "is JSON without a verdict" "$(jq -c '[.format, .verdict, .cells[0].change_pct]' <<<"$out")" '["hyperfine",null,0]'
head -c 300 "$data/nvbench.json" >"$tmp/cut.json"
fails "a file that is cut off" 1 "$bin/flopwatch" compare "$data/nvbench.json" "$tmp/cut.json"
like "has its place" "$out" "^flopwatch: $tmp/cut.json:[0-9]+: is no JSON: .*cut off"
fails "a triton file without a unit" 1 "$bin/flopwatch" compare "$data/triton-old.csv" "$data/triton-old.csv"
like "asks for one" "$out" 'does not say what its numbers are; give a unit'
ok "which can be given" "$bin/flopwatch" compare "$data/triton-old.csv" "$data/triton-old.csv" --unit GB/s
echo hello >"$tmp/text"
fails "no format at all" 1 "$bin/flopwatch" compare "$tmp/text" "$tmp/text"
like "lists those that are read" "$out" 'say which with --format: flopwatch, ffa, nvbench'

# ---- rows without a time -----------------------------------------------------------------------------------------------------
fails "a file whose row failed ends with 7" 7 "$bin/flopwatch" compare "$data/google-benchmark-2018.json" "$data/google-benchmark-2018.json"
like "it is named" "$out" "WARNING BM_Launch failed in $data/google-benchmark-2018.json: no kernel image for this device"
like "and what is left out is counted" "$out" "WARNING $data/google-benchmark-2018.json: 1 row was left out: BM_Empty \(a real_time of 0 is no time\)"
like "the rest is compared" "$out" '^2 cells are in both files'
fails "the same as JSON" 7 "$bin/flopwatch" compare "$data/google-benchmark-2018.json" "$data/google-benchmark-2018.json" --json
is "has both" "$(jq -c '[(.cells[] | select(.cell == "BM_Launch") | .target_failure), (.left_out[] | select(.side == "base") | .cell, .reason)]' <<<"$out")" \
	'["no kernel image for this device","BM_Empty","a real_time of 0 is no time"]'
sed 's/0\.012,/0.0,/' "$data/hyperfine.json" >"$tmp/zero.json"
fails "one time of 0 refuses a row and not the file" 7 "$bin/flopwatch" compare "$data/hyperfine.json" "$tmp/zero.json"
like "which is told with its reason" "$out" "WARNING sort_data.txt is left out of $tmp/zero.json: a time of 0 s"
like "beside the rest" "$out" '^1 cells are in both files'
ok "CPU time, where it is asked for" "$bin/flopwatch" compare "$data/google-benchmark-aggregates.json" "$data/google-benchmark-aggregates.json" --time cpu
fails "of a format that has it" 1 "$bin/flopwatch" compare "$data/hyperfine.json" "$data/hyperfine.json" --time cpu
like "else not" "$out" '--time is for google-benchmark, which writes two; hyperfine has one time'
ok "MagiAttention's rates" "$bin/flopwatch" compare "$data/flops_report.csv" "$data/flops_report.csv"
like "without what ran out of memory" "$out" '3 rows were left out: sdpa/seqlen=65536/per-TFLOP \(-1: out of memory'
head -c -1 "$data/flops_report.csv" >"$tmp/flops.csv"
fails "a file whose last number may be cut" 1 "$bin/flopwatch" compare "$data/flops_report.csv" "$tmp/flops.csv"
like "is refused" "$out" 'flops.csv:4: has no end of line, so its last cell, `624.0`, may be cut'

# ---- import ------------------------------------------------------------------------------------------------------------------
new_repo kernels
write_config
start_daemon || exit 1
push kernels main
first=$(head_of kernels)
is "a comparison of our own" "$(result_of "$first")" "done unchanged"
other=$(printf '%040d' 7)
fails "import says what is missing" 2 fw import "$data/ffa-dense.csv"
ok "import of absolute figures" fw import "$data/ffa-dense.csv" --repo kernels --commit "$first"
like "stores them" "$out" '^4 rows stored as comparison 2$'
ok "the same again" fw import "$data/ffa-dense.csv" --repo kernels --commit "$first"
like "stores nothing" "$out" '^4 rows were stored before as comparison 2$'
is "one comparison holds them" "$(sql "SELECT count(*) FROM comparison WHERE kind = 'import'")" 1
body=$(api comparisons/2)
is "with the file's own TFLOP/s" "$(jq -c '[.kind, .suite, .verdict, .cells[0].cell, .cells[0].target.median_ms, (.cells[0].target.tflops | round), .cells[0].base.median_ms]' <<<"$body")" \
	'["import","ffa","undecided","ffa/dense/full/s8192/forward",3.5861,613,null]'
ok "import of two files" fw import "$tmp/slower.csv" "$data/ffa-dense.csv" --repo kernels --commit "$first" --base "$other" --branch main --suite theirs
body=$(api comparisons/3)
is "has a change and no verdict" "$(jq -c '[.branch, .suite, .cells[0].verdict, (.cells[0].change_pct * 100 | round), .cells[0].reason]' <<<"$body")" \
	'["main","theirs","undecided",-308,"imported: two figures without their scatter cannot show a change of 1.5 %"]'
ok "a row that failed is imported as that" fw import "$data/google-benchmark-2018.json" --repo kernels --commit "$first"
like "and told" "$out" 'WARNING BM_Launch failed in .*: no kernel image for this device'
id=$(sql "SELECT max(id) FROM comparison")
is "with its message" "$(api "comparisons/$id" | jq -c '.cells[] | select(.cell == "BM_Launch") | [.verdict, .failure, .reason]')" '["failed","reported","no kernel image for this device"]'
is "left ones are counted in the answer" "$(fw import "$data/google-benchmark-2018.json" --repo kernels --commit "$first" --json 2>/dev/null | jq -c '[.new, .left_out]')" '[false,1]'
is "a row that failed has no time" "$(post imports '{"repo":"kernels","commit":"'"$first"'","name":"x","rows":[{"cell":"a","ms":1,"failure":"x"}]}' | jq -r .detail | cut -d: -f1)" "rows[0].failure (a row that failed has no ms)"
is "nobody is accused" "$(api alerts | jq '.items | length')" 0
fails "a commit is named in full" 1 fw import "$data/ffa-dense.csv" --repo kernels --commit "${first:0:12}"
like "as git prints it" "$out" '40 hex digits'
fails "a repository that is not there" 4 fw import "$data/ffa-dense.csv" --repo nothing --commit "$first"
is "rows are checked" "$(post imports '{"repo":"kernels","commit":"'"$first"'","name":"x","rows":[{"cell":"a","ms":-1}]}' | jq -r .detail | cut -d: -f1)" "rows[0].ms"
is "also their names" "$(post imports '{"repo":"kernels","commit":"'"$first"'","name":"x","rows":[{"cell":"a","ms":1},{"cell":"a","ms":1}]}' | jq -r .detail | cut -d: -f1)" "rows[1].cell (it appears twice)"
fails "imported figures cannot be measured again" 1 fw retry 2

# ---- export ------------------------------------------------------------------------------------------------------------------
branch kernels slow main
cat >"$tmp/kernels/etc/suites/tiny.yaml" <<'YAML'
suite: tiny
family: attention
common: {nhq: 2, nhk: 1, headdim: 64, dtype: bf16}
dense: {seqlens: [64], masks: [causal]}
block_sparse: {seqlens: [128], sparsity_ratios: [0.5], block_sizes: [32]}
directions: [forward, backward]
seed: 42
threshold_pct: 1.5
budget_s: 60
YAML
commit kernels "sparse cells, too"
push kernels main
await job_ended "$(head_of kernels)"
branch kernels team/slow main
echo 1.05 >"$tmp/kernels/kernels/factor"
git -C "$tmp/kernels" checkout -q slow -- etc
commit kernels "slower"
fails "a comparison with dense and block-sparse cells" 3 sh -c "git -C '$tmp/kernels' push -q --force origin HEAD:refs/heads/team/slow; git -C '$tmp/kernels' push -q --force origin slow:refs/heads/base; sleep 1; '$bin/flopwatch' --server 'http://127.0.0.1:$(port)' compare base team/slow --timeout 100 --quiet"
id=$(api "comparisons?verdict=regression" | jq '.items[0].id')
body=$(api "comparisons/$id")
is "both sides keep the names that they were given" "$(jq -c '[.base.name, .target.name]' <<<"$body")" '["base","team/slow"]'
ok "export makes its folder" fw export "$id" "$tmp/ffa"
is "writes six files under them" "$(cd "$tmp/ffa" && printf '%s\n' * | sort)" "$(printf '%s.csv\n' compare_base_team-slow_{block_sparse,dense} profile_{block_sparse,dense}_{base,team-slow} | sort)"
timings=fwd_range_merge_ms,fwd_sparse_load_preprocess_ms,fwd_prepare_ms,fwd_run_ms,fwd_fill_ms,fwd_cast_ms,bwd_range_merge_ms,bwd_prepare_ms,bwd_preprocess_ms,bwd_run_ms,bwd_cast_ms
is "dense columns" "$(head -n 1 "$tmp/ffa/profile_dense_base.csv")" "seqlen,mask_type,direction,latency_ms,tflops_per_sec,$timings"
is "block-sparse columns" "$(head -n 1 "$tmp/ffa/profile_block_sparse_base.csv")" \
	"seqlen,sparsity_ratio,q_block_size,k_block_size,swap_ab,pack_gqa,sparse_load,kblockm,kblockn,direction,latency_ms,tflops_per_sec,$timings"
like "a forward row leaves the other direction's cells empty" "$(sed -n 2p "$tmp/ffa/profile_dense_base.csv")" '^64,causal,fwd,[0-9]+\.[0-9]{4,},[0-9]+\.[0-9]{4,},(-?[0-9.]+,){6},,,,$'
like "a backward row likewise" "$(sed -n 3p "$tmp/ffa/profile_dense_base.csv")" '^64,causal,bwd,[0-9.]+,[0-9.]+,,,,,,,(-?[0-9.]+,){4}-?[0-9.]+$'
like "an absent phase is -1" "$(sed -n 2p "$tmp/ffa/profile_dense_base.csv")" ',-1\.0000,'
like "a tile that no provider told, too" "$(sed -n 2p "$tmp/ffa/profile_block_sparse_team-slow.csv")" '^128,0\.5,32,32,False,False,False,-1,-1,fwd,'
latency() { # file: of its rows
	tail -n +2 "$1" | sed 's/.*,[fb]wd,//' | cut -d, -f1
}
cells() { # group, filter: of its cells
	jq -r --arg group "$1" ".cells[] | select(.group == \$group) | $2" <<<"$body"
}
is "latency is that of the series that decides" "$(latency "$tmp/ffa/profile_dense_base.csv" | xargs printf '%.4g ')" "$(cells dense .base.median_ms | xargs printf '%.4g ')"
for group in dense block_sparse; do
	is "two profiles say what the verdict says: $group" "$(paste <(latency "$tmp/ffa/profile_${group}_base.csv") <(latency "$tmp/ffa/profile_${group}_team-slow.csv") | awk '{printf "%.3f ", 100 * ($1 / $2 - 1)}')" \
		"$(cells $group .change_pct | xargs printf '%.3f ')"
	"$bin/flopwatch" compare "$tmp/ffa/profile_${group}_base.csv" "$tmp/ffa/profile_${group}_team-slow.csv" "$tmp/out.csv" >"$tmp/said"
	is "their comparison is the one that was exported: $group" "$(cat "$tmp/out.csv")" "$(cat "$tmp/ffa/compare_base_team-slow_$group.csv")"
done
like "the comparison begins with tflops_per_sec" "$(head -n 1 "$tmp/ffa/compare_base_team-slow_dense.csv")" '^mask_type,direction,seqlen,tflops_per_sec_baseline,tflops_per_sec_target,tflops_per_sec_improvement\(%\),fwd_range_merge_ms_baseline,'
like "the sparse one with latency_ms" "$(head -n 1 "$tmp/ffa/compare_base_team-slow_block_sparse.csv")" '^seqlen,sparsity_ratio,block_size,direction,latency_ms_baseline,'
like "and shows the loss" "$(sed -n 2p "$tmp/ffa/compare_base_team-slow_dense.csv" | cut -d, -f6)" '^-[3-6]\.'
fails "what was written can be compared as files" 7 "$bin/flopwatch" compare "$tmp/ffa/profile_dense_base.csv" "$tmp/ffa/profile_dense_team-slow.csv"
fails "a comparison that is not there" 4 fw export 999 "$tmp/ffa"
fails "a folder in one that is not there" 1 fw export "$id" "$tmp/no/where"
like "is told as that" "$out" 'cannot make the folder .*/no/where: No such file'
is "nor a file" "$(api "comparisons/$id/ffa/other.csv" | jq .status)" 404
fails "foreign figures are no attention" 1 fw export 3 "$tmp/foreign"
like "which is said" "$out" 'nothing was written: comparison 3 has no times of attention'
ok "and leave no folder" test ! -e "$tmp/foreign"

# ---- tiles, and a suite without sparse cells --------------------------------------------------------------------------------------
git -C "$tmp/kernels" push -q origin :refs/heads/base
branch kernels tiles main
echo "'-DCONFIG=\"BLOCK_M=128 BLOCK_N=96 STAGES=2\"'" >"$tmp/kernels/kernels/flags"
git -C "$tmp/kernels" checkout -q slow -- etc
commit kernels "wider tiles"
git -C "$tmp/kernels" push -q --force origin slow:refs/heads/base
git -C "$tmp/kernels" push -q --force origin HEAD:refs/heads/tiles
await job_ended "$(head_of kernels)"
is "a push is named by its branch, its merge-base by the branch that it lies on" "$(api "comparisons/$(job_field "$(job_of "$(head_of kernels)")" comparison)" | jq -c '[.base_how, .base.name, .target.name]')" '["merge-base","main","tiles"]'
fw compare base tiles --timeout 100 --quiet >"$tmp/said"
like "another configuration is named" "$(cat "$tmp/said")" '^configuration: NAIVE=1 -> BLOCK_M=128 BLOCK_N=96 STAGES=2 in 4 cells, first attention/dense/causal/'
id=$(api comparisons | jq '[.items[] | select(.kind == "change")][0].id')
is "stands in the body" "$(api "comparisons/$id" | jq -c '[.cells[] | [.base.configuration, .target.configuration]] | unique')" '[["NAIVE=1","BLOCK_M=128 BLOCK_N=96 STAGES=2"]]'
like "in the table" "$(api "comparisons/$id.csv" | sed -n 2p)" ',NAIVE=1,BLOCK_M=128 BLOCK_N=96 STAGES=2'
like "in the review" "$(api "comparisons/$id.md")" 'configuration: NAIVE=1 → BLOCK\\_M=128'
like "and on the page" "$(curl -s "http://127.0.0.1:$(port)/comparisons/$id")" 'configuration: NAIVE=1 → BLOCK_M=128 BLOCK_N=96 STAGES=2'
ok "other tiles" fw export "$id" "$tmp/tiles"
like "are told of their side" "$(sed -n 2p "$tmp/tiles/profile_block_sparse_tiles.csv")" '^128,0\.5,32,32,False,False,False,128,96,fwd,'
ok "and are no other case" "$bin/flopwatch" compare "$tmp/tiles/profile_block_sparse_base.csv" "$tmp/tiles/profile_block_sparse_tiles.csv" "$tmp/out.csv"
unlike "of which rows would be missing" "$out" WARNING
is "in the third file, too" "$(tail -n +2 "$tmp/out.csv" | wc -l)" 2
body=$(api "comparisons/$(api "comparisons?verdict=unchanged" | jq '.items[-1].id')")
ok "a comparison without sparse cells" fw export "$(jq .id <<<"$body")" "$tmp/dense"
is "writes what it has" "$(ls "$tmp/dense" | grep -c sparse)" 0
is "a branch measured against itself keeps two names" "$(ls "$tmp/dense" | sort | tr '\n' ' ')" "compare_$(jq -r '.base.commit[0:12]' <<<"$body")_main_dense.csv profile_dense_$(jq -r '.base.commit[0:12]' <<<"$body").csv profile_dense_main.csv "
