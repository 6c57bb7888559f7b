#!/bin/bash
# Files of foreign benchmarks: compared without a daemon, imported once, and MagiAttention's CSV written from a comparison.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
fw() { "$bin/flopwatch" --server "http://127.0.0.1:$(port)" "$@"; }
data=$root/tests/data/readers

# ---- two files, no daemon --------------------------------------------------------------------------------------------------
sed 's/3.5861,613.2000/3.7000,594.3000/' "$data/ffa-dense.csv" >"$tmp/slower.csv"
fails "a slower row ends with 7" 7 "$bin/flopwatch" compare "$data/ffa-dense.csv" "$tmp/slower.csv"
is "begins with the finding" "$(head -n 1 <<<"$out")" "$tmp/slower.csv is slower in 1 of 4 cells"
is "ends with the next command" "$(tail -n 1 <<<"$out")" "next: flopwatch compare BASE TARGET"
like "the table shows it" "$out" 'ffa/dense/full/s8192/forward +3\.5861 +613\.2 +3\.7 +594\.3 +-3\.08 % +1/1'
like "as a sentence" "$out" 'ffa/dense/full/s8192/forward has 3\.08 % less TFLOP/s'
like "and says what two files cannot say" "$out" 'This is not a verdict: each file is one run'
ok "a faster row is none to fail for" "$bin/flopwatch" compare "$tmp/slower.csv" "$data/ffa-dense.csv"
like "but is named as well" "$out" 'ffa/dense/full/s8192/forward has 3\.18 % more TFLOP/s'
like "and counted" "$out" '4 cells are in both files, 0 slower and 1 faster by more than 1\.5 %'
ok "a wider threshold" "$bin/flopwatch" compare "$data/ffa-dense.csv" "$tmp/slower.csv" --threshold 3.5
fails "is a percentage" 2 "$bin/flopwatch" compare "$data/ffa-dense.csv" "$tmp/slower.csv" --threshold x
fails "a third file is written" 7 "$bin/flopwatch" compare "$data/ffa-dense.csv" "$tmp/slower.csv" "$tmp/out.csv"
is "in MagiAttention's columns" "$(cut -d, -f1-6 "$tmp/out.csv" | head -n 2)" "mask_type,direction,seqlen,tflops_per_sec_baseline,tflops_per_sec_target,tflops_per_sec_improvement(%)
full,fwd,8192,613.2000,594.3000,-3.0822"
ok "of other formats, too" "$bin/flopwatch" compare "$data/nvbench.json" "$data/nvbench.json" "$tmp/nv.csv"
is "with the columns that all have" "$(head -n 1 "$tmp/nv.csv")" "cell,base_ms,target_ms,base_tflops,target_tflops,change_pct"
fails "two branches have no third file" 2 "$bin/flopwatch" compare main other "$tmp/out.csv"
like "and that is reported" "$out" 'is written from two files, but main and other are not both files here'
fails "two files have no folder" 2 "$bin/flopwatch" compare "$data/ffa-dense.csv" "$tmp/slower.csv" --export "$tmp/folder"
like "but a third file" "$out" '^flopwatch: --export is for two branches; name a third file for two files$'
sed 's/4,623,840/4,723,840/' "$data/ncu.csv" >"$tmp/slower.ncu.csv"
fails "two exports of ncu" 7 "$bin/flopwatch" compare "$data/ncu.csv" "$tmp/slower.ncu.csv"
like "are compared kernel by kernel" "$out" 'void_v2_backward_kernel<128,_128,_1> +4\.62384 +4\.72384 +-2\.12 %'
fails "a folder that is not there" 1 "$bin/flopwatch" compare "$data/nvbench.json" "$data/nvbench.json" "$tmp/no/nv.csv"
ok "equal files end with 0" "$bin/flopwatch" compare "$data/nvbench.json" "$data/nvbench.json"
head -n 3 "$data/ffa-dense.csv" >"$tmp/fewer.csv"
fails "a row that vanished is no silence" 7 "$bin/flopwatch" compare "$data/ffa-dense.csv" "$tmp/fewer.csv"
like "but a warning" "$out" "WARNING ffa/dense/causal/s8192/forward is not in $tmp/fewer.csv"
ok "old and new columns give a case the same name" "$bin/flopwatch" compare "$data/ffa-block-sparse-old.csv" "$data/ffa-block-sparse.csv"
like "so that they meet" "$out" 'ffa/block_sparse/s49152/r0\.1/b64/forward +23 '
ok "--json" "$bin/flopwatch" compare "$data/hyperfine.json" "$data/hyperfine.json" --json
is "is JSON without a verdict" "$(jq -c '[.format, .verdict, .cells[0].change_pct]' <<<"$out")" '["hyperfine",null,0]'
is "and counts its rows" "$("$bin/flopwatch" compare "$data/ffa-dense.csv" "$tmp/slower.csv" --json | jq -c '[.common, .slower, .faster, .threshold_pct]')" '[4,1,0,1.5]'
first=$(stat -c %s "$data/ffa-dense.csv")
both() { cat "$data/ffa-dense.csv" "$tmp/slower.csv" | "$bin/flopwatch" compare a.csv b.csv --stdin "$@"; }
fails "both files are read from standard input" 7 both "$first" --json
is "as from files" "$(jq -c 'del(.base, .target)' <<<"$out")" "$("$bin/flopwatch" compare "$data/ffa-dense.csv" "$tmp/slower.csv" --json | jq -c 'del(.base, .target)')"
is "under the given names" "$(jq -c '[.base, .target]' <<<"$out")" '["a.csv","b.csv"]'
fails "a split in a row is a mistake of that file" 1 both 90
like "with its name" "$out" '^flopwatch: [ab]\.csv:[0-9]+'
fails "a split beyond the end is refused" 1 both 99999999
fails "one that is no number is wrong usage" 2 both 1k
fails "and a file to write" 2 "$bin/flopwatch" compare a.csv b.csv out.csv --stdin 1
head -c 300 "$data/nvbench.json" >"$tmp/cut.json"
fails "a file that is cut off" 1 "$bin/flopwatch" compare "$data/nvbench.json" "$tmp/cut.json"
like "has its place" "$out" "^flopwatch: $tmp/cut.json:[0-9]+:[0-9]+: is not JSON: .*cut off"
fails "a triton file without a unit" 1 "$bin/flopwatch" compare "$data/triton-old.csv" "$data/triton-old.csv"
like "asks for one" "$out" 'has no unit for its numbers; give one'
ok "which can be given" "$bin/flopwatch" compare "$data/triton-old.csv" "$data/triton-old.csv" --unit GB/s
echo hello >"$tmp/text"
fails "no format at all" 1 "$bin/flopwatch" compare "$tmp/text" "$tmp/text"
like "lists those that are read" "$out" 'has an unknown format; name it with --format: flopwatch, ffa, nvbench'

