#!/bin/bash
# Serving from end to end on the CPU: every kind of case is accepted; kernels that err in one of them, or that reuse something of an
# earlier call, are rejected there; a push that is slower in one cell of decoding is a regression in exactly that cell. Times are
# those of device sim; SERVING_DEVICE=cpu pushes to a worker that measures the CPU.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
. "$(dirname "$0")/../support/kernels.sh"
worker=$bin/flopwatch-worker
copy_kernels "$tmp/source"
module=build/cpu/libattention.so
build() { # name, [folder of the sources]
	make -s -C "${2:-$tmp/source}" DEVICE=cpu EXTRA="${EXTRA:-}" "$module" && mv "${2:-$tmp/source}/$module" "$tmp/$1.so"
}
look() { # suite, target
	"$worker" compare --suite "$tmp/$1.yaml" --device sim --base "$tmp/base.so" --target "$tmp/$2.so" --quick --json >"$tmp/out" 2>"$tmp/err"
}
verdicts() { jq -r '[.cells[] | .verdict | if IN("undecided", "unchanged") then "accepted" else . end] | group_by(.) | map("\(length) \(.[0])") | join(", ")' "$tmp/out"; }
failed() { jq -r '[.cells[] | select(.verdict == "failed") | .cell | split("/")[1:4] | join("/")] | join(" ")' "$tmp/out"; }
details() { jq -r '.cells[] | select(.verdict == "failed") | .detail' "$tmp/out"; }
cat >"$tmp/kinds.yaml" <<'YAML'
suite: kinds
family: attention
common: {nhq: 8, nhk: 1, headdim: 64, dtype: bf16}
serving:
  - {queries: [1], keys: [700]}
  - {queries: [3], lengths: [300, 64, 129]}
  - {queries: [4], keys: [300], batch: [2], window: [100]}
  - {queries: [1], keys: [200], batch: [3], page: [16]}
  - {keys: [150], window: [70], page: [24], headdim: 256, nhq: 2, nhk: 2}
  - {lengths: [17, 130, 5]}
directions: [forward]
YAML
EXTRA=-O1
ok "the module for CPUs builds" build base
cp "$tmp/base.so" "$tmp/same.so" && printf x >>"$tmp/same.so" # the same code in another file
look kinds same
is "every kind of case is accepted" "$(verdicts)" "6 accepted"
is "speed of decoding is in bytes, that of a prefill is not" "$(jq -c '[.cells[0, 4].target | has("gb_s")]' "$tmp/out")" "[true,false]"
"$worker" compare --suite "$tmp/kinds.yaml" --device sim --base "$tmp/base.so" --target "$tmp/same.so" --quick >"$tmp/out" 2>&1
like "also in the table" "$(grep '^decoding' "$tmp/out")" 'base GB/s'
like "that of a prefill is not" "$(grep '^prefill' "$tmp/out")" 'base TF/s'
ok "the suite for CPUs is read" "$worker" compare --suite "$root/etc/suites/serving-smoke.yaml" --device sim --base "$tmp/base.so" --target "$tmp/same.so" --quick --cells '*/k512/*'

# ---- a module that knows no window and no pages ----
ok "an older module builds" gcc -std=gnu17 -O1 -fPIC -shared -fvisibility=hidden -I"$root" -o "$tmp/older.so" "$root/tests/modules/good.c" -lm
cp "$tmp/base.so" "$tmp/newer.so"
mv "$tmp/older.so" "$tmp/base.so"
look kinds newer
is "as the base of one that does, its cells are added" "$(jq -r '[.cells[] | select(.verdict == "added") | .cell | split("/")[1:4] | join("/")] | join(" ")' "$tmp/out")" \
	"decode/k300/n2 decode/k200/n3 prefill/k150/n1"
