#!/bin/bash
# `flopwatch suite import`: configurations of torchao's microbenchmarks become suites with the cells of their cross product. Comments list keys
# without a meaning with their position; a mistake is one line with its position.
. "$(dirname "$0")/../support/tap.sh"
fw() { "$bin/flopwatch" "$@"; }
cells() { # suite file: its keys
	"$bin/flopwatch-worker" compare --suite "$1" --base /bin/true --target /bin/true --json | jq -r '.cells[].cell'
}
cat >"$tmp/inference.yml" <<'YML'
benchmark_mode: "inference"
quantization_config_recipe_names:
  - "int4wo-32"
  - "int4wo-128-hqq"
  - "int8dq"
  - "float8dq"
sparsity_config_recipe_names: ["semi-sparse", null]
output_dir: "results"
model_params:
  - name: "Small BF16/linear"
    matrix_shapes:
      - name: "custom"
        shapes: [
          [1024, 1024, 1024],  # [m, k, n]
          [16, 1000, 1024],
        ]
      - name: "pow2"
    high_precision_dtype: "torch.bfloat16"
    torch_compile_mode: "max-autotune"
    device: "cuda"
    model_type: "linear"
    enable_profiler: true
    enable_memory_profiler: false
  - name: "ln"
    matrix_shapes:
      - {name: small_sweep, min_power: 10, max_power: 11}
    model_type: "ln_linear_sigmoid"
YML

# ---- inference ---------------------------------------------------------------------------------------------------------------
ok "a configuration of theirs is read" fw suite import "$tmp/inference.yml"
like "a suite goes to standard output" "$out" '^suite: "small-bf16-linear"$'
like "torch_compile_mode is reported with its place" "$out" '^# line 19:25: torch_compile_mode has no meaning here: '
like "so is the profiler" "$out" '^# line 22:22: enable_profiler has no meaning here: '
unlike "but not one that is off" "$out" enable_memory_profiler
like "another solver for the same kernel is reported" "$out" '^# line 4:5: int4wo-128-hqq is int4wo-128 here'
like "so is a recipe that is not here" "$out" '^# line 5:5: int8dq is left out'
like "sparsity" "$out" '^# line 7:32: sparsity semi-sparse is left out'
like "a k that groups do not divide" "$out" '^# line 15:11: int4wo-128 is unsupported: k = 1000 is not a multiple of the group of 128'
like "and a shape that two sets have" "$out" '^# line 17:9: left out what is there already: 1$'
ok "-o writes a file" fw suite import "$tmp/inference.yml" -o "$tmp/linear.yaml"
like "and prints its cells" "$out" "^$tmp/linear.yaml: suite small-bf16-linear of 40 cells$"
like "and what was omitted, without a file with details" "$out" '^line 5:5: int8dq is left out'
sizes="linear/RECIPE/m1024/k1024/n1024 linear/RECIPE/m16/k1000/n1024"
for edge in 2048 4096 8192 16384; do sizes+=" linear/RECIPE/m$edge/k$edge/n$edge"; done
for size in m1024/k1024/n1024 m1024/k1024/n2048 m1024/k2048/n2048 m2048/k2048/n2048; do sizes+=" ln_linear_sigmoid/RECIPE/$size"; done
for size in $sizes; do
	for recipe in baseline int4wo-32 int4wo-128 float8dq-tensor; do echo "linear/${size/RECIPE/$recipe}/bf16/forward"; done
done >"$tmp/wanted"
is "its cells are every shape in every recipe, and in baseline" "$(cells "$tmp/linear.yaml")" "$(cat "$tmp/wanted")"
ok "a name can be given" fw suite import "$tmp/inference.yml" --suite mine
like "which the suite then has" "$out" '^suite: "mine"$'
cat >"$tmp/first.yml" <<'YML'
quantization_config_recipe_names: [baseline, int4wo-64]
output_dir: "results"
model_params:
  matrix_shapes:
    - name: "custom"
      shapes: [[1024, 1024, 1024]]
  use_torch_compile: true
  model_type: ln_linear