# ---- rows without a time -----------------------------------------------------------------------------------------------------
ok "a file compared with itself has no loss, even where a row failed" "$bin/flopwatch" compare "$data/google-benchmark-2018.json" "$data/google-benchmark-2018.json"
like "it is named" "$out" "WARNING BM_Launch failed in $data/google-benchmark-2018.json: no kernel image for this device"
like "and what is left out is counted" "$out" "WARNING $data/google-benchmark-2018.json: 1 row was left out: BM_Empty \(a real_time of 0 is not a time\)"
is "each is reported once" "$(grep -cE '^WARNING .*(BM_Launch|BM_Empty)' <<<"$out")" 2
like "the rest is compared" "$out" '^2 cells are in both files'
ok "the same as JSON" "$bin/flopwatch" compare "$data/google-benchmark-2018.json" "$data/google-benchmark-2018.json" --json
is "has both" "$(jq -c '[(.cells[] | select(.cell == "BM_Launch") | .target_failure), (.left_out[] | select(.side == "base") | .cell, .reason)]' <<<"$out")" \
	'["no kernel image for this device","BM_Empty","a real_time of 0 is not a time"]'
failed='{"cell": "b", "error": "out of memory"}'
printf '%s\n' '{"cell": "a", "ms": 1}' '{"cell": "b", "ms": 1}' >"$tmp/both-ran.jsonl"
printf '%s\n' '{"cell": "a", "ms": 1}' "$failed" >"$tmp/one-failed.jsonl"
cp "$tmp/one-failed.jsonl" "$tmp/failed-again.jsonl"
printf '%s\n' '{"cell": "a", "ms": 1}' '{"cell": "b", "error": "wrong result"}' >"$tmp/failed-else.jsonl"
ok "a row that failed in both files is no loss" "$bin/flopwatch" compare "$tmp/one-failed.jsonl" "$tmp/failed-again.jsonl"
is "and reported once, of both" "$(grep '^WARNING' <<<"$out")" "WARNING b failed in $tmp/one-failed.jsonl and $tmp/failed-again.jsonl: out of memory"
fails "one that fails only in the second ends with 7" 7 "$bin/flopwatch" compare "$tmp/both-ran.jsonl" "$tmp/one-failed.jsonl"
is "and is reported of that" "$(grep '^WARNING' <<<"$out")" "WARNING b failed in $tmp/one-failed.jsonl: out of memory"
fails "so does one that fails for another reason" 7 "$bin/flopwatch" compare "$tmp/one-failed.jsonl" "$tmp/failed-else.jsonl"
is "each reason is reported" "$(grep -c '^WARNING b failed in ' <<<"$out")" 2
ok "one that failed only in the first has lost nothing" "$bin/flopwatch" compare "$tmp/one-failed.jsonl" "$tmp/both-ran.jsonl"
grep -v '"a"' "$tmp/one-failed.jsonl" >"$tmp/all-failed.jsonl"
fails "where nothing has a time in both, nothing is known" 7 "$bin/flopwatch" compare "$tmp/all-failed.jsonl" "$tmp/all-failed.jsonl"
sed 's/0\.012,/0.0,/' "$data/hyperfine.json" >"$tmp/zero.json"
cp "$tmp/zero.json" "$tmp/zero-again.json"
ok "a row that is missing in both files is no loss" "$bin/flopwatch" compare "$tmp/zero.json" "$tmp/zero-again.json"
is "and reported once, of both" "$(grep -o '^WARNING .*rows were left out: sort_data.txt (a time of 0 s' <<<"$out")" "WARNING $tmp/zero.json and $tmp/zero-again.json: 3 rows were left out: sort_data.txt (a time of 0 s"
cp "$data/triton-row-zero.csv" "$tmp/row-zero-again.csv"
ok "nor one with a line" "$bin/flopwatch" compare "$data/triton-row-zero.csv" "$tmp/row-zero-again.csv"
is "which is named once" "$(grep -c 'N=2048 was left out of both files: 0 is neither a time nor a rate$' <<<"$out")" 1
fails "one time of 0 refuses a row and not the file" 7 "$bin/flopwatch" compare "$data/hyperfine.json" "$tmp/zero.json"
like "which is reported with its reason" "$out" "WARNING sort_data.txt is left out of $tmp/zero.json: a time of 0 s"
like "next to the other rows" "$out" '^1 cell is in both files'
ok "CPU time, where it is asked for" "$bin/flopwatch" compare "$data/google-benchmark-aggregates.json" "$data/google-benchmark-aggregates.json" --time cpu
fails "of a format that has it" 1 "$bin/flopwatch" compare "$data/hyperfine.json" "$data/hyperfine.json" --time cpu
like "else not" "$out" '--time is for google-benchmark, which writes two; hyperfine has one time'
ok "MagiAttention's rates" "$bin/flopwatch" compare "$data/flops_report.csv" "$data/flops_report.csv"
like "without what ran out of memory" "$out" 'flops_report.csv:[0-9]+: sdpa/seqlen=65536/per-TFLOP was left out: -1: out of memory'
like "which is counted" "$out" 'flops_report.csv: 3 rows were left out$'
head -c -1 "$data/flops_report.csv" >"$tmp/flops.csv"
fails "a file whose last number may be cut" 1 "$bin/flopwatch" compare "$data/flops_report.csv" "$tmp/flops.csv"
like "is refused" "$out" 'flops.csv:4: has no end of line, so its last cell, `624.0`, may be cut'

