#!/bin/bash
# Two files of a foreign benchmark: rows of the same name stay separate, both sides are read in the same way, different conditions
# are printed, OUT.csv is CSV.
. "$(dirname "$0")/../support/tap.sh"
data=$root/tests/data/readers
compare() { "$bin/flopwatch" compare "$@"; }

# ---- results with the same name ----------------------------------------------------------------------------------------------
fails "hyperfine: parameters distinguish commands" 7 compare "$data"/hyperfine-parameters-{before,after}.json
like "of which one is as it was" "$out" 'sum_16M_\[threads=1\] +2000 +2000 +\+0\.00 % +3/3'
like "and one slower" "$out" 'sum_16M_\[threads=16\] +500 +750 +-33\.33 % +3/3'
ok "hyperfine: one command twice" compare "$data"/hyperfine-same-command-{before,after}.json
like "is two rows" "$out" '#1 +1000 +1000 +\+0\.00 % +3/3'
like "in the order of the file" "$out" '#2 +2000 +1000 +\+100\.00 % +3/3'
fails "Google Benchmark: two families of one name" 7 compare "$data"/gbench-two-families-{before,after}.json
like "are two rows" "$out" 'BM_Copy/4096#1 +0\.01 +0\.01 +\+0\.00 %'
like "each with its own" "$out" 'BM_Copy/4096#2 +0\.1 +0\.14 +-28\.57 %'
jq 'del(.results[1])' "$data/hyperfine-same-command-before.json" >"$tmp/once.json"
fails "two of one name compared with one end with 7" 7 compare "$data/hyperfine-same-command-before.json" "$tmp/once.json"
is "no cell is compared" "$(head -n 1 <<<"$out")" "no cell is in both files"
like "and the reason is reported" "$(sed -n 2p <<<"$out")" "^WARNING $data/hyperfine-same-command-before.json has 2 results called ./run_kernels.bin, $tmp/once.json has 1: their order is unknown, so none of them is compared$"
like "nothing is compared" "$out" '^0 cells are in both files'
fails "the same as JSON" 7 compare "$data/hyperfine-same-command-before.json" "$tmp/once.json" --json
is "has the warning and the rows" "$(jq -c '[(.warnings | length), .left_out[].cell]' <<<"$out")" '[1,"./run_kernels.bin#2","./run_kernels.bin#1","./run_kernels.bin"]'
printf '{"cell":"a","ms":1}\n{"cell":"a","ms":3}\n' >"$tmp/lines.jsonl"
ok "lines of one name" compare "$tmp/lines.jsonl" "$tmp/lines.jsonl"
like "are repetitions of one row" "$out" '^  a +2 +2 +\+0.00 % +2/2$'

# ---- the same statistic for both ---------------------------------------------------------------------------------------------
ok "nvbench: a mean compared with a median and a mean" compare "$data"/nvbench-mean-{only,and-median}.json
like "is compared by the mean" "$out" 'copy/Elements=2\^20 +0\.0106 +0\.0106 +\+0\.00 %'
like "and that is reported before the table" "$(sed -n 3p <<<"$out")" '^WARNING compared by the mean of cold GPU times, the best statistic that both files state: copy/Elements=2\^20$'
ok "the same as JSON" compare "$data"/nvbench-mean-{only,and-median}.json --json
is "reports it of the row" "$(jq -c '[.cells[0].statistic, .cells[0].change_pct, (.warnings | length)]' <<<"$out")" '["mean of cold GPU times",0,2]'
jq '(.devices[0].id, .benchmarks[0].devices[0], .benchmarks[0].states[].device) = 4 | .benchmarks[0].states[].name |= sub("Device=0"; "Device=4")' \
	"$data/nvbench-mean-only.json" >"$tmp/device4.json"
ok "nvbench: device 4 compared with device 0" compare "$data/nvbench-mean-only.json" "$tmp/device4.json"
like "is one row" "$out" '^1 cell is in both files'
unlike "of one card" "$out" 'WARNING GPU'
jq '.devices += [{"id": 1, "name": "Other"}] | .benchmarks[0].states += [.benchmarks[0].states[0] | .name |= sub("Device=0"; "Device=1") | .device = 1]' \
	"$data/nvbench-mean-only.json" >"$tmp/two-cards.json"
ok "one card compared with the same and another" compare "$data/nvbench-mean-only.json" "$tmp/two-cards.json"
like "meets its own" "$out" 'copy/Device=GPU_Elements=2\^20 +0\.0106 +0\.0106 '
like "the other is not in the file" "$out" 'WARNING copy/Device=Other_Elements=2\^20 is not in '

# ---- rows without a time -------------------------------------------------------------------------------------------------------
for file in gbench-row-without-time gbench-row-inf nvbench-row-without-time; do
	ok "$file: one row without a time" compare "$data/$file.json" "$data/$file.json"
	like "omits only that row, and reports it: $file" "$out" 'left out: (BM_B|copy/Elements=2\^24) \('
	like "and no other: $file" "$out" '^2 cells are in both files'