YML
fw suite import "$tmp/first.yml" -o "$tmp/first.yaml" --quiet
is "their first version had one model, and relu for ln_linear" "$(cells "$tmp/first.yaml" | paste -sd' ')" \
	"linear/ln_linear_relu/baseline/m1024/k1024/n1024/bf16/forward linear/ln_linear_relu/int4wo-64/m1024/k1024/n1024/bf16/forward"

cat >"$tmp/block.yml" <<'YML'
quantization_config_recipe_names: [int8wo]
model_params: [{name: b, matrix_shapes: [{name: custom, shapes: [[2, 64, 128], [2, 64, 256]]}], model_type: transformer_block}]
YML
fw suite import "$tmp/block.yml" -o "$tmp/block.yaml" --quiet
sed -i 's/\[int8wo\]/[int8wo, float8dq-tensor]/' "$tmp/block.yml"
ok "a recipe that blocks cannot have leaves the others their cells" fw suite import "$tmp/block.yml" -o "$tmp/blocks.yaml"
like "and is reported" "$out" '^line 2:.*float8dq-tensor is unsupported: float8dq-tensor has a scale over all tokens'
is "as cells that are unsupported" "$(cells "$tmp/blocks.yaml" | grep -c float8dq-tensor)" 1
is "of a transformer block n says nothing" "$(cells "$tmp/block.yaml" | cut -d/ -f2-6 | paste -sd' ')" \
	"transformer_block/baseline/m2/k64/bf16 transformer_block/int8wo/m2/k64/bf16"

# ---- training ----------------------------------------------------------------------------------------------------------------
cat >"$tmp/training.yml" <<'YML'
benchmark_mode: "training"
quantization_config_recipe_names: ["float8dq-tensor", "int8wo"]
scaling_type_input: "dynamic"
scaling_type_weight: "dynamic"
scaling_type_grad_output: "disabled"
scaling_granularity: "rowwise"
use_fast_accum: true
repeat_n: 100
model_params:
  - name: "float8_linear_training"
    matrix_shapes: [{name: llama}]
    model_type: "linear"
YML
ok "training is read" fw suite import "$tmp/training.yml" -o "$tmp/training.yaml"
like "a recipe of inference is left out" "$out" '^line 2:55: int8wo is left out: it is for inference only'
like "repeat_n has no meaning" "$out" '^line 8:11: repeat_n has no meaning here'
is "every direction and their total of four shapes, baseline and fp8 by rows, a gradient that stays bf16" \
	"$(cells "$tmp/training.yaml" | sed -E 's,/m[0-9].*/,/,' | sort | uniq -c | tr -s ' ' | paste -sd,)" \
	" 4 linear/linear/baseline/dgrad, 4 linear/linear/baseline/forward, 4 linear/linear/baseline/total, 4 linear/linear/baseline/wgrad, 4 linear/linear/float8dq-row-bf16dy/dgrad, 4 linear/linear/float8dq-row-bf16dy/forward, 4 linear/linear/float8dq-row-bf16dy/total, 4 linear/linear/float8dq-row-bf16dy/wgrad"