# ---- tables of other programs ---------------------------------------------------------------------------------------------------
fails "launches of two grids stay apart" 7 "$bin/flopwatch" compare "$data/ncu-grids-before.csv" "$data/ncu-grids-after.csv"
like "and only one of them is slower" "$out" '^  gemm<128,_64>/grid=16 +0\.0101 +0\.0131 +-22\.90 % +2/2$'
like "the other is not" "$out" '^  gemm<128,_64>/grid=512 +0\.0802 +0\.0802 +\+0\.00 % +3/3$'
ok "two locales of one report" "$bin/flopwatch" compare "$data/ncu-decimal-point.csv" "$data/ncu-decimal-comma.csv"
like "are the same time" "$out" '^  reduce +1\.20416 +1\.20416 +\+0\.00 % +1/1$'
sed '/Memory Throughput/d; /reduce/d; s/12,35/12,345/' "$data/ncu-decimal-comma.csv" >"$tmp/undecided.csv"
fails "a number that may be two is refused" 1 "$bin/flopwatch" compare "$tmp/undecided.csv" "$tmp/undecided.csv"
like "with the way out" "$out" 'undecided.csv:4: Duration: `12,345` is two numbers.* let ncu write the file again with LC_NUMERIC=C set$'
ok "metrics, and the first launch cut" "$bin/flopwatch" compare "$data/ncu-metrics.csv" "$data/ncu-metrics.csv" --warmup 1 --metric 'dram__bytes_*,lts__*'
like "are in a separate table" "$out" '^  copy<1> +lts__t_sector_hit_rate.pct +56 +56 +% +\+0\.00 % +3/3$'
like "next to the times" "$out" '^  copy<1> +0\.0602 +0\.0602 +\+0\.00 % +3/3$'
like "the number of cut lines is reported" "$out" '^NOTE .*ncu-metrics.csv: the first launch of each row is left out$'
like "and what is left of nothing" "$out" 'WARNING .*: 1 row was left out: warm<0> \(it has 1 launch, all of them warm-up\)'
ok "the same as JSON" "$bin/flopwatch" compare "$data/ncu-no-duration.csv" "$data/ncu-no-duration.csv" --metric 'dram__*' --json
is "has figures and their unit" "$(jq -c '.figures | map([.cell, .metric, .unit, .base, .target, .change_pct])' <<<"$out")" '[["copy<1>","dram__bytes_read.sum","Mbyte",100,100,0]]'
ok "traffic is read without being named" "$bin/flopwatch" compare "$data/ncu-no-duration.csv" "$data/ncu-no-duration.csv"
like "in its table" "$out" '^  copy<1> +dram__bytes_read.sum +100 +100 +Mbyte +\+0\.00 % +1/1$'
sed 's/dram__bytes_read.sum/launch__waves/' "$data/ncu-no-duration.csv" >"$tmp/no.ncu.csv"
fails "without that there is no time" 1 "$bin/flopwatch" compare "$tmp/no.ncu.csv" "$tmp/no.ncu.csv"
like "which says how to name a metric" "$out" 'has no times of kernels; .* name what is to be read with --metric'
details() { # write a program's launches as ncu --section MemoryWorkloadAnalysis --csv does: 1 x init, 30 x elementwise, 15 x attn
	python3 - "$1" <<'PY'
import sys
print("==PROF== Connected to process 4000 (app)")
print('"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"')
for i, name in enumerate(["init"] + 15 * ["elementwise", "attn", "elementwise"]):
    for metric, unit, value in ("Duration", "us", 10 if i > 15 else 50), ("Memory Throughput", "Gbyte/second", sys.argv[1]), ("L2 Hit Rate", "%", "51.0"), ("Registers", "", "64"):
        print(f'"{i}","4000","app","127.0.0.1","{name}(float *)","1","7","(256, 1, 1)","(132, 1, 1)","0","9.0","Memory Workload Analysis","{metric}","{unit}","{value}"')
PY
}
details 100.0 >"$tmp/base.ncu.csv"
details 150.0 >"$tmp/target.ncu.csv"
ok "kernels of N launches, after a warm-up" "$bin/flopwatch" compare "$tmp/base.ncu.csv" "$tmp/target.ncu.csv" --launches 15 --warmup 5
like "have their time" "$out" '^  attn +0\.01 +0\.01 +\+0\.00 % +10/10$'
like "and their traffic" "$out" '^  attn +Memory Throughput +100 +150 +Gbyte/second +\+50\.00 % +10/10$'
like "with hit rates" "$out" '^  attn +L2 Hit Rate +51 +51 +% '
is "and no other metric" "$(grep -cE '^  attn ' <<<"$out")" 3
like "others are named" "$out" 'base.ncu.csv and .*: 2 kernels with other counts than 15 are left out: init 1, elementwise 30$'
grep -v 'attn.*L2 Hit Rate' "$tmp/target.ncu.csv" >"$tmp/no-rates.ncu.csv"
ok "traffic that the second file lacks is no loss" "$bin/flopwatch" compare "$tmp/base.ncu.csv" "$tmp/no-rates.ncu.csv"
like "but a warning" "$out" '^WARNING L2 Hit Rate of attn in % is not in .*no-rates.ncu.csv$'
like "and metrics are no cells" "$out" '^3 cells are in both files'
fails "a metric that was named is one" 7 "$bin/flopwatch" compare "$tmp/base.ncu.csv" "$tmp/no-rates.ncu.csv" --metric 'L2*'
sed -E '/Elapsed/d; /reduce/d; s/12,35/12/; s/"%","61,07"/"Gbyte\/second","61,075"/' "$data/ncu-decimal-comma.csv" >"$tmp/ambiguous.ncu.csv"
ok "an ambiguous number of traffic rejects no file" "$bin/flopwatch" compare "$tmp/ambiguous.ncu.csv" "$tmp/ambiguous.ncu.csv"
like "with clear times" "$out" '^1 cell is in both files'
fails "one of a named metric does" 1 "$bin/flopwatch" compare "$tmp/ambiguous.ncu.csv" "$tmp/ambiguous.ncu.csv" --metric 'Memory*'
fails "what is for one format" 1 "$bin/flopwatch" compare "$data/hyperfine.json" "$data/hyperfine.json" --warmup 2
like "is refused for others" "$out" '--warmup is for ncu, which lists kernel launches; this file is read as hyperfine'
fails "columns of whole numbers" 7 "$bin/flopwatch" compare "$data/triton-whole-before.csv" "$data/triton-whole-after.csv" --unit us
like "are times" "$out" '^  triton/M=2048/N=2048 +0\.048 +0\.072 +-33\.33 %'
fails "a unit that contradicts the file" 1 "$bin/flopwatch" compare "$data/triton-unit-no-space.csv" "$data/triton-unit-no-space.csv" --unit ms
like "is refused" "$out" ':1: column 2, `triton\(us\)`, is in us, but --unit is ms; leave --unit out$'
ok "a row without a time" "$bin/flopwatch" compare "$data/triton-row-zero.csv" "$data/triton-row-zero.csv"
like "is named with its line" "$out" '^WARNING .*triton-row-zero.csv:3: triton/N=2048 was left out: 0 is neither a time nor a rate$'
like "and loses no other" "$out" '^  triton/N=4096 +0\.05 +0\.05 '
is "on stderr, so that a table stays a table" "$("$bin/flopwatch" compare "$data/triton-row-zero.csv" "$data/triton-row-zero.csv" 2>/dev/null | grep -c WARNING)" 0
is "JSON has it, too" "$("$bin/flopwatch" compare "$data/triton-row-zero.csv" "$data/triton-row-zero.csv" --json 2>/dev/null | jq -c '.left_out[0] | [.side, .cell, .reason, .line]')" \
	'["base","triton/N=2048","0 is neither a time nor a rate",3]'
