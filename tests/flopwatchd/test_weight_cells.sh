#!/bin/bash
# Work of linear layers that is done once for their weights is judged, stored, shown and reported next to their products: a commit that takes longer
# to quantise weights is a regression of only that work. The CPU computes, the times are those of device sim.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
fw() {
	"$bin/flopwatch" --server "http://127.0.0.1:$(port)" "$@"
}

new_repo kernels
rm -r "$tmp/kernels/kernels" "$tmp/kernels/etc/suites/tiny.yaml"
mkdir "$tmp/kernels/kernels"
cp -r "$root/kernels/Makefile" "$root"/kernels/fw_*.h "$root/kernels/common" "$root/kernels/linear" "$tmp/kernels/kernels"
cat >"$tmp/kernels/.flopwatch.yaml" <<'YAML'
flopwatch: 1
inputs: [kernels]
build: {dir: kernels, command: [make, "DEVICE={device}", "build/{device}/liblinear.so"], outputs: {linear: "build/{device}/liblinear.so"}}
suites: [weights]
YAML
cat >"$tmp/kernels/etc/suites/weights.yaml" <<'YAML'
suite: weights
family: linear
shapes: [{name: custom, shapes: [[4, 256, 48], [16, 512, 40]]}]
recipes: [baseline, int8wo, float8dq-row]
directions: [forward, once]
seed: 42
threshold_pct: 1.5
budget_s: 60
YAML
git -C "$tmp/kernels" add -A
git -C "$tmp/kernels" commit -q --amend -m "linear layers"
write_config
start_daemon
push kernels main
like "a first commit is measured" "$(result_of "$(head_of kernels)")" "^done (identical|unchanged)$"

sed -i 's/"ISA=%s", isa->name/"ISA=%s SIM_ONCE_FACTOR=1.1", isa->name/' "$tmp/kernels/kernels/linear/cpu/cpu.c"
commit kernels "quantise weights more slowly"
push kernels main
lost=$(head_of kernels)
is "weights that are quantised more slowly are a regression" "$(result_of "$lost")" "done regression"
id=$(job_field "$(job_of "$lost")" comparison)
words() { # JSON of cells: number of cells by verdict and direction
	jq -r '[.cells[] | .verdict + " " + .direction] | group_by(.) | map("\(length) \(.[0])") | join(", ")'
}
is "of what is done once, and of no product" "$(api "comparisons/$id" | words)" "4 regression once, 6 unchanged forward"
is "each with a row of its own" "$(sql "SELECT count(*) || ' ' || count(DISTINCT key) FROM cell WHERE comparison = $id AND direction = 'once'")" "4 4"
is "reported in GB/s" "$(api "comparisons/$id" | jq -r '[.cells[] | select(.direction == "once") | .base.gb_s > 0 and (.flops_useful == null)] | unique | join(" ")')" true
like "the page shows it" "$(http GET "/comparisons/$id")" 'once'
like "so does the command line" "$(fw wait "$lost" 2>&1)" 'once'
like "and the history of one" "$(fw history linear/linear/int8wo/m4/k256/n48/bf16/once 2>&1)" "${lost:0:7}"
alert=$(api alerts | jq -c '.items[0]')
is "phases are those of its time: what is done once is no part of forward, nor a product of it" \
	"$(api "comparisons/$id" | jq -r '[.cells[] | .direction + " " + .phases[].phase] | unique | join(", ")')" \
	"forward quantise_activa, forward run, once quantise_weight"
like "an alert reports it by its name" "$(jq -r .title <<<"$alert")" '^linear once \(quantise_weight\) (up to )?-[0-9.]+ % in 4 cells$'
is "and of it alone" "$(jq -r '[.cells[].cell | split("/") | last] | unique | join(" ")' <<<"$alert")" once