sed -e 's/rowwise/columnwise/' "$tmp/training.yml" >"$tmp/columns.yml"
ok "scales of columns" fw suite import "$tmp/columns.yml" -o "$tmp/columns.yaml"
like "are those of rows, with a note" "$out" '^line 6:22: columnwise is rowwise here: the columns of W\^T are the rows of W'
like "also of a recipe that says otherwise" "$out" '^line 2:36: float8dq-tensor is float8dq-row here: scaling_granularity is columnwise$'
is "their cells are the same" "$(cells "$tmp/columns.yaml")" "$(cells "$tmp/training.yaml")"
sed -e 's/"float8dq-tensor", "int8wo"/"baseline"/; /scaling_type/d' "$tmp/columns.yml" >"$tmp/nocolumns.yml"
ok "without fp8" fw suite import "$tmp/nocolumns.yml"
like "they have no meaning" "$out" '^# line 3:22: scaling_granularity has no meaning here: no recipe that is left multiplies fp8$'
unlike "nor another one" "$out" 'columnwise is rowwise'
sed -e 's/rowwise/columnwise/; s/"training"/inference/; s/"disabled"/dynamic/' "$tmp/training.yml" >"$tmp/columns.yml"
ok "and in inference" fw suite import "$tmp/columns.yml"
unlike "no note is about it" "$out" 'columnwise is rowwise'
{
	sed -e '/^scaling/d; /^use_fast/d; /^repeat_n/d' "$tmp/training.yml"
	sed -n 's/^\(scaling.*\|use_fast.*\|repeat_n.*\)/    \1/p' "$tmp/training.yml"
	echo '  - {name: b, matrix_shapes: [{name: custom, shapes: [[16, 64, 64]]}], scaling_granularity: tensorwise, use_fast_accum: true}'
} >"$tmp/inner.yml"
ok "the keys of training are read in a model, too" fw suite import "$tmp/inner.yml" -o "$tmp/inner.yaml"
is "with the same cells" "$(cells "$tmp/inner.yaml" | grep -v /m16/)" "$(cells "$tmp/training.yaml")"
like "a model with another value is noted" "$out" '^line 13:[0-9]+: scaling_granularity is rowwise here: a suite has one value for all models$'
unlike "but not one with the same" "$out" 'use_fast_accum is'
sed -e 's/rowwise/tensorwise/; s/"disabled"/"dynamic"/' "$tmp/training.yml" >"$tmp/exact.yml"
sed -i 's/use_fast_accum: true/use_fast_accum: False/' "$tmp/exact.yml"
fw suite import "$tmp/exact.yml" -o "$tmp/exact.yaml" --quiet
is "and sums that leave the tensor core" "$(cells "$tmp/exact.yaml" | grep -c '/float8dq-tensor-exact/')" 16
sed -e 's/model_type: "linear"/model_type: ln_linear_relu/' "$tmp/training.yml" >"$tmp/relu.yml"
ok "models with normalisation and activation are trained" fw suite import "$tmp/relu.yml" -o "$tmp/relu.yaml"
is "in every direction" "$(grep '^directions' "$tmp/relu.yaml")" "directions: [forward, dgrad, wgrad, total]"
is "of both recipes" "$(cells "$tmp/relu.yaml" | sed -E 's,/m[0-9].*/,/,' | sort -u | cut -d/ -f2- | paste -sd' ')" \
	"ln_linear_relu/baseline/dgrad ln_linear_relu/baseline/forward ln_linear_relu/baseline/total ln_linear_relu/baseline/wgrad ln_linear_relu/float8dq-row-bf16dy/dgrad ln_linear_relu/float8dq-row-bf16dy/forward ln_linear_relu/float8dq-row-bf16dy/total ln_linear_relu/float8dq-row-bf16dy/wgrad"
{
	sed '/^model_params/,$d' "$tmp/training.yml"
	echo "model_params:"
	for model in ln_linear_{relu,sigmoid,leakyrelu,relu6,gelu,silu,hardswish} transformer_block; do
		echo "  - {name: a, matrix_shapes: [{name: custom, shapes: [[16, 64, 64]]}], model_type: $model}"
	done
} >"$tmp/models.yml"
ok "so is every activation" fw suite import "$tmp/models.yml" -o "$tmp/models.yaml"
like "a transformer block is not" "$out" '^line 17:.*transformer_block is left out: in training it starts from stored values; write a suite for it'
is "with its four directions in two recipes" "$(cells "$tmp/models.yaml" | cut -d/ -f2 | sort | uniq -c | tr -s ' ' | paste -sd,)" \
	" 8 ln_linear_gelu, 8 ln_linear_hardswish, 8 ln_linear_leakyrelu, 8 ln_linear_relu, 8 ln_linear_relu6, 8 ln_linear_sigmoid, 8 ln_linear_silu"

