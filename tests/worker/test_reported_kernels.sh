#!/bin/bash
# Kernels that a program of Triton reports: from the kit to the comparison, its page, and `flopwatch why`.
# Runs beside three others.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
. "$(dirname "$0")/../support/interleave.sh"
fw() { "$bin/flopwatch" --server "http://127.0.0.1:$(port)" "$@"; }
git init -q --bare -b main "$tmp/tuned.git"
git init -q -b main "$tmp/tuned"
git -C "$tmp/tuned" remote add origin "$tmp/tuned.git"
cp -r "$root/tests/interleave/stand_in/triton" "$tmp/tuned"
{ echo 'import os' && echo 'os.environ["FAKE_TRITON_CHOICE"] = "0"' && cat "$root/tests/interleave/kernels_script.py"; } >"$tmp/tuned/bench.py"
cat >"$tmp/tuned/.flopwatch.yaml" <<'YAML'
flopwatch: 1
benchmarks: {one: {command: [python3, bench.py], reader: flopwatch, gpu: false, threshold_pct: 50, budget_s: 30, pairs: 8}}
YAML
write_config "sandbox: none" "workers: [{name: cpu, command: [flopwatch-worker, serve], device: cpu}]" "repos: [{name: tuned, url: $tmp/tuned.git}]"
start_daemon
on_main tuned first >"$tmp/verdict"
branch tuned chooses main
sed -i 's/CHOICE"] = "0"/CHOICE"] = "1"/' "$tmp/tuned/bench.py"
commit tuned "another choice"
push tuned chooses
in_the_end "$(head_of tuned)" >"$tmp/verdict"
id=$(sql "SELECT $newest")
cell=$(api "comparisons/$id" | jq '.cells[0]')
is "both sides report two kernels" "$(jq -c '[.kernels.base, .kernels.target] | map([.of, (.list | map([.kernel, .config, .num_warps, .registers, .launches]))])' <<<"$cell")" \
	'[[2,[["product","BLOCK=128,num_warps=8,num_stages=3",8,40,1],["scale",null,4,40,2]]],[2,[["product","BLOCK=64,num_warps=4,num_stages=3,maxnreg=96",4,40,1],["scale",null,4,40,2]]]]'
is "the choice is the configuration of each side" "$(jq -c '[.base.configuration, .target.configuration]' <<<"$cell")" \
	'["BLOCK=128,num_warps=8,num_stages=3","BLOCK=64,num_warps=4,num_stages=3,maxnreg=96"]'
is "in each timed process" "$(jq '.kernels | .base.processes == .target.processes and .base.processes > 0 and .base.unlike == 0' <<<"$cell")" true
is "a kernel without an autotuner has the same code" "$(jq '.kernels | .base.list[1].code_sha256 == .target.list[1].code_sha256' <<<"$cell")" true
is "and the tuned one has not" "$(jq '.kernels | .base.list[0].code_sha256 == .target.list[0].code_sha256' <<<"$cell")" false
choice='the autotuner chose BLOCK 64, num_warps 4, maxnreg 96 instead of BLOCK 128, num_warps 8, maxnreg unset in product: its source and configurations are equal on both sides, so equal kernels choose differently'
is "the choice is a cause" "$(jq -r '.kernels.causes[]' <<<"$cell")" "$choice"
page=$(http GET "/comparisons/$id?open=0")
like "which the page of the cell names" "$page" "<li>$choice</li>"
like "with both sides' kernels, as the program reports" "$page" 'Target launched 2 kernels, as the program reports'
like "so does flopwatch why" "$(fw why comparison "$id")" "why, as the program reports: $choice"
is "the verdict ignores them" "$(jq -r '.verdict' <<<"$cell")" unchanged