done
jq 'del(.benchmarks[].states[].summaries[])' "$data/nvbench-mean-only.json" >"$tmp/profiled.json"
fails "nvbench: no state has a time" 1 compare "$tmp/profiled.json" "$tmp/profiled.json"
like "then it is asked for" "$out" 'none of its states holds a time; run it without --profile'
ok "the others keep theirs" compare "$data/nvbench-row-without-time.json" "$data/nvbench-row-without-time.json"
unlike "without that advice" "$out" 'profile'

# ---- measurement conditions ----------------------------------------------------------------------------------------------------
jq '.devices[0].name = "NVIDIA H200"' "$data/nvbench-mean-only.json" >"$tmp/other-card.json"
ok "two cards" compare "$data/nvbench-mean-only.json" "$tmp/other-card.json"
is "are named after the finding" "$(sed -n 2p <<<"$out")" "WARNING GPU: GPU in $data/nvbench-mean-only.json, NVIDIA H200 in $tmp/other-card.json; the times may differ because of that"
like "and compared" "$out" '^1 cell is in both files'
jq '.context.library_build_type = "debug"' "$data/gbench-row-inf.json" >"$tmp/debug.json" 2>/dev/null || sed 's/"release"/"debug"/' "$data/gbench-row-inf.json" >"$tmp/debug.json"
ok "a debug library compared with a release one" compare "$data/gbench-row-inf.json" "$tmp/debug.json"
is "is reported" "$(sed -n 2p <<<"$out")" "WARNING library_build_type: release in $data/gbench-row-inf.json, debug in $tmp/debug.json; the times may differ because of that"
ok "as JSON" compare "$data/gbench-row-inf.json" "$tmp/debug.json" --json
like "too" "$(jq -r '.warnings[0]' <<<"$out")" '^library_build_type: release in '
ok "equal conditions" compare "$data/gbench-row-inf.json" "$data/gbench-row-inf.json" --json
is "need no warning" "$(jq -c .warnings <<<"$out")" '[]'

# ---- OUT.csv -------------------------------------------------------------------------------------------------------------------
rows() { # file: rows as Python reads them, one per line
	python3 -c 'import csv, json, sys
for row in csv.reader(open(sys.argv[1], newline="")): print(json.dumps(row))' "$1"
}
fails "names with quotes and commas" 7 compare "$data"/names-with-quotes-{before,after}.json "$tmp/out.csv"
is "come back as they are" "$(rows "$tmp/out.csv")" '["cell", "base_ms", "target_ms", "base_tflops", "target_tflops", "change_pct"]
["./bench_\"a_dir/in,_big.bin\"_--mode=x,y", "500", "550", "", "", "-9.09090909"]
["\"./my_bench\"_16", "250", "250", "", "", "0"]
["./plain", "125", "125", "", "", "0"]'
python3 - "$tmp/names.json" <<'PY'
import json, sys
names = ["=1+1", "+x", "-x", "@sum", "a;b", "a|b", "'q'", '"', '""', ",", "a\tb", "ü,ö", "a,\"b\"\"c\",", "#x", "tab\tand,comma"]
json.dump({"results": [{"command": n, "times": [i + 1]} for i, n in enumerate(names)]}, open(sys.argv[1], "w"))
PY
ok "names that are hard" compare "$tmp/names.json" "$tmp/names.json" "$tmp/hard.csv"
ok "the same as JSON" compare "$tmp/names.json" "$tmp/names.json" --json
is "are those of the JSON in the CSV" "$(rows "$tmp/hard.csv" | tail -n +2 | jq -c '.[0]')" "$(jq -c '.cells[].cell' <<<"$out")"
is "with six fields each" "$(rows "$tmp/hard.csv" | jq -c length | sort -u)" 6
is "and nothing put before a sign" "$(rows "$tmp/hard.csv" | sed -n 2,5p | jq -r '.[0]' | paste -sd' ')" "=1+1 +x -x @sum"
printf '{"cell":"a\\r\\nb","ms":1}\n' >"$tmp/lines.jsonl"
ok "a name over two lines" compare "$tmp/lines.jsonl" "$tmp/lines.jsonl" "$tmp/lines.csv"
is "is one row" "$(rows "$tmp/lines.csv" | wc -l)" 2
cut -d, -f1-4 "$data/ffa-dense.csv" | sed 's/^\([0-9]*\),full/\1,"fu,""ll"/' >"$tmp/quoted.csv"
ok "MagiAttention's comparison" compare "$tmp/quoted.csv" "$tmp/quoted.csv" "$tmp/ffa.csv"
is "with the same quotes" "$(rows "$tmp/ffa.csv" | sed -n 2p | jq -c '.[0:3]')" '["fu,\"ll","fwd","8192"]'