# ---- large -------------------------------------------------------------------------------------------------------------------
cat >"$tmp/sweep.yml" <<'YML'
quantization_config_recipe_names: [int8wo, int4wo-32, int4wo-64, int4wo-128, int4wo-256, float8wo, float8dq-tensor, float8dq-row]
model_params: [{name: sweep, matrix_shapes: [{name: sweep}]}]
YML
ok "512 shapes in nine recipes are a suite" fw suite import "$tmp/sweep.yml" -o "$tmp/sweep.yaml"
like "of all their cells" "$out" 'suite sweep of 4608 cells$'
is "two modules are compared on what a push measures of it" "$(cells "$tmp/sweep.yaml" | sort -u | wc -l)" 40
is "which is the same every time" "$(cells "$tmp/sweep.yaml" | sha256sum)" "$(cells "$tmp/sweep.yaml" | sha256sum)"
is "each next to its baseline" "$(comm -23 <(cells "$tmp/sweep.yaml" | sed -E 's,linear/linear/[^/]*,linear/linear/baseline,' | sort -u) <(cells "$tmp/sweep.yaml" | sort))" ""
ok "cells are chosen out of all" "$bin/flopwatch-worker" compare --suite "$tmp/sweep.yaml" --cells '*/m256/k256/n256/*' --base /bin/true --target /bin/true
like "as many as there are" "$out" ' 9 cells'
fails "but not more than a comparison takes" 2 "$bin/flopwatch-worker" compare --suite "$tmp/sweep.yaml" --cells '*' --base /bin/true --target /bin/true
like "and that is reported" "$out" '4608 cells of suite sweep match \*; one comparison takes at most 400'

{
	echo 'quantization_config_recipe_names: []'
	echo "model_params: [{name: many, matrix_shapes: [{name: custom, shapes: [$(seq -s, -f '[%g, 64, 64]' 1 600)]}]}]"
} >"$tmp/many.yml"
ok "more shapes than one set of ours lists" fw suite import "$tmp/many.yml" -o "$tmp/many.yaml"
like "are all there" "$out" 'suite many of 600 cells$'
is "in two sets" "$(grep -c 'name: custom' "$tmp/many.yaml")" 2

# ---- keys without a meaning, or with another one, are listed--------------------------------------------------------------------
cat >"$tmp/odd.yml" <<'YML'
benchmark_mode: training
quantization_config_recipe_names: [float8dq-tensor, float8dq-row]
scaling_granularity: rowwise
model_params:
  - {name: plain, matrix_shapes: [{name: llama}], high_precision_dtype: torch.float32}
  - name: "null"
    compile: "max-autotune"
    sparsity: "2:4"
    matrix_shapes:
      - {name: llama, min_power: 8}
      - {name: custom, shapes: [[16, 64, 64]], max_power: 3}
      - {name: llama4}
      - {name: qwen3_32b}
YML
ok "what we do not measure leaves the rest its cells" fw suite import "$tmp/odd.yml" -o "$tmp/odd.yaml"
like "a recipe that becomes another one" "$out" '^line 2:36: float8dq-tensor is float8dq-row here: scaling_granularity is rowwise$'
like "and then is there twice" "$out" '^line 2:53: left out what is there already: float8dq-row$'
like "a model in another precision" "$out" '^line 5:73: left out with its model: torch.float32 is not measured here; use torch.bfloat16$'
like "what a model compiles itself with" "$out" '^line 7:14: compile has no meaning here: '
like "sparsity of a model" "$out" '^line 8:15: sparsity has no meaning here: '
like "powers of a set that has none" "$out" '^line 10:34: min_power has no meaning here: llama has none$'
like "nor has one that is listed" "$out" '^line 11:59: max_power has no meaning here: custom has none$'
is "layers of other models have their sizes" "$(sed -n '/m1\(6384\|28000\)/s,.*/\(m[0-9]*/k[0-9]*/n[0-9]*\)/.*,\1,p' <(cells "$tmp/odd.yaml") | sort -u | paste -sd' ')" \
	"m128000/k5120/n5120 m128000/k5120/n640 m128000/k8192/n1024 m128000/k8192/n5120 m128000/k8192/n8192 m16384/k1024/n8192 m16384/k3584/n8192 m16384/k5120/n5120 m16384/k5120/n640 m16384/k8192/n1024 m16384/k8192/n1280 m16384/k8192/n5120 m16384/k8192/n7168 m16384/k8192/n8192"
