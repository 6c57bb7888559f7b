#!/bin/bash
# Grouped products from end to end on the CPU: equal modules are unchanged; kernels that err for a group, or that reuse something of
# an earlier call, are rejected where they err; a push that is slower for one layer is a regression in exactly its cells. Times are
# those of device sim; GROUPED_DEVICE=cpu pushes to a worker that measures the CPU.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
. "$(dirname "$0")/../support/kernels.sh"
worker=$bin/flopwatch-worker
copy_kernels "$tmp/source"
module=build/cpu/libgrouped.so
cat >"$tmp/tiny.yaml" <<'YAML'
suite: tiny
family: grouped
layers:
  - {experts: 6, top_k: 2, tokens: [5], shapes: [[64, 72]]}
  - {experts: 16, top_k: 4, tokens: [90], routing: [skewed], shapes: [[512, 264]]}
  - {sizes: [0, 3, 70, 0, 1], shapes: [[64, 72]]}
seed: 7
YAML
build() { # name, [folder of the sources]
	make -s -C "${2:-$tmp/source}" DEVICE=cpu EXTRA=-O1 "$module" && mv "${2:-$tmp/source}/$module" "$tmp/$1.so"
}
look() { # target, options
	"$worker" compare --suite "$tmp/tiny.yaml" --device sim --base "$tmp/base.so" --target "$tmp/$1.so" --json "${@:2}" >"$tmp/out" 2>"$tmp/err"
}
verdicts() { jq -r '[.cells[] | .verdict] | group_by(.) | map("\(length) \(.[0])") | join(", ")' "$tmp/out"; }
failed() { jq -r '[.cells[] | select(.verdict == "failed") | .cell | split("/") | .[1] + "/" + .[-1]] | join(" ")' "$tmp/out"; }
details() { jq -r '.cells[] | select(.verdict == "failed") | .detail' "$tmp/out"; }
ok "the module for CPUs builds" build base
cp "$tmp/base.so" "$tmp/same.so" && printf x >>"$tmp/same.so" # the same code in another file
look same
is "equal modules are unchanged in every cell" "$(verdicts)" "9 unchanged"
is "speed is in bytes where groups are small" "$(jq -c '[.cells[0, 3, 6].target | has("gb_s")]' "$tmp/out")" "[true,true,true]"

wrong() { # words, sed expression, cells that it fails in, what the details match
	ok "a module that $1 is written" change_kernels "$tmp/source" "$tmp/changed" grouped/cpu.c "$2"
	ok "and builds" build wrong "$tmp/changed"
	look wrong --quick
	is "it is rejected where it errs" "$(failed)" "$3"
	like "with the reason" "$(details | head -1)" "$4"
}
wrong "does not write the gradient of a group without rows" 's/^\tconst struct epilogue epilogue = /\tif (size == 0)\n\t\treturn;\n&/' \
	"sizes/wgrad" 'dW\[[0-9]+, [0-9]+, [0-9]+\] is '
wrong "multiplies the last group by the matrix before its own" 's/matrix = group \* n \* k;/matrix = (group == p->a.groups - 1 \&\& p->direction != FW_WGRAD ? group - 1 : group) * n * k;/' \
	"uniform/forward uniform/dgrad skewed/forward skewed/dgrad sizes/forward sizes/dgrad" 'Y\[[0-9]+, [0-9]+\] is .*, should be '
wrong "takes a row of the next group" 's/(int32_t)(p->offsets\[group + 1\] - begin);/(int32_t)(p->offsets[group + 1] - begin) + (group == 1 \&\& p->direction == FW_WGRAD);/' \
	"uniform/wgrad skewed/wgrad sizes/wgrad" 'dW\[1, [0-9]+, [0-9]+\] is .*, should be '