ok "a column that is no time" "$bin/flopwatch" compare "$data/triton-unit-other-column.csv" "$data/triton-unit-other-column.csv"
like "is reported" "$out" '^NOTE .*: column `speedup \(x\)` is left out: `x` is not a unit of time or rate$'
fails "one number in two spellings" 7 "$bin/flopwatch" compare "$data/keys-short.csv" "$data/keys-long.csv"
like "is one row" "$out" '^  triton/sparsity=0\.1 +1 +1\.5 +-33\.33 %'
fails "a table that is not known" 1 "$bin/flopwatch" compare "$data/unknown.csv" "$data/unknown.csv" --unit us
like "is reported as that" "$out" 'unknown.csv:1: is not a known table: kernel,grid,avg_us,calls. Formats that are read are flopwatch, ffa'
ok "as a table of sizes and times" "$bin/flopwatch" compare "$data/unknown.csv" "$data/unknown.csv" --format triton --unit us
like "it has its times" "$out" '^  avg/kernel=scale/grid=132 +0\.01235 '
unlike "and no counts" "$out" '^  calls'
fails "two formats" 1 "$bin/flopwatch" compare "$data/nvbench.json" "$data/hyperfine.json"
like "are not compared" "$out" 'nvbench.json is of format nvbench and .*hyperfine.json of format hyperfine'
: >"$tmp/empty"
fails "an empty file" 1 "$bin/flopwatch" compare "$tmp/empty" "$data/hyperfine.json"
like "is reported as empty" "$out" 'empty: is empty$'
ok "a training table of torchao" "$bin/flopwatch" compare "$data/torchao-training-ms.csv" "$data/torchao-training-ms.csv"
like "has the rate of both passes" "$out" '/total +1\.5 +549\.8 +1\.5 +549\.8 '

