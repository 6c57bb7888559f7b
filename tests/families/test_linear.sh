#!/bin/bash
# Linear layers from end to end on the CPU: every recipe in each of its directions is accepted, equal modules are unchanged, a wrong
# scale of one group is found by its element, and unsuitable shapes of a recipe are unsupported. Times are those of device sim.
# Starts early.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/kernels.sh"
worker=$bin/flopwatch-worker
copy_kernels "$tmp/kernels"
module=build/cpu/liblinear.so
suite() { # name, further lines
	printf 'suite: %s\nfamily: linear\nseed: 3\n%s\n' "$1" "$2" >"$tmp/$1.yaml"
}
# The results of changed modules are checked, not their speed; all of their objects are of -O1, which compiles in half of the time.
build() { # name, [file below kernels/linear, sed script]: the module with that change
	local from=$tmp/kernels
	[ $# = 1 ] || { change_kernels "$from" "$tmp/changed" "linear/$2" "$3" && from=$tmp/changed; } || return 1
	make -s -C "$from" DEVICE=cpu EXTRA="${EXTRA:-}" "$module" && mv "$from/$module" "$tmp/$1.so"
}
compare() { # suite, target, options
	"$worker" compare --suite "$tmp/$1.yaml" --device sim --base "$tmp/base.so" --target "$tmp/$2.so" --json "${@:3}" >"$tmp/out.json" 2>"$tmp/err"
}
look() { # suite, target: one run, which checks acceptance only and decides nothing about speed
	compare "$@" --quick
	sed -i -E 's/"(undecided|unchanged)"/"accepted"/g' "$tmp/out.json"
}
verdicts() { jq -r '[.cells[] | .verdict] | group_by(.) | map("\(length) \(.[0])") | join(", ")' "$tmp/out.json"; }
details() { jq -r '.cells[] | select(.verdict | IN("unchanged", "accepted") | not) | .cell + ": " + (.detail // "")' "$tmp/out.json"; }
failed() { jq -r '[.cells[] | select(.verdict == "failed") | .cell | split("/") | .[2] + "/" + .[4]] | join(" ")' "$tmp/out.json"; }
ignores='s/const struct operand o = { slot, is_transposed, rows, depth, \*as };/(void)as;\n\tconst struct operand o = { slot, is_transposed, rows, depth, { FW_BF16, 0, 0, 0 } };/' # recipes
at() { jq -r --arg cell "$1" ".cells[] | select(.cell == \$cell) | $2" "$tmp/out.json"; }

ok "the module for CPUs builds" build base
rm -r "$tmp/kernels/build"
EXTRA=-O1
ok "and again with -O1" build again
cp "$tmp/base.so" "$tmp/same.so" && printf x >>"$tmp/same.so" # the same code in another file
suite forward 'shapes: [{name: custom, shapes: [[1, 256, 24], [17, 512, 40]]}]
recipes: [baseline, int8wo, int4wo-32, int4wo-64, int4wo-128, int4wo-256, float8wo, float8dq-tensor, float8dq-row]
directions: [forward]'
compare forward same
is "every recipe is accepted, equal modules are unchanged" "$(verdicts)$(details)" "18 unchanged"
is "keys say model, recipe and sizes" "$(jq -r '.cells[0].cell, .cells[-1].cell' "$tmp/out.json" | paste -sd' ')" \
	"linear/linear/baseline/m1/k256/n24/bf16/forward linear/linear/float8dq-row/m17/k512/n40/bf16/forward"
suite models 'shapes: [{name: custom, shapes: [[17, 256, 40]]}]
recipes: [baseline, int8wo, float8dq-tensor, float8dq-row]
model_types: [ln_linear_relu, ln_linear_sigmoid, ln_linear_leakyrelu, ln_linear_relu6, ln_linear_gelu, ln_linear_silu, ln_linear_hardswish]
directions: [forward]'
look models same
is "so is every activation behind a normalised input" "$(verdicts)$(details)" "28 accepted"
suite flat 'shapes: [{name: custom, shapes: [[17, 96, 40], [17, 256, 40], [8, 4096, 96]]}]
recipes: [int8wo, float8dq-row]
model_types: [ln_linear_relu, ln_linear_sigmoid, ln_linear_gelu, ln_linear_silu, ln_linear_hardswish]
directions: [forward]'
look flat same
is "where an activation saturates too" "$(verdicts)$(details)" "30 accepted"
ok "a module whose sigmoid is always one half builds" build half rounding.h 's|return 1.0f / (1.0f + expf(-v));|return 0.5f;|'
look flat half
is "it is found where the sigmoid is flat" "$(failed)" "int8wo/k96 float8dq-row/k96 int8wo/k256 float8dq-row/k256 int8wo/k4096 float8dq-row/k4096"
ok "a module that multiplies bf16 whatever the recipe says builds" build plain operands.h "$ignores"
look flat plain
is "it is found behind every activation" "$(failed | wc -w)" 30
suite block 'shapes: [{name: custom, shapes: [[1, 64, 1], [2, 256, 1]]}]
recipes: [baseline, int8wo, int4wo-64, int4wo-128, float8wo, float8dq-row]
model_types: [transformer_block]
directions: [forward]'
look block same
is "transformer blocks are accepted in every recipe that they take" "$(verdicts)" "11 accepted, 1 unsupported"
like "one that k does not fit has its reason" "$(at linear/transformer_block/int4wo-128/m1/k64/bf16/forward .detail)" '^k = 64 is not a multiple of the group of 128'
suite large 'shapes: [{name: custom, shapes: [[3, 768, 1]]}]
model_types: [transformer_block]
directions: [forward]'
look large same
is "and where only some tokens are looked at" "$(verdicts)" "1 accepted"
suite blocks 'shapes: [{name: custom, shapes: [[1, 64, 1], [2, 256, 1], [12, 256, 1]]}]
recipes: [int8wo, float8wo, float8dq-row]
model_types: [transformer_block]
directions: [forward]'
look blocks same
is "so is every size, whole or in part" "$(verdicts)$(details)" "9 accepted"
look blocks plain
is "blocks that ignore their recipe are not" "$(verdicts)" "9 failed"
like "and that is reported of all results together" "$(at linear/transformer_block/float8dq-row/m2/k256/bf16/forward .detail)" '^Y is [0-9]+ % of the way to what another precision gives \(allowed [0-9]+ %\)'
suite block-training 'shapes: [{name: custom, shapes: [[1, 64, 1], [2, 128, 1]]}]
recipes: [baseline, float8dq-row]
model_types: [transformer_block]
directions: [dgrad, wgrad, total]'
look block-training same
is "gradients of transformer blocks are accepted" "$(verdicts)$(details)" "12 accepted"
suite block-part 'shapes: [{name: custom, shapes: [[12, 384, 1], [1, 2368, 1]]}]
recipes: [baseline]
model_types: [transformer_block]
directions: [dgrad, wgrad]'
look block-part same
is "also where some sequences and some rows of dW are checked" "$(verdicts)" "2 accepted, 2 unsupported"
like "those of too many products have the reason" "$(at linear/transformer_block/baseline/m1/k2368/bf16/wgrad .detail)" '^wgrad of a transformer block with m 1, k 2368 takes more products than the reference computes; 192 m k\^2 may be at most 2\^30'
look block-training plain
is "gradients that ignore the recipe are found" "$(failed | tr ' ' '\n' | sort | uniq -c | awk '{ print $1, $2 }' | paste -sd,)" "3 float8dq-row/k128,3 float8dq-row/k64"
forgets() { # what the module does, sed script of block_gradient.c, the directions whose cells fail by a gradient
	ok "a block that $1 builds" build forgets cpu/block_gradient.c "$2"
	look block-training forgets
	is "it is found in $3" "$(jq -r '[.cells[] | select(.verdict == "failed") | select(.detail | test("d[XW](\\[[0-9]+, [0-9]+\\] is .*, should be | is [0-9]+ % of the way)")) | .cell | split("/")[-1]] | group_by(.) | map("\(length) \(.[0])") | join(", ")' "$tmp/out.json")" "$3"
}
forgets "forgets the residual around its second half" 's/rounding_bf16(at(add, row, i) + through)/rounding_bf16((add == \&p->dy ? 0 : at(add, row, i)) + through)/' "4 dgrad, 4 total, 4 wgrad"
forgets "forgets that a normalisation divides by what it reads" 's/ - at(v, row, i) \* factor \* (float)along)/ - 0 * (float)along)/' "4 dgrad, 4 total, 4 wgrad"
forgets "forgets that keys have a gradient" 's/^\t\t\tto\[k\] = rounding_bf16(key);/\t\t\tto[k] = rounding_bf16(0 * key);/' "4 dgrad, 4 total, 4 wgrad"
forgets "has gelu without its slope" 's/ \* rounding_slope(FW_LINEAR_GELU, v)//' "4 dgrad, 4 total, 4 wgrad"
forgets "gives the matrix PROJECT the gradient of other rows" 's/slot\[FW_LINEAR_X\] = packed(p->input, p->depth\[matrix\]);/slot[FW_LINEAR_X] = packed(matrix == PROJECT ? p->x.data : p->input, p->depth[matrix]);/' "4 total, 4 wgrad"
suite training 'shapes: [{name: custom, shapes: [[48, 64, 40]]}]
recipes: [baseline, float8dq-tensor, float8dq-row]'
look training same
is "and every direction of training" "$(verdicts)$(details)" "9 accepted"
suite total 'shapes: [{name: custom, shapes: [[48, 64, 40]]}]
recipes: [baseline, float8dq-tensor, float8dq-row]
directions: [total]'
look total same
is "so is a forward with its gradients in one call" "$(verdicts)$(details)" "3 accepted"
ok "a module that adds up dW one row short builds" build short operands.h 's/p->right = operand_make(FW_LINEAR_X, true, s->k, s->m, /p->left.depth -= s->m > 1;\n\t\tp->right = operand_make(FW_LINEAR_X, true, s->k, s->m, /'
look total short
like "the tensor that is wrong is named" "$(at linear/linear/baseline/m48/k64/n40/bf16/total .detail)" 'dW\[[0-9]+, [0-9]+\] is .*, should be '
suite through 'shapes: [{name: custom, shapes: [[48, 64, 40]]}]
recipes: [baseline, float8dq-tensor, float8dq-row]
model_types: [ln_linear_relu, ln_linear_sigmoid, ln_linear_leakyrelu, ln_linear_relu6, ln_linear_gelu, ln_linear_silu, ln_linear_hardswish]
directions: [dgrad, wgrad, total]'
look through same
is "gradients through normalisation and every activation are accepted" "$(verdicts)$(details)" "63 accepted"
suite behind 'shapes: [{name: custom, shapes: [[48, 64, 40], [280, 640, 100]]}]
recipes: [baseline, float8dq-row]
model_types: [ln_linear_gelu, ln_linear_silu]
directions: [forward, dgrad, wgrad, total]'
look behind same
is "also where some rows are checked" "$(verdicts)$(details)" "32 accepted"
wrong() { # name, file, sed script, directions whose cells fail, all of them: the tensor with the wrong element
	ok "a module that forgets $1 builds" build forgets "$2" "$3"
	look behind forgets
	is "it is found in all of $4" "$(jq -r '[.cells[] | select(.verdict == "failed") | .cell | split("/")[-1]] | group_by(.) | map("\(length) \(.[0])") | join(", ")' "$tmp/out.json")" "$4"
	like "by the tensor" "$(details)" ": $5(\\[[0-9]+, [0-9]+\\] is .*, should be | is [0-9]+ % of the way to what a gradient without mean)"
}
wrong "the derivative of the activation" cpu/gradient.c 's/rounding_slope(activation, at(s, row, i))/(activation ? 1.0f : at(s, row, i))/' "8 dgrad, 8 total, 8 wgrad" dX
wrong "that the normalisation has a gradient" cpu/gradient.c 's/(double)rounding_widen(from\[i\]) - mean - v \* along) \* moments.inverse/(double)rounding_widen(from[i]) + 0 * (mean + v * along))/' "8 dgrad, 8 total" dX
wrong "that deviations have a gradient" cpu/gradient.c 's/ - v \* along)/ - 0 * v * along)/' "8 dgrad, 8 total" dX
wrong "that means have a gradient" cpu/gradient.c 's/ - mean - v \* along)/ - 0 * mean - v * along)/' "8 dgrad, 8 total" dX
wrong "to normalise X behind which weights have a gradient" cpu/cpu.c 's/^\t\ts->right = (struct contract_matrix){ g->u, shape->k };//' "8 total, 8 wgrad" dW
suite disabled 'shapes: [{name: custom, shapes: [[48, 64, 40]]}]
recipes: [baseline, float8dq]
scaling_granularity: row
scaling_type_weight: disabled
directions: [forward, dgrad, wgrad, total]'
look disabled same
is "operands whose scaling is disabled stay bf16" "$(verdicts)$(details)" "8 accepted"
is "and are named in the key" "$(jq -r '.cells[-1].cell' "$tmp/out.json")" linear/linear/float8dq-row-bf16w/m48/k64/n40/bf16/total
ok "a module that rounds them all the same builds" build all operands.h 's/const struct operand o = { slot, is_transposed, rows, depth, \*as };/struct operand o = { slot, is_transposed, rows, depth, *as };\n\tif (slot == FW_LINEAR_W \&\& as->dtype == FW_BF16)\n\t\to.as = (struct fw_linear_operand){ FW_E4M3, FW_LINEAR_BY_ROW, 0, 0 };/'
look disabled all
is "and is found in what reads W" "$(jq -r '[.cells[] | select(.verdict == "failed") | .cell | split("/") | .[2] + " " + .[-1]] | join(", ")' "$tmp/out.json")" \
	"baseline forward, baseline dgrad, baseline total, float8dq-row-bf16w forward, float8dq-row-bf16w dgrad, float8dq-row-bf16w total"
suite exact 'shapes: [{name: custom, shapes: [[16, 256, 24]]}]
recipes: [baseline, float8dq-row]
fast_accumulation: false
directions: [forward]'
look exact same
is "sums that leave the tensor core have a key of their own" "$(jq -r '.cells[1].cell' "$tmp/out.json")" "linear/linear/float8dq-row-exact/m16/k256/n24/bf16/forward"
ok "a module whose sums of fp8 lose bits, as in a narrow accumulator, builds" build narrow cpu/product.c \
	's|^\t\t\tif (e->bias)|\t\t\tif (left->factor \&\& right->factor)\n\t\t\t\tv = rintf(v * 4) / 4;\n&|'
suite fast 'shapes: [{name: custom, shapes: [[16, 4096, 24]]}]
recipes: [float8dq-row]
use_fast_accum: true
directions: [forward]'
suite slow 'shapes: [{name: custom, shapes: [[16, 4096, 24]]}]
recipes: [float8dq-row]
use_fast_accum: false
directions: [forward]'
look fast narrow
is "fast accumulation allows for it" "$(verdicts)$(details)" "1 accepted"
look slow narrow
is "sums that leave the accumulator do not" "$(verdicts)" "1 failed"
suite scales 'shapes: [{name: custom, shapes: [[200, 300, 260], [1, 256, 24]]}]
recipes: [baseline, float8dq]
scaling_granularity: block
directions: [forward, dgrad, wgrad, total]'
look scales same
is "scales by block are accepted in every direction, also if blocks do not fill a size" "$(verdicts)$(details)" "16 accepted"
is "and have a key of their own" "$(jq -r '.cells[-1].cell' "$tmp/out.json")" linear/linear/float8dq-block/m1/k256/n24/bf16/total
suite scales-of-part 'shapes: [{name: custom, shapes: [[300, 640, 332]]}]
recipes: [float8dq-block]
directions: [forward, dgrad, wgrad]'
look scales-of-part same
is "also where some rows and columns are checked" "$(verdicts)$(details)" "3 accepted"
suite scales-of-models 'shapes: [{name: custom, shapes: [[150, 264, 140]]}]
recipes: [float8dq-block]
model_types: [ln_linear_silu, transformer_block]
directions: [forward]'
look scales-of-models same
is "and behind a normalised input" "$(verdicts)" "1 accepted, 1 unsupported"
like "a transformer block has the reason" "$(details)" 'float8dq-block has no reference results for the weights of a transformer block; use float8dq-row'
suite scales-of-gradients 'shapes: [{name: custom, shapes: [[150, 264, 140]]}]
recipes: [float8dq-block]
model_types: [ln_linear_silu]
directions: [dgrad, wgrad, total]'
look scales-of-gradients same
is "so are its gradients" "$(verdicts)$(details)" "3 accepted"
cheats() { # what the module does, file, sed script, directions whose cells fail: all of them with the wrong element
	ok "a module that $1 builds" build cheats "$2" "$3"
	look scales cheats
	is "it is wrong in all of $4" "$(jq -r '[.cells[] | select(.verdict == "failed" and (.detail | test("(Y|dX|dW)\\[[0-9]+, [0-9]+\\] is .*, should be "))) | .cell | split("/") | .[4] + " " + .[-1]] | sort | join(", ")' "$tmp/out.json")" "$4"
	is "everything else is accepted" "$(jq -r '[.cells[] | select(.verdict == "accepted")] | length' "$tmp/out.json")" "$5"
}
cheats "has one scale for a row" cpu/quantise.c 's/^\tif (o->as.scaling == FW_LINEAR_BY_BLOCK \&\& o->slot/\tfor (int64_t i = 0; i < (int64_t)o->rows * spans; i++)\n\t\tfor (int64_t j = i \/ spans * spans; j < (i \/ spans + 1) * spans; j++)\n\t\t\tfactor[i] = fmaxf(factor[i], factor[j]);\n&/' \
	"k256 forward, k256 total, k300 dgrad, k300 forward, k300 total, k300 wgrad" 10
cheats "has a scale for each row of a block of W" cpu/quantise.c 's/^\t\tshare_blocks(o, factor);/\t\t;/' \
	"k256 dgrad, k256 forward, k256 total, k300 dgrad, k300 forward, k300 total" 10
cheats "rounds scales to powers of two" rounding.h 's/^\tif (!(as->flags & FW_LINEAR_POWER_OF_TWO))/\tif (as->scaling != FW_LINEAR_BY_BLOCK)/' \
	"k256 dgrad, k256 forward, k256 total, k256 wgrad, k300 dgrad, k300 forward, k300 total, k300 wgrad" 8
cheats "multiplies by the scale of the first block" cpu/product.c 's/ + d \/ FW_LINEAR_SCALE_BLOCK\]/ + 0 * d]/' \
	"k256 forward, k256 total, k300 dgrad, k300 forward, k300 total, k300 wgrad" 10
cheats "begins the blocks of X in the middle of a block" cpu/quantise.c 's/const int64_t first = (int64_t)i \* span, end = first + span/const int64_t first = (int64_t)i * span - (i \&\& o->slot == FW_LINEAR_X ? 64 : 0), end = first + span/' \
	"k300 forward, k300 total, k300 wgrad" 13 # the largest value of the only row of 256 is in both
look scales plain
is "a module that multiplies bf16 whatever the recipe says is found in every direction but one, whose blocks have one value, which e4m3 with its own scale keeps" "$(jq -r '[.cells[] | select(.verdict == "failed") | .cell | split("/")[2]] | group_by(.) | map("\(length) \(.[0])") | join(", ")' "$tmp/out.json")" "7 float8dq-block"
suite once 'shapes: [{name: custom, shapes: [[4, 256, 48]]}]
recipes: [baseline, int8wo, int4wo-64, float8dq]
directions: [forward, once]'
look once same
is "what quantises weights has a cell of its own" "$(verdicts)$(details)" "7 accepted"
is "named in its key, reported in GB/s" "$(jq -r '[.cells[] | select(.cell | endswith("/once")) | (.cell | split("/")[2]), (has("tflops") | not), .base.gb_s > 0] | join(" ")' "$tmp/out.json")" \
	"int8wo true true int4wo-64 true true float8dq-tensor true true"
ok "a module that takes a tenth longer to quantise weights builds" build costly cpu/cpu.c 's/"ISA=%s", isa->name/"ISA=%s SIM_ONCE_FACTOR=1.1", isa->name/'
compare once costly
is "that is a loss there, and none of the product's" "$(jq -r '[.cells[] | .verdict + " " + (.cell | split("/") | last)] | group_by(.) | map("\(length) \(.[0])") | join(", ")' "$tmp/out.json")" \
	"3 regression once, 4 unchanged forward"
ok "a module that quantises X where it quantises W builds" build early cpu/cpu.c \
	's/(phases & FW_LINEAR_QUANTISE_ACTIVATION) && s->rounded_left/(phases \& FW_LINEAR_QUANTISE_WEIGHT) \&\& s->rounded_left/'
look once early
is "it is not accepted, for that is no work done once" "$(jq -r '[.cells[] | select(.verdict == "failed") | .cell | split("/") | .[2] + " " + .[-1]] | join(", ")' "$tmp/out.json")" \
	"float8dq-tensor forward"
ok "a module that quantises weights in every call builds" build often cpu/cpu.c 's/\.once = sides_phases(&product) & FW_LINEAR_QUANTISE_WEIGHT/.once = 0/'
look once often
is "has nothing to show there, which its base had" "$(jq -r '[.cells[] | select(.verdict == "failed") | .cell | split("/") | .[2] + " " + .[-1]] | join(", ")' "$tmp/out.json")" \
	"int8wo once, int4wo-64 once, float8dq-tensor once"
like "as a sentence" "$(at linear/linear/int8wo/m4/k256/n48/bf16/once .detail)" 'cpu has no phase that is done once for this problem'
ok "a module that keeps X as it was in its first call builds" build keeps cpu/cpu.c \
	's/^\tbool is_bound;/&\n\tvoid *kept;/; s/^\tconst struct contract_matrix x = sides_left(product, s);/\tstruct contract_matrix x = sides_left(product, s);\n\tconst size_t bytes = (size_t)left->rows * (size_t)x.stride * 2;\n\tif (!p->kept \&\& (phases \& FW_LINEAR_QUANTISE_ACTIVATION) \&\& (p->kept = malloc(bytes)))\n\t\tmemcpy(p->kept, x.data, bytes);\n\tif (p->kept)\n\t\tx.data = p->kept;/'
suite few 'shapes: [{name: custom, shapes: [[1, 256, 24], [2, 264, 24], [17, 256, 1]]}]
recipes: [float8dq-row]
directions: [forward]'
look few same
is "few rows are accepted" "$(verdicts)$(details)" "3 accepted"
for device in sim cpu; do
	"$worker" compare --suite "$tmp/few.yaml" --device $device --quick --base "$tmp/base.so" --target "$tmp/keeps.so" --json >"$tmp/out.json" 2>"$tmp/err"
	is "it is found on $device, however many rows there are" "$(jq -r '[.cells[] | .verdict + " " + (.detail | split(":")[0])] | unique | join(", ")' "$tmp/out.json")" \
		"failed with another X on the same plan"
done
suite odd 'shapes: [{name: custom, shapes: [[4, 96, 16]]}]
recipes: [baseline, int4wo-64]
directions: [forward]'
look odd same
is "k that groups do not divide is unsupported" "$(at linear/linear/int4wo-64/m4/k96/n16/bf16/forward .verdict)" unsupported
like "with its reason" "$(at linear/linear/int4wo-64/m4/k96/n16/bf16/forward .detail)" '^k = 96 is not a multiple of the group of 64'
ok "a module that takes whatever it is asked for builds" build agrees operands.h 's/if (s->k % as->group)/if (s->k < 0)/'
suite cannot 'shapes: [{name: custom, shapes: [[1, 72, 1]]}]
recipes: [int4wo-64, float8dq-tensor]
model_types: [transformer_block]
directions: [forward]'
look cannot agrees
is "an impossible case is unsupported whatever the module reports" "$(jq -r '[.cells[] | .verdict + ": " + .detail] | join("; ")' "$tmp/out.json")" \
	"unsupported: k = 72 is not a multiple of the group of 64; unsupported: float8dq-tensor has a scale over all tokens of a transformer block, for which there is no check; use float8dq-row"
ok "a module whose scale of one group is an eighth too large builds" build scaled cpu/quantise.c \
	's/rounding_bf16((rounding_4bit(&g, at(from, row, first + i)) - 8.0f) \* g.scale/rounding_bf16((rounding_4bit(\&g, at(from, row, first + i)) - 8.0f) * g.scale * (row == 7 \&\& first == group ? 1.125f : 1.0f)/'
look forward scaled
like "it is found in the column that it belongs to" "$(at linear/linear/int4wo-64/m17/k512/n40/bf16/forward .detail)" 'Y\[[0-9]+, 7\] is .*, should be '
is "in the recipes that have groups alone" "$(jq -r '[.cells[] | select(.verdict == "failed") | .cell | split("/")[2] | split("-")[0]] | unique | join(" ")' "$tmp/out.json")" int4wo
ok "a module that rounds int8 at 127 instead of 127.5 builds" build wide rounding.h 's/127\.5f/127.0f/'
look forward wide
is "only int8wo is not accepted" "$(jq -r '[.cells[] | select(.verdict == "failed") | .cell | split("/")[2]] | unique | join(" ")' "$tmp/out.json")" int8wo

found() { # plant, file, sed script, cells whose wrong element is named; all others are accepted
	ok "a block $1 builds" build "$1" "$2" "$3"
	look small "$1"
	is "it is found where it is" "$(jq -r '[.cells[] | select(.verdict == "failed" and (.detail | test("^Y\\[[0-9]+, [0-9]+\\] is .*, should be "))) | .cell | split("/") | .[2] + "/" + .[4]] | join(" ")' "$tmp/out.json")" "$4"
	is "and everything else is accepted" "$(jq -r '[.cells[] | select(.verdict | IN("failed", "accepted", "unsupported"))] | length' "$tmp/out.json")" 12
}
suite small 'shapes: [{name: custom, shapes: [[1, 64, 1], [2, 128, 1]]}]
recipes: [baseline, int8wo, int4wo-64, int4wo-128, float8wo, float8dq-row]
model_types: [transformer_block]
directions: [forward]'
every="baseline/k64 int8wo/k64 int4wo-64/k64 float8wo/k64 float8dq-row/k64 baseline/k128 int8wo/k128 int4wo-64/k128 int4wo-128/k128 float8wo/k128 float8dq-row/k128"
found unseen-token cpu/block.c 's/^\t\tscore\[u\] \*= shrink;/\t\tscore[u] = u < TOKENS - 1 ? score[u] * shrink : -1e30f;/' "$every"
found forgets-x block/block.c 's/pass->add(&p->h, p->branch/pass->add(\&p->x, p->branch/' "$every"
found one-row-of-up cpu/product.c 's/v \*= right->factor\[column + j\];/v *= right->factor[column + j] * (e->activation == 5 \&\& column + j == 9 ? 4.0f : 1.0f);/' \
	"int8wo/k64 float8wo/k64 float8dq-row/k64 int8wo/k128 float8wo/k128 float8dq-row/k128"

while IFS='|' read -r lines words; do
	suite bad "$(printf '%b' "$lines")"
	fails "refused: ${lines//$'\n'/ }" 2 "$worker" compare --suite "$tmp/bad.yaml" --device sim --base "$tmp/base.so" --target "$tmp/same.so"
	like "says: $words" "$out" "bad.yaml:[0-9]+:[0-9]+: .*$words"
	unlike "once" "$out" "$words.* \| .*$words"
done <<'BAD'
shapes: [{name: circle}]|use custom, llama
shapes: [{name: custom, shapes: [[1, 2]]}]|must be \[m, k, n\]
shapes: [{name: custom, shapes: [[65536, 65536, 8]]}]|more than 2\^31 - 1 elements
shapes: [{name: llama, max_power: 3}]|llama has no powers
shapes: [{name: sweep}]\ndirections: [forward]\nmodel_types: [linear, ln_linear_relu]\nrecipes: [baseline, int8wo, int4wo-32, int4wo-64, int4wo-128, int4wo-256, float8wo, float8dq-row, float8dq-tensor]|more than 8192 cells
shapes: [{name: sweep, min_power: 9, max_power: 8}]|there is no power between
shapes: [{name: custom, shapes: [[0, 8, 8]]}]|0 is out of range; must be 1 to 2147483647
shapes: [{name: custom, shapes: [[8, -8, 8]]}]|-8 is out of range
shapes: [{name: custom, shapes: [[8, 8, 8]]}, {name: custom, shapes: [[8, 8, 8]]}]|appears twice
shapes: [{name: pow2, max_power: 30}]|more than 2\^31 - 1 elements
shapes: [{name: llama|did not find expected
shapes: {name: llama}|must be a list of 1 to 64
shapes: [{name: llama}]\npush: 3|must be \{cells: NUMBER
shapes: [{name: llama}]\npush: {cells: 2, always: ["*/m3/*"]}|matches no cell of this suite
shapes: [{name: sweep}]\ndirections: [forward]\npush: {always: ["*"]}|512 cells match; a push measures at most 200
shapes: [{name: llama}]\nrecipes: [int3wo]|"int3wo" is unknown
shapes: [{name: llama}]\nrecipes: [int8wo]|for inference only
shapes: [{name: llama}]\nrecipes: [baseline]\nscaling_type_input: disabled|is for recipes float8dq
shapes: [{name: llama}]\nrecipes: [float8dq-row]\nscaling_granularity: row|belongs to the recipe float8dq
shapes: [{name: llama}]\nrecipes: [float8dq]\nscaling_granularity: group|use tensor, row or block
shapes: [{name: llama}]\nrecipes: [float8dq-block]\nscaling_granularity: block|belongs to the recipe float8dq
shapes: [{name: llama}]\nrecipes: [float8dq]\nscaling_granularity: block\nuse_fast_accum: false|changes nothing: float8dq-block always adds up in fp32 after each block
shapes: [{name: llama}]\nrecipes: [float8dq]\nscaling_type_weight: delayed|use dynamic or disabled
shapes: [{name: llama}]\nrecipes: [float8dq]\nscaling_type_weight: disabled\nscaling_type_input: disabled|forward multiplies is the baseline
shapes: [{name: llama}]\nrecipes: [float8dq]\nscaling_type_weight: disabled\nuse_fast_accum: false|forward multiplies no two operands in fp8
shapes: [{name: llama}]\nrecipes: [baseline, int8wo]\ndirections: [forward]\nuse_fast_accum: false|is for recipes float8dq
shapes: [{name: llama}]\nrecipes: [float8dq]\ndirections: [forward]\nscaling_type_grad_output: disabled|no direction of this suite multiplies dy
shapes: [{name: llama}]\nrecipes: [float8dq]\ndirections: [dgrad]\nscaling_type_input: disabled|no direction of this suite multiplies x
shapes: [{name: llama}]\npush: {cells: 2, always: ["*/k8192/* */forward"]}|has a space, which no cell has
shapes: [{name: llama}]\nfast_accumulation: true\nuse_fast_accum: true|another name of fast_accumulation
shapes: [{name: llama}]\nmodel_types: [transformer_blocks]|"transformer_blocks" is unknown
shapes: [{name: llama}]\nmodel_types: [transformer_block]|more than 2\^31 - 1 elements
shapes: [{name: custom, shapes: [[2, 100, 1]]}]\nmodel_types: [transformer_block]|k 100 of a transformer block must be a multiple of its 8 heads
shapes: [{name: custom, shapes: [[2, 64, 1]]}]\nmodel_types: [transformer_block]\nrecipes: [int8wo]\ndirections: [dgrad]|for inference only
shapes: [{name: custom, shapes: [[2, 64, 1]]}]\nmodel_types: [transformer_block]\nrecipes: [float8dq-row]\ndirections: [wgrad]\nscaling_type_grad_output: disabled\nuse_fast_accum: false|wgrad multiplies no two operands in fp8
shapes: [{name: custom, shapes: [[1050, 16000, 1]]}]\nmodel_types: [transformer_block]|more than 2\^31 - 1 elements
BAD