cp "$tmp/base.so" "$tmp/older.so" && printf x >>"$tmp/older.so"
look kinds older
is "if both are older they are unsupported" "$(jq -r '[.cells[] | select(.verdict == "unsupported") | .cell | split("/")[1:4] | join("/")] | join(" ")' "$tmp/out")" \
	"decode/k300/n2 decode/k200/n3 prefill/k150/n1"
like "with the reason" "$(jq -r '.cells[2].detail' "$tmp/out")" 'only masks full, causal, blocks and tokens'
mv "$tmp/newer.so" "$tmp/base.so"

# ---- wrong modules ----
wrong() { # name, file, sed expression, cells that it fails in, what the details match
	ok "a module that $1 is written" change_kernels "$tmp/source" "$tmp/changed" "attention/cpu/$2" "$3"
	ok "and builds" build wrong "$tmp/changed"
	look kinds wrong
	is "it is rejected where it errs" "$(failed)" "$4"
	like "with the reason" "$(details | head -1)" "$5"
}
wrong "ignores the window" forward.c 's/count, item->diagonal, a->window);/count, item->diagonal, 0);/' \
	"decode/k300/n2 prefill/k150/n1" '(O|LSE)\[query [0-9]+, head [0-9]+'
wrong "reads pages in the order of their numbers" cpu.h 's/pages\[token \/ page\] \* page/(token \/ page + 0 * pages[0]) * page/' \
	"decode/k200/n3 prefill/k150/n1" '(O|LSE)\[query [0-9]+, head [0-9]+'
wrong "sees one key too many" lists.c 's/is_causal ? k.end - q.end + 1/is_causal ? k.end - q.end + 2/' \
	"decode/k300-$(jq -r '.cells[].cell' "$tmp/out" | sed -n 's,.*/k300-\([0-9a-f]*\)/.*,\1,p')/n3 decode/k300/n2 prefill/k150/n1 dense/varlen_causal/s152" '(O|LSE)\[query [0-9]+, head [0-9]+'
wrong "reads the rest of a last page" lists.c 's/struct range seen = keys ? q : k;/&\n\t\t\tseen.end += a->page > 0;/; s/is_causal ? k.end - q.end + 1/is_causal ? k.end - q.end + 1 + (a->page ? 1 : 0)/' \
	"decode/k200/n3 prefill/k150/n1" '(O|LSE)\[query [0-9]+, head [0-9]+'
wrong "reuses the table of pages of its first call" cpu.c 's/^static int merge_ranges(struct fw_plan \*p)/static int merge(struct fw_plan *p)/; s/^static int cpu_enqueue(/static int merge_ranges(struct fw_plan *p)\n{\n\tstatic int32_t first[4096];\n\tstatic const struct fw_plan *of;\n\tsize_t n = p->task.a.page ? (size_t)p->task.a.n_seqs * (size_t)page_entries(\&p->task.a) : 0;\n\tif (n \&\& of != p)\n\t\tmemcpy(first, p->task.slot[FW_PAGES].data, n * sizeof *first);\n\tif (n)\n\t\tp->task.slot[FW_PAGES].data = first, of = p;\n\treturn merge(p);\n}\n\n&/' \
	"decode/k200/n3 prefill/k150/n1" 'with another mask, or pages in another order, of the same size on the same plan: '
wrong "reuses the keys of its first call" cpu.c 's/^static int merge_ranges(struct fw_plan \*p)/static int merge(struct fw_plan *p)/; s/^static int cpu_enqueue(/static int merge_ranges(struct fw_plan *p)\n{\n\tstatic uint16_t first[1 << 20];\n\tstatic const struct fw_plan *of;\n\tconst struct fw_attention *a = \&p->task.a;\n\tsize_t n = (size_t)(a->page ? a->n_pages * a->page : a->total_k) * (size_t)a->nhk * (size_t)a->headdim;\n\tif (of != p)\n\t\tmemcpy(first, p->task.slot[FW_K].data, n * sizeof *first);\n\tp->task.slot[FW_K].data = first;\n\tof = p;\n\treturn merge(p);\n}\n\n&/' \
	"$(jq -r '[.cells[].cell | split("/")[1:4] | join("/")] | join(" ")' "$tmp/out" 2>/dev/null)" 'on the same plan: '