like "and a suite is called as YAML would not read it" "$(cat "$tmp/odd.yaml")" '^suite: "plain"$'
sed -i 's/rowwise/tensorwise/; s/\[float8dq-tensor, float8dq-row\]/[float8dq-row]/; s/name: plain/name: "null"/' "$tmp/odd.yml"
ok "a name that is a word of YAML is one" fw suite import "$tmp/odd.yml" -o "$tmp/odd.yaml"
like "a user who sets tensorwise for rows reads what applies" "$out" '^line 2:36: float8dq-row stays, although scaling_granularity is tensorwise$'
sed -i 's/scaling_granularity: tensorwise/use_fast_accum: False\nscaling_type_weight: disabled/; s/float8dq-row/baseline/' "$tmp/odd.yml"
ok "what belongs to fp8 alone" fw suite import "$tmp/odd.yml" -o "$tmp/odd.yaml"
like "is reported without it" "$out" '^line 3:17: use_fast_accum has no meaning here: no recipe that is left multiplies fp8$'
like "each" "$out" '^line 4:22: scaling_type_weight has no meaning here: '
printf 'quantization_config_recipe_names: [float8dq]\nscaling_granularity: rowwise\nmodel_params: [{matrix_shapes: [{name: llama}]}]\n' >"$tmp/by-row.yml"
sed -i '2s/.*/&\nscaling_type_grad_output: disabled/' "$tmp/by-row.yml"
ok "in inference a granularity" fw suite import "$tmp/by-row.yml" -o "$tmp/by-row.yaml"
like "is ignored, which is reported" "$out" '^line 2:22: scaling_granularity has no meaning here: in inference the recipe determines it$'
like "nor is there a gradient" "$out" '^line 3:27: scaling_type_grad_output has no meaning here: inference multiplies no gradient$'
is "a recipe states it" "$(cells "$tmp/by-row.yaml" | grep -c float8dq-tensor)" 4

# ---- a refused value costs its recipe or its model ----------------------------------------------------------------------------
cat >"$tmp/refused.yml" <<'YML'
benchmark_mode: training
scaling_type_input: disabled
quantization_config_recipe_names:
  [int4wo-16, int9wo, float8dq-row]
scaling_type_weight: disabled
model_params:
  - {matrix_shapes: [{name: llama}], model_type: ln_linear_tanh}
  - {matrix_shapes: [{name: custom, shapes: [[16, 64, 64]]}]}
YML
ok "refused values leave the others" fw suite import "$tmp/refused.yml"
like "groups of other sizes" "$out" '^# line 4:4: int4wo-16 is left out: groups have 32, 64, 128 or 256 weights here$'
like "unknown recipes" "$out" '^# line 4:15: int9wo is left out: it is unknown; use baseline, '
like "two operands without scaling" "$out" '^# line 4:3: float8dq-row is left out: float8dq-row without scaling of what forward multiplies is the baseline'
like "unknown models" "$out" '^# line 7:50: left out with its model: model_type ln_linear_tanh is unknown; use linear'
like "what remains" "$out" '^recipes: \[baseline\]$'
sed -i '$d' "$tmp/refused.yml"
fails "a file of which nothing remains" 2 fw suite import "$tmp/refused.yml"
like "has each reason with its place" "$out" "^$tmp/refused.yml:7:50: left out with its model: model_type ln_linear_tanh is unknown"
like "and the result" "$out" "^$tmp/refused.yml:1:1: nothing of it can be measured here$"
sed 's/int8dq/int4wo-16/; s/int4wo-128-hqq/int4wo-48-hqq/' "$tmp/inference.yml" >"$tmp/int4wo-16.yml"
ok "one recipe of another group" fw suite import "$tmp/int4wo-16.yml" -o "$tmp/int4.yaml"
like "is named" "$out" '^line 5:5: int4wo-16 is left out: '
is "the others are measured" "$(cells "$tmp/int4.yaml" | cut -d/ -f3 | sort -u | paste -sd' ')" "baseline float8dq-tensor int4wo-32"