keep='static const struct fw_plan *of;\n\tconst size_t n = SIZE;\n\tif (of != p)\n\t\tmemcpy(first, p->BUFFER, n * sizeof *first), of = p;\n\tp->BUFFER = first;\n'
reuse() { # buffer, its size, type
	printf 's/^\\tif (!(phases & FW_GROUPED_RUN))$/\\tstatic %s first[1 << 22];\\n\\t%s&/' "$3" "$(sed "s/SIZE/$2/; s/BUFFER/$1/g" <<<"$keep")"
}
wrong "reuses the offsets of its first call" "$(reuse offsets '(size_t)p->a.groups + 1' int32_t)" \
	"uniform/forward uniform/dgrad uniform/wgrad skewed/forward skewed/dgrad skewed/wgrad sizes/forward sizes/dgrad sizes/wgrad" 'with the same groups in another order'
wrong "reuses the matrices of its first call" "$(reuse right '(size_t)(p->direction == FW_WGRAD ? p->a.rows * p->a.k : p->a.groups * p->a.n * p->a.k)' uint16_t)" \
	"uniform/forward uniform/dgrad uniform/wgrad skewed/forward skewed/dgrad skewed/wgrad sizes/forward sizes/dgrad sizes/wgrad" 'on the same plan: '

# ---- a push ----
new_repo kernels
rm -r "$tmp/kernels/kernels" "$tmp/kernels/etc/suites/tiny.yaml"
cp -r "$tmp/source" "$tmp/kernels/kernels"
rm -rf "$tmp/kernels/kernels/build"
cat >"$tmp/kernels/.flopwatch.yaml" <<'YAML'
flopwatch: 1
inputs: [kernels]
build: {dir: kernels, command: [make, "DEVICE={device}", "EXTRA=-O1", "build/{device}/libgrouped.so"], outputs: {grouped: "build/{device}/libgrouped.so"}}
suites: [layers]
YAML
cat >"$tmp/kernels/etc/suites/layers.yaml" <<'YAML'
suite: layers
family: grouped
layers:
  - {experts: 16, top_k: 2, tokens: [64], shapes: [[256, 512]]}
  - {sizes: [0, 96, 1, 0, 17], shapes: [[256, 512]]}
directions: [forward]
threshold_pct: 5
budget_s: 60
YAML
commit kernels "layers of experts"
write_config "workers: [{name: one, command: [flopwatch-worker, serve], device: ${GROUPED_DEVICE:-sim}}]" "repos: [{name: kernels, url: $tmp/kernels.git}]"
start_daemon || exit 1
push kernels main
like "main is measured" "$(result_of "$(head_of kernels)")" '^done '
branch kernels slow main
# groups without rows take time: their matrices are multiplied by rows that nobody has
sed -i 's/const int64_t size = offsets\[g + 1\] - offsets\[g\], /const int64_t size = offsets[g + 1] > offsets[g] ? offsets[g + 1] - offsets[g] : 48, /' "$tmp/kernels/kernels/grouped/plan.h"
sed -i 's/^\tconst int32_t size = (int32_t)(p->offsets\[group + 1\] - begin);/\tint32_t size = (int32_t)(p->offsets[group + 1] - begin);\n\tif (size == 0 \&\& begin >= 96)\n\t\tfor (volatile int i = 0; i < 100000; i++)\n\t\t\tcontinue;/' "$tmp/kernels/kernels/grouped/cpu.c"
commit kernels "visit groups without rows"
push kernels slow
slow=$(head_of kernels)
is "a loss is a regression" "$(result_of "$slow")" "done regression"
api "comparisons/$(job_field "$(job_of "$slow")" comparison)" >"$tmp/json"
like "in exactly the cell that has such groups" "$(jq -r '[.cells[] | select(.verdict == "regression") | .cell] | join(" ")' "$tmp/json")" \
	'^grouped/sizes/e5-[0-9a-f]{8}/m114/k256/n512/bf16/forward$'
is "of two cells" "$(jq '.cells | length' "$tmp/json")" 2
like "the page has a table of such products" "$(curl -s "http://127.0.0.1:$(port)/comparisons/$(job_field "$(job_of "$slow")" comparison)")" '>[Gg]rouped products of few rows'
stop_daemon
