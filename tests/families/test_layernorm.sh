#!/bin/bash
# Layer normalisation from end to end on the CPU: equal modules are unchanged, added work is found in its cell, and a wrong
# element by its index; the unit is GB/s. The results are computed on the CPU, the times are those of device sim.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/kernels.sh"
worker=$bin/flopwatch-worker
copy_kernels "$tmp/kernels"
module=build/cpu/liblayernorm.so
cat >"$tmp/tiny.yaml" <<'YAML'
suite: tiny
family: layernorm
rows: [3, 64]
columns: [40, 1000]
seed: 7
YAML
build() { # name, [file below kernels/layernorm, sed script]: the module with that change
	local from=$tmp/kernels
	[ $# = 1 ] || { change_kernels "$from" "$tmp/changed" "layernorm/$2" "$3" && from=$tmp/changed; } || return 1
	make -s -C "$from" DEVICE=cpu "$module" && mv "$from/$module" "$tmp/$1.so"
}
compare() { # target
	"$worker" compare --suite "$tmp/tiny.yaml" --device sim --base "$tmp/base.so" --target "$tmp/$1.so" --json >"$tmp/out.json" 2>"$tmp/err"
}
verdicts() { jq -r '[.cells[] | .verdict] | group_by(.) | map("\(length) \(.[0])") | join(", ")' "$tmp/out.json"; }

ok "the module for CPUs builds" build base
cp "$tmp/base.so" "$tmp/same.so" && printf x >>"$tmp/same.so" # the same code in another file
compare same
is "equal modules are unchanged in every cell" "$(verdicts)" "8 unchanged"
is "whose keys say rows and columns" "$(jq -r '.cells[0].cell, .cells[-1].cell' "$tmp/out.json" | paste -sd' ')" \
	"layernorm/r3/c40/bf16/forward layernorm/r64/c1000/bf16/backward"
is "what is shown is GB/s" "$(jq -r '[.cells[] | has("tflops") or .base.gb_s > 0] | unique | join(" ")' "$tmp/out.json")" true
ok "a backward that does a tenth more builds" build slower plan.h 's/(forward ? 7 : 14) \* elements/(forward ? 7 : 15.4) * elements/'
compare slower
is "it is found in backward alone" "$(jq -r '[.cells[] | select(.verdict == "regression") | .cell | split("/") | last] | unique | join(" ")' "$tmp/out.json")" backward
is "in all of its cells" "$(verdicts)" "4 regression, 4 unchanged"
"$worker" compare --suite "$tmp/tiny.yaml" --device sim --base "$tmp/base.so" --target "$tmp/slower.so" >"$tmp/out" 2>&1
is "and reported as a loss of GB/s, as the table has them" "$(grep -cE '^warning: .* % less GB/s than the base' "$tmp/out") $(grep -c TFLOP "$tmp/out")" "4 0"

ok "a forward with one wrong element builds" build wrong cpu.c \
	's/^\t((float \*)p->slot\[FW_LAYERNORM_MEAN\])\[row\] = mean;/\tif (row == 2)\n\t\ty[17] = narrow(wide(y[17]) + 0.25f);\n&/'
compare wrong
like "it is found by its index" "$(jq -r '.cells[] | select(.cell == "layernorm/r64/c1000/bf16/forward") | .detail' "$tmp/out.json")" 'Y\[2, 17\] is .*, should be '
is "and forward is not accepted" "$(jq -r '.cells[] | select(.cell | endswith("forward")) | .verdict' "$tmp/out.json" | sort -u)" failed
ok "a backward that forgets a row's share builds" build short cpu.c 's/row < p->a.rows; row += p->parts/row < p->a.rows - 1; row += p->parts/'
compare short
like "its column is named" "$(jq -r '.cells[] | select(.cell == "layernorm/r64/c1000/bf16/backward") | .detail' "$tmp/out.json")" '(dX|dgamma|dbeta)\[[0-9, ]+\] is '
ok "a gamma cached from the first call builds" build stale cpu.c \
	's/^static void forward_row(/static uint16_t kept[4096];\nstatic int has_kept;\n&/; s/^\tfloat sum = 0, squares = 0;$/&\n\tif (!has_kept || p->a.rows < 4)\n\t\tmemcpy(kept, gamma, (size_t)n * 2), has_kept = 1;\n\tgamma = kept;/'
compare stale
like "it is noticed when inputs change" "$(jq -r '.cells[] | select(.cell == "layernorm/r64/c1000/bf16/forward") | .verdict + " " + .detail' "$tmp/out.json")" '^failed .*Y\['
# An unmeasured forward runs twice, on other inputs too, before it is checked.
cp "$tmp/tiny.yaml" "$tmp/both.yaml"
echo 'directions: [backward]' >>"$tmp/tiny.yaml"
compare same
is "a suite of backward alone is unchanged too" "$(verdicts) $(jq -r '[.cells[].detail // empty] | first // empty' "$tmp/out.json")" "4 unchanged "
compare wrong
like "and its forward's wrong element is found" "$(jq -r '.cells[] | select(.cell == "layernorm/r64/c1000/bf16/backward") | .detail' "$tmp/out.json")" 'its forward: Y\[2, 17\] is .*, should be '
mv "$tmp/both.yaml" "$tmp/tiny.yaml"
mkdir -p "$tmp/tree/etc/suites" "$tmp/cache"
cp "$tmp/tiny.yaml" "$tmp/tree/etc/suites/"
cp -r "$tmp/kernels" "$tmp/tree/kernels"
rm -rf "$tmp/tree/kernels/build"
cat >"$tmp/tree/.flopwatch.yaml" <<'YAML'
flopwatch: 1
build: {dir: kernels, command: [make, "DEVICE=cpu", build/cpu/liblayernorm.so], outputs: {layernorm: build/cpu/liblayernorm.so}}
suites: [tiny]
YAML
git init -q "$tmp/tree"
ok "a working tree of it is tried" env XDG_CACHE_HOME="$tmp/cache" "$bin/flopwatch" try "$tmp/tree" --device cpu --cells '*/r64/c1000/*'
is "each time next to its GB/s" "$(grep -cE ' ms +[0-9.e-]+ GB/s$' <<<"$out") $(grep -c TFLOP <<<"$out")" "2 0"
for mistake in 'columns: [40, 1001]' 'rows: [0]' 'rows: [2000000000]'; do
	sed "s/^${mistake%%:*}: .*/$mistake/" "$tmp/tiny.yaml" >"$tmp/bad.yaml"
	fails "$mistake is refused" 2 "$worker" compare --suite "$tmp/bad.yaml" --device sim --base "$tmp/base.so" --target "$tmp/same.so"
	like "in one line with its place" "$out" 'bad.yaml:[0-9]+:[0-9]+: '
done