# ---- mistakes ----------------------------------------------------------------------------------------------------------------
cat >"$tmp/bad.yml" <<'YML'
benchmark_mode: inferno
quantization_config_recipe_names: [int4wo-48, float8dq-row]
use_fast_accum: maybe
model_params:
  - name: x
    matrix_shapes:
      - {name: custom, shapes: [[65536, 65536, 8], [0, 1, 2], [1, 2], [1, 2, 3, 4], 5]}
      - {name: pow3}
      - {name: sweep, min_power: 12, max_power: 9}
      - {name: pow2, max_power: 20}
    high_precision_dtype: torch.bfloat16
    enable_profilr: true
  - {name: y, matrix_shapes: [{name: llama}], model_type: ln_linear_tanh}
YML
fails "mistakes are status 2" 2 fw suite import "$tmp/bad.yml"
while IFS='|' read -r place words; do
	is "one line at $place: $words" "$(grep -cE "^$tmp/bad.yml:$place: .*$words" <<<"$out")" 1
done <<'BAD'
1:17|"inferno" is unknown; use inference or training
3:17|"maybe" is neither true nor false
7:33|more than 2\^31 - 1 elements
7:53|0 is out of range; must be 1 to
7:63|must be \[m, k, n\]
7:71|must be a list of 1 to 3 numbers
7:85|must be a list of 1 to 3 numbers
8:16|"pow3" is unknown; use custom
9:49|there is no power between min_power 12 and max_power 9
10:9|more than 2\^31 - 1 elements
12:5|unknown key; did you mean .enable_profiler
BAD
is "and no other line" "$(wc -l <<<"$out")" 11
echo "model_params: [{matrix_shapes: [$(for i in $(seq 65); do printf '{name: custom, shapes: [[%s, 8, 8]]}, ' "$i"; done)]}]" >"$tmp/sets.yml"
fails "more sets than a suite has" 2 fw suite import "$tmp/sets.yml" -o "$tmp/sets.yaml"
is "are reported where they are" "$out" "$tmp/sets.yml:1:15: model_params: make 65 sets of shapes; a suite has at most 64"
{
	echo "quantization_config_recipe_names: [int8wo, int4wo-32, int4wo-64, int4wo-128, int4wo-256, float8wo, float8dq-tensor, float8dq-row]"
	echo "model_params: [{matrix_shapes: [{name: sweep}]}, {matrix_shapes: [{name: sweep}], model_type: ln_linear}]"
} >"$tmp/cells.yml"
fails "more cells than a suite has" 2 fw suite import "$tmp/cells.yml" -o "$tmp/cells.yaml"
like "are reported without a place in a file that there is not" "$out" "^$tmp/cells.yml: is not a suite of flopwatch: .*more than 8192 cells"
printf 'model_params: [1\n' >"$tmp/syntax.yml"
fails "what is no YAML" 2 fw suite import "$tmp/syntax.yml"
like "has its place" "$out" "^$tmp/syntax.yml:2:1: did not find expected"
: >"$tmp/empty.yml"
fails "an empty file" 2 fw suite import "$tmp/empty.yml"
like "says what belongs there" "$out" "^$tmp/empty.yml:1:1: must be a mapping with model_params"
fails "a file that is not there" 1 fw suite import "$tmp/none.yml"
like "is named" "$out" "none.yml: No such file"
fails "nothing but import" 2 fw suite export "$tmp/inference.yml"