EXTRA=
# one query of one sequence has one row of Q, which rolls by elements
wrong "reuses the queries of its first call" cpu.c 's/^static int merge_ranges(struct fw_plan \*p)/static int merge(struct fw_plan *p)/; s/^static int cpu_enqueue(/static int merge_ranges(struct fw_plan *p)\n{\n\tstatic uint16_t first[1 << 20];\n\tstatic const struct fw_plan *of;\n\tconst struct fw_attention *a = \&p->task.a;\n\tsize_t n = (size_t)a->total_q * (size_t)a->nhq * (size_t)a->headdim;\n\tif (of != p)\n\t\tmemcpy(first, p->task.slot[FW_Q].data, n * sizeof *first);\n\tp->task.slot[FW_Q].data = first;\n\tof = p;\n\treturn merge(p);\n}\n\n&/' \
	"$(jq -r '[.cells[].cell | split("/")[1:4] | join("/")] | join(" ")' "$tmp/out" 2>/dev/null)" 'with another Q on the same plan: '

# ---- a push ----
new_repo kernels
rm -r "$tmp/kernels/kernels" "$tmp/kernels/etc/suites/tiny.yaml"
cp -r "$tmp/source" "$tmp/kernels/kernels"
rm -rf "$tmp/kernels/kernels/build"
cat >"$tmp/kernels/.flopwatch.yaml" <<'YAML'
flopwatch: 1
inputs: [kernels]
build: {dir: kernels, command: [make, "DEVICE={device}", "EXTRA=-O1", "build/{device}/libattention.so"], outputs: {attention: "build/{device}/libattention.so"}}
suites: [served]
YAML
cat >"$tmp/kernels/etc/suites/served.yaml" <<'YAML'
suite: served
family: attention
common: {nhq: 8, nhk: 1, headdim: 64, dtype: bf16}
serving:
  - {queries: [1], keys: [2048]}
  - {queries: [1], keys: [2048], page: [16]}
  - {queries: [1], keys: [8192], window: [256]}
directions: [forward]
threshold_pct: 5
decide: {call: ["*/w256/*"]}
budget_s: 60
YAML
commit kernels "serving"
write_config "workers: [{name: one, command: [flopwatch-worker, serve], device: ${SERVING_DEVICE:-sim}}]" "repos: [{name: kernels, url: $tmp/kernels.git}]"
start_daemon || exit 1
push kernels main
main=$(result_of "$(head_of kernels)")
like "main is measured" "$main" '^done '
branch kernels slow main
sed -i 's/if (a->window && !keys && first/if (false \&\& a->window \&\& !keys \&\& first/; s/#include <limits.h>/&\n#include <stdbool.h>/' "$tmp/kernels/kernels/attention/cpu/lists.c"
commit kernels "visit the keys before the window"
push kernels slow
slow=$(head_of kernels)
is "a loss is a regression" "$(result_of "$slow")" "done regression"
api "comparisons/$(job_field "$(job_of "$slow")" comparison)" >"$tmp/json"
is "in exactly the cell that is slower" "$(jq -r '[.cells[] | select(.verdict == "regression") | .cell] | join(" ")' "$tmp/json")" "attention/decode/k8192/n1/q1/w256/hq8/hk1/d64/bf16/forward"
is "which the whole call decides" "$(jq -r '[.cells[] | .series] | join(" ")' "$tmp/json")" "device device call"
is "of three cells" "$(jq '.cells | length' "$tmp/json")" 3
page=$(curl -s "http://127.0.0.1:$(port)/comparisons/$(job_field "$(job_of "$slow")" comparison)")
like "the page has a table of decoding" "$page" '>[Dd]ecoding'
like "in bytes" "$page" 'GB/s'
stop_daemon
