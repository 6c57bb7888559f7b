#!/bin/bash
# Comparisons of linear layers in the columns of torchao's microbenchmarks: times, speedups over baseline, and reasons. Times are device sim's.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
fw() { "$bin/flopwatch" --server "http://127.0.0.1:$(port)" "$@"; }
new_repo kernels
rm -rf "$tmp/kernels/kernels"
cp -r "$root/kernels" "$tmp/kernels/kernels"
rm -rf "$tmp/kernels/kernels/build"
cat >"$tmp/kernels/.flopwatch.yaml" <<'YAML'
flopwatch: 1
inputs: [kernels]
build: {dir: kernels, command: [make, "DEVICE=cpu", "EXTRA=-O1", build/cpu/liblinear.so], outputs: {linear: build/cpu/liblinear.so}}
suites: [wide, trained, tiny]
YAML
cat >"$tmp/kernels/etc/suites/wide.yaml" <<'YAML'
suite: wide
family: linear
shapes: [{name: custom, shapes: [[4, 256, 16], [4, 96, 16]]}]
recipes: [baseline, int8wo, int4wo-64]
directions: [forward]
YAML
cat >"$tmp/kernels/etc/suites/trained.yaml" <<'YAML'
suite: trained
family: linear
shapes: [{name: custom, shapes: [[48, 64, 40]]}]
recipes: [baseline, float8dq-row]
model_types: [linear, ln_linear_relu]
YAML
git -C "$tmp/kernels" add -A
git -C "$tmp/kernels" commit -q --amend -m "linear layers"
write_config
start_daemon || exit 1
push kernels main
first=$(head_of kernels)
ended() { [ "$(sql "SELECT count(*) FROM job WHERE state IN ('done', 'failed')")" = 3 ]; }
ok "three suites are measured" await ended
of() { sql "SELECT min(c.id) FROM comparison c JOIN suite t ON t.id = c.suite WHERE t.name = '$1'"; }
column() { # file, name of a column, sed address of rows
	python3 -c 'import csv, sys; [print(r[sys.argv[2]]) for r in csv.DictReader(open(sys.argv[1]))]' "$1" "$2"
}

# ---- inference ---------------------------------------------------------------------------------------------------------------
ok "export writes a file a side" fw export "$(of wide)" "$tmp/out" --format torchao
is "whose names say which" "$(sort <<<"$out" | sed -E "s,$tmp/out/,,; s/_[0-9a-f]{12}\./_SHA./" | paste -sd' ')" "results_SHA.csv results_main.csv"
file=$tmp/out/results_main.csv
is "in their columns, and one more" "$(head -n 1 "$file")" "$(head -n 1 "$root/tests/data/readers/torchao.csv"),failure"
is "a row for each shape and recipe" "$(column "$file" quantization | paste -sd' ')" "baseline int8wo int4wo-64 baseline int8wo int4wo-64"
is "with its sizes" "$(column "$file" k | paste -sd' ')" "256 256 256 96 96 96"
api "comparisons/$(of wide)" >"$tmp/wide.json"
same() { python3 - "$1" "$tmp/wide.json" "$2" <<'PY'; }
import csv, json, sys
cells = {(c["shape"]["k"], c["shape"]["recipe"]): c for c in json.load(open(sys.argv[2]))["cells"]}
for row in csv.DictReader(open(sys.argv[1])):
    c = cells[int(row["k"]), row["quantization"]]
    own, over = c[sys.argv[3]]["median_ms"], (c["over_baseline"] or {sys.argv[3]: 1})[sys.argv[3]]
    wanted = [own * over, own, over] if own else [0, 0, 0]
    got = [float(row[n]) for n in ("baseline_model_compiled_inference_time_in_ms", "quantized_model_compiled_inference_time_in_ms", "compile speedup on baseline")]
    assert all(abs(w - g) <= 1e-6 * abs(w) for w, g in zip(wanted, got)), (row, wanted)
PY
ok "its times and speedups are those of the comparison" same "$file" target
is "of runs that timed both" "$(jq -c '[.cells[] | select(.shape.recipe == "int8wo") | .over_baseline.runs == .runs and .runs > 0]' "$tmp/wide.json")" '[true,true]'
is "a baseline is as fast as itself" "$(column "$file" "compile speedup on baseline" | head -n 1)" 1
like "what failed is a row with its reason" "$(column "$file" failure | tail -n 1)" '^unsupported: .*(64|96)'
is "and with no time" "$(column "$file" quantized_model_compiled_inference_time_in_ms | tail -n 1)" 0
is "what did not fail has none" "$(column "$file" failure | head -n 5 | tr -d '\n')" ""
ok "their readers read it" fw compare "$file" "$file" --format torchao