# ---- formats of profilers and libraries: a slower row, whichever way its numbers point -----------------------------------------
slower() { # FILE SED ROW CHANGE: a sample, made slower by SED, loses CHANGE percent in one row
	sed "$2" "$data/$1" >"$tmp/slower.$1"
	fails "$1: a slower row ends with 7" 7 "$bin/flopwatch" compare "$data/$1" "$tmp/slower.$1"
	like "with its change" "$out" "^  $3 .* -$4 %"
	like "as the only one" "$out" '1 slower and 0 faster'
	ok "the other way round it is faster" "$bin/flopwatch" compare "$tmp/slower.$1" "$data/$1"
	like "as the only one" "$out" '0 slower and 1 faster'
}
slower nsys.csv 's/14250.0/15000.0/' 'void_tile_gemm<float,_\(int\)64>\(.*\)' '5\.00'
slower cutlass.csv 's/,0.0125,/,0.0150,/' 'CUTLASS/cutlass_tensorop_.*/m=1024/n=1024/k=512' '16\.67'
slower rocprof.csv 's/2850.000000/3000.000000/' 'row_softmax.kd' '5\.00'
slower hipblaslt.txt 's/1000.5,10$/1000.5,12.5/' 'transA=T/transB=N/m=2048/.*' '20\.00'
slower liger.csv 's/1024,0.125,/1024,0.25,/' 'row_norm/liger/forward/H=1024/.*' '50\.00'
slower pytest-benchmark.json 's/0.002, 0.0022, 0.003/0.004, 0.0044, 0.006/' 'tests/test_sort.py::test_sort\[1024\]' '50\.00'
slower asv.json 's/\[\[0.002, 0.004/[[0.0025, 0.004/' "sums.Rows.time_sum\\(1024,'f4'\\)" '20\.00'
slower criterion-sample.json 's/15000.0,32000.0,42000.0/30000.0,64000.0,84000.0/' 'benchmark' '50\.00'
slower criterion-estimates.json 's/1500.0/2000.0/' 'benchmark' '25\.00'
slower criterion-lines.json 's/15000.0,32000.0,56000.0/30000.0,64000.0,112000.0/' 'sort/1024' '50\.00'
slower criterion-bencher.txt 's/1,500 ns/1,600 ns/' 'sort/1024' '6\.25'
slower jmh.json 's/400.0, 500.0, 625.0/200.0, 250.0, 312.5/' 'org.example.SortBench.sort/.*/mode=thrpt/threads=4/per-op' '50\.00'
slower llama-bench.json 's/8000, 8000, 10000/4000, 4000, 5000/' 'llama_1B_Q4_0/pp512/flash_attn=false/per-token' '50\.00'
slower llama-bench.jsonl 's/"avg_ts": 200.0/"avg_ts": 160.0/' 'llama_1B_Q4_0/tg128/per-token' '20\.00'
slower llama-bench.csv 's/"200.000000"/"160.000000"/' 'llama_1B_Q4_0/tg128/per-token' '20\.00'
slower llama-bench.md 's/200.00 ± 1.50/160.00 ± 1.50/' 'llama_1B_Q4_0/tg128/per-token' '20\.00'
slower tritonbench.csv 's/0.02;107/0.04;53/' 'aten_matmul/\(M,_N,_K\)=\(1024,_1024,_1024\)' '50\.00'
slower tritonbench.json 's/_latency": "0.008"/_latency": "0.016"/' 'gemm_fwd/aten_matmul/x=.*' '50\.00'
slower torch-compare.txt 's/     12.5 /     25.0 /' 'row_sum/\(256,_64\)/torch.sum/threads=1' '50\.00'
slower catch2.txt 's/180.5 us/361.0 us/' 'Rows/softmax/1024_columns' '50\.00'
sed 's/,passed,success,/,incorrect,success,/' "$data/cutlass.csv" >"$tmp/wrong.csv"
fails "cutlass: a result that is wrong is not a time" 7 "$bin/flopwatch" compare "$data/cutlass.csv" "$tmp/wrong.csv"
like "but a failure" "$out" "WARNING CUTLASS/.* failed in $tmp/wrong.csv: its disposition is incorrect"
printf '<?xml version="1.0"?>\n<Catch2TestRun>\n<BenchmarkResults name="a"/></Catch2TestRun>\n' >"$tmp/catch2.xml"
fails "catch2: XML" 1 "$bin/flopwatch" compare "$tmp/catch2.xml" "$tmp/catch2.xml"
like "is not read" "$out" 'catch2.xml:1: is XML, which is not read; let Catch2 write its text: --reporter console$'

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
like "stores them" "$out" '^4 rows stored as C2$'
ok "the same again" fw import "$data/ffa-dense.csv" --repo kernels --commit "$first"
like "stores nothing" "$out" '^4 rows were stored before as C2$'
is "one comparison holds them" "$(sql "SELECT count(*) FROM comparison WHERE kind = 'import'")" 1
body=$(api comparisons/2)
is "with the file's own TFLOP/s" "$(jq -c '[.kind, .suite, .verdict, .cells[0].cell, .cells[0].target.median_ms, (.cells[0].target.tflops | round), .cells[0].base.median_ms]' <<<"$body")" \
	'["import","ffa","undecided","ffa/dense/full/s8192/forward",3.5861,613,null]'