# ---- files of memory ---------------------------------------------------------------------------------------------------------
mkdir "$tmp/xdg"
ln -s "$tmp/cache" "$tmp/xdg/flopwatch"
artefacts() { (cd "$tmp/kernels" && XDG_CACHE_HOME=$tmp/xdg "$bin/flopwatch" profile --suite wide --cells '*int8wo*k256*' --device cpu --artefacts "$tmp/files"); }
artefacts >"$tmp/said" 2>&1
like "profile writes the memory of a cell" "$(cat "$tmp/said")" "^$tmp/files: [0-9]+ files of 1 cells of wide on cpu:0"
mkdir "$tmp/with"
ok "export with these files" fw export "$(of wide)" "$tmp/with" --format torchao --artefacts "$tmp/files"
file=$tmp/with/results_main.csv
is "has their paths in the row of the cell" "$(column "$file" memory_profile_path | sed '/^$/d' | wc -l) $(column "$file" enable_memory_profiler | sort | uniq -c | awk '{ print $1, $2 }' | paste -sd' ')" "1 5 False 1 True"
path=$(column "$file" memory_profile_path | sed '/^$/d')
like "to the memory" "$(jq -r .cell "$path")" '/int8wo/m4/k256/'
is "and to its picture" "$(column "$file" memory_visualization_path | sed '/^$/d')" "${path%.json}.svg"
ok "which exists" test -s "${path%.json}.svg"
is "the timeline of the cell is in its row too" "$(jq -r .otherData.cell "$(column "$file" profiler_json_path | sed '/^$/d')") $(column "$file" enable_profiler | sort | uniq -c | awk '{ print $1, $2 }' | paste -sd' ')" "$(jq -r .cell "$path") 5 False 1 True"
cp -r "$tmp/files" "$tmp/others"
jq '.target.commit = "0123456789abcdef0123456789abcdef01234567" | .target.module_sha256 = ""' "$tmp/files/artefacts.json" >"$tmp/others/artefacts.json"
rm -r "$tmp/with"
fails "files of other commits" 1 fw export "$(of wide)" "$tmp/with" --format torchao --artefacts "$tmp/others"
like "are refused, with the command that makes the right ones" "$out" "others has files of 0123456789ab as its target, and C[0-9]+ compares ${first:0:12}: run flopwatch profile ${first:0:12} ${first:0:12} --suite wide --artefacts DIR"
jq '.target.provider = "naive"' "$tmp/files/artefacts.json" >"$tmp/others/artefacts.json"
fails "so are those of another provider" 1 fw export "$(of wide)" "$tmp/with" --format torchao --artefacts "$tmp/others"
like "which is named" "$out" "others has files of [0-9a-f]{12} with naive as its target"
echo '{}' >"$tmp/others/artefacts.json"
fails "and a list without sides" 1 fw export "$(of wide)" "$tmp/with" --format torchao --artefacts "$tmp/others"
fails "and nothing is written" 1 test -e "$tmp/with"
fails "a folder without a list of files" 4 fw export "$(of wide)" "$tmp/with" --format torchao --artefacts "$tmp/out"
like "is named" "$out" 'out/artefacts.json: No such file'
fails "only in torchao's columns" 2 fw export "$(of wide)" --artefacts "$tmp/files"
file=$tmp/out/results_main.csv

# ---- training ----------------------------------------------------------------------------------------------------------------
ok "cases that are trained" fw export "$(of trained)" "$tmp/out" --format torchao
file=$tmp/out/results_training_main.csv
like "have a file of their own" "$out" 'results_training_main\.csv'
is "with their columns" "$(head -n 1 "$file" | cut -d, -f14-)" "scaling_type_input,scaling_type_weight,scaling_type_grad_output,scaling_granularity,use_fast_accum,repeat_n,forward_time_ms,backward_time_ms,total_time_ms,reference_forward_time_ms,reference_backward_time_ms,reference_total_time_ms,speedup,scaling_repr,ref_tops_sec,ref_pct_top_peak,tops_sec,pct_top_peak,failure"
is "granularity as it is called there" "$(column "$file" scaling_granularity | paste -sd' ')" "tensorwise axiswise tensorwise axiswise"
is "every model that is trained" "$(column "$file" model_type | paste -sd' ')" "linear linear ln_linear_relu ln_linear_relu"
is "forward and backward are measured, and no total is made of them" \
	"$(python3 -c 'import csv, sys
for r in csv.DictReader(open(sys.argv[1])):
    f, b, t = (float(r[n + "_time_ms"]) for n in ("forward", "backward", "total"))
    print(f > 0, b > 0, t == float(r["speedup"]) == float(r["tops_sec"]) == 0)' "$file" | sort -u)" "True True True"

cp "$file" "$tmp/results_training_again.csv"
ok "two such files are compared without --format" "$bin/flopwatch" compare "$file" "$tmp/results_training_again.csv"
like "by recipe and direction" "$out" '^  trained/linear/float8dq-row/m48/k64/n40/.*/forward +[0-9.]+ '
like "forward and backward" "$out" '^  trained/linear/baseline/m48/k64/n40/.*/backward +[0-9.]+ '
sed -i 's/directions: .*//; $a directions: [forward, dgrad, wgrad, total]' "$tmp/kernels/etc/suites/trained.yaml"
commit kernels "the total, too"
push kernels main
await job_ended "$(head_of kernels)"
for n in 1 2; do
	ok "totals of the branch alone, $n" fw submit main --suite trained --export "$tmp/total$n" --quiet
done
"$bin/flopwatch" compare "$tmp"/total[12]/results_training_main.csv --threshold 90 >"$tmp/totals"
like "are compared" "$(cat "$tmp/totals")" '^  trained/linear/baseline/m48/k64/n40/.*/total +[0-9.]+ '

# ---- several suites ------------------------------------------------------------------------------------------------------------
fails "one file for three suites" 1 fw submit main -o "$tmp/all.csv" --quiet
like "is refused" "$out" 'all.csv takes one file, but there are 3 suites: choose one by --suite, or use --export DIR$'
ok "before it is written" test ! -e "$tmp/all.csv"
fw compare main main --export "$tmp/all" --json --quiet >"$tmp/all.json"
is "as JSON all suites are one object with the files" "$(jq -c '[(.comparisons | length), (.files | length > 2)]' "$tmp/all.json")" '[3,true]'

# ---- without a recipe ---------------------------------------------------------------------------------------------------------
fails "attention has no recipes" 1 fw export "$(of tiny)" "$tmp/out" --format torchao
like "and that is reported" "$out" 'has no cells with recipes'
fails "another format" 2 fw export "$(of wide)" --format nvbench
like "names those that are written" "$out" 'export writes --format ffa or torchao, not nvbench'