ok "import of two files" fw import "$tmp/slower.csv" "$data/ffa-dense.csv" --repo kernels --commit "$first" --base "$other" --branch main --suite theirs
body=$(api comparisons/3)
is "has a change and no verdict" "$(jq -c '[.branch, .suite, .cells[0].verdict, (.cells[0].change_pct * 100 | round), .cells[0].reason]' <<<"$body")" \
	'["main","theirs","undecided",-308,"imported: two values without noise cannot show a change of 1.5 %"]'
ok "a row that failed is imported as that" fw import "$data/google-benchmark-2018.json" --repo kernels --commit "$first"
like "and reported" "$out" 'WARNING BM_Launch failed in .*: no kernel image for this device'
id=$(sql "SELECT max(id) FROM comparison")
is "with its message" "$(api "comparisons/$id" | jq -c '.cells[] | select(.cell == "BM_Launch") | [.verdict, .failure, .reason]')" '["failed","reported","no kernel image for this device"]'
is "left ones are counted in the answer" "$(fw import "$data/google-benchmark-2018.json" --repo kernels --commit "$first" --json 2>/dev/null | jq -c '[.new, .left_out]')" '[false,1]'
is "a row that failed has no time" "$(post imports '{"repo":"kernels","commit":"'"$first"'","name":"x","rows":[{"cell":"a","ms":1,"failure":"x"}]}' | jq -r .detail | cut -d: -f1)" "rows[0].failure (a row that failed has no ms)"
is "no side is blamed" "$(api alerts | jq '.items | length')" 0
fails "traffic is no time to store" 1 fw import "$data/ncu-no-duration.csv" "$data/ncu-no-duration.csv" --repo kernels --commit "$first"
like "and that is reported" "$out" 'has no times of kernels; '
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
like "a tile that no provider reported, too" "$(sed -n 2p "$tmp/ffa/profile_block_sparse_team-slow.csv")" '^128,0\.5,32,32,False,False,False,-1,-1,fwd,'
latency() { # file: latencies of its rows
	tail -n +2 "$1" | sed 's/.*,[fb]wd,//' | cut -d, -f1
}
cells() { # group, filter: values of its cells
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
like "is reported as that" "$out" 'cannot make the folder .*/no/where: No such file'
is "nor a file" "$(api "comparisons/$id/ffa/other.csv" | jq .status)" 404
fails "foreign figures are no attention" 1 fw export 3 "$tmp/foreign"
like "and that is reported" "$out" 'nothing was written: C3 has no times of attention, .*http://127\.0\.0\.1:[0-9]+/api/v1/comparisons/3\.csv has its cells'
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
fw compare base tiles --timeout 100 --long --quiet >"$tmp/said"
like "another configuration is named" "$(cat "$tmp/said")" '^configuration: NAIVE=1 -> BLOCK_M=128 BLOCK_N=96 STAGES=2 in 4 cells, first attention/dense/causal/'
id=$(api comparisons | jq '[.items[] | select(.kind == "compare")][0].id')
is "is in the body" "$(api "comparisons/$id" | jq -c '[.cells[] | [.base.configuration, .target.configuration]] | unique')" '[["NAIVE=1","BLOCK_M=128 BLOCK_N=96 STAGES=2"]]'
like "in the table" "$(api "comparisons/$id.csv" | sed -n 2p)" ',NAIVE=1,BLOCK_M=128 BLOCK_N=96 STAGES=2'
like "and on the page" "$(http GET "/comparisons/$id")" '4 cells changed configuration: <code>NAIVE=1</code> → <code>BLOCK_M=128 BLOCK_N=96 STAGES=2</code>'
ok "other tiles" fw export "$id" "$tmp/tiles"
like "are reported of their side" "$(sed -n 2p "$tmp/tiles/profile_block_sparse_tiles.csv")" '^128,0\.5,32,32,False,False,False,128,96,fwd,'
ok "and are no other case" "$bin/flopwatch" compare "$tmp/tiles/profile_block_sparse_base.csv" "$tmp/tiles/profile_block_sparse_tiles.csv" "$tmp/out.csv"
unlike "of which rows would be missing" "$out" WARNING
is "in the third file, too" "$(tail -n +2 "$tmp/out.csv" | wc -l)" 2
body=$(api "comparisons/$(api "comparisons?verdict=unchanged" | jq '.items[-1].id')")
ok "a comparison without sparse cells" fw export "$(jq .id <<<"$body")" "$tmp/dense"
is "writes what it has" "$(ls "$tmp/dense" | grep -c sparse)" 0
is "a branch measured against itself keeps two names" "$(ls "$tmp/dense" | sort | tr '\n' ' ')" "compare_$(jq -r '.base.commit[0:12]' <<<"$body")_main_dense.csv profile_dense_$(jq -r '.base.commit[0:12]' <<<"$body").csv profile_dense_main.csv "
