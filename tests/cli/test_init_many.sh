#!/bin/bash
# flopwatch init in a repository of many benchmarks: the few that it writes, in which order, and how it names the others.
. "$(dirname "$0")/../support/tap.sh"
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
unset VIRTUAL_ENV CONDA_PREFIX
write() { # file: its text is standard input
	mkdir -p "$(dirname "$1")"
	cat >"$1"
}
init() { # its answer in $body, its status in $status
	rm -f .flopwatch.yaml
	body=$("$bin/flopwatch" init --json "$@" 2>"$tmp/errors")
	status=$?
}
names() { # of the benchmarks, in their order
	sed -n '/^benchmarks:/,$ s/^  \([a-z_0-9-]*\):$/\1/p' .flopwatch.yaml | paste -sd' '
}
left() { jq -r '.left_out[] | .file + ": " + .why' <<<"$body"; }
bench() { # name import: a script that times with a function of another file
	write "bench/bench_$1.py" <<<"$2
from timing import measure
if __name__ == \"__main__\":
    measure(print)"
}
mkdir "$tmp/many"
cd "$tmp/many" || exit 1
git init -q -b main .
write bench/timing.py <<<'def measure(fn):
    import triton
    return triton.testing.do_bench(fn)'
for name in quantized_grouped_gemm softmax ssd layer_norm fused_qkv attention_sm90 hopper_gemm rms_norm moe topk sampling; do
	bench "$name" 'import torch'
done
bench rope 'import nowhere_models'
bench gemm 'import nowhere_models, nowhere_serving'
write bench/bench_direct.py <<<'import triton
if __name__ == "__main__":
    triton.testing.do_bench(print)'

# ---- a choice
init
is "short names of well-known kernels first, then short names, and no lack of a framework counts" "$status $(names)" \
	"0 bench_softmax bench_rms_norm bench_layer_norm bench_quantized_grouped_gemm bench_moe bench_ssd bench_topk bench_direct"
is "what this machine cannot run is left out, with the reason, and so is the rest" "$(left)" \
	"bench/bench_rope.py: imports nowhere_models, which this machine does not have
bench/bench_gemm.py: imports nowhere_models, nowhere_serving, which this machine does not have
bench/timing.py: defines functions and runs none of them
bench/bench_sampling.py: is one more like those; flopwatch init --all names it, too
bench/bench_fused_qkv.py: is one more like those; flopwatch init --all names it, too
bench/bench_hopper_gemm.py: is one more like those; flopwatch init --all names it, too
bench/bench_attention_sm90.py: is one more like those; flopwatch init --all names it, too"
is "a comment names the rest" "$(sed -n '/more like these/,/^$/p' .flopwatch.yaml | tail -n +3)" \
	"  # - bench/bench_sampling.py bench/bench_fused_qkv.py bench/bench_hopper_gemm.py bench/bench_attention_sm90.py"
text=$(rm .flopwatch.yaml; "$bin/flopwatch" init)
like "one line of the text, too" "$text" \
	'^  4 more like these are not measured: bench/bench_sampling.py, bench/bench_fused_qkv.py, bench/bench_hopper_gemm.py and others that the file lists; to measure all, remove the file and run flopwatch init --all$'
like "a lack of modules has a next step" "$text" 'virtual environment: .* /opt/bench/bin/python3, and run flopwatch try --read-only /opt/bench$'
like "which names the active environment" "$(rm .flopwatch.yaml; VIRTUAL_ENV=/srv/env "$bin/flopwatch" init)" 'flopwatch try --read-only /srv/env$'

# ---- all of them
init --all
is "all, in the order of few" "$status $(names)" \
	"0 bench_attention_sm90 bench_direct bench_fused_qkv bench_hopper_gemm bench_layer_norm bench_moe bench_quantized_grouped_gemm bench_rms_norm bench_sampling bench_softmax bench_ssd bench_topk bench_rope bench_gemm"
is "with nothing more" "$(grep -c 'more like these' .flopwatch.yaml)" 0
"$bin/flopwatch" try --suite nosuch . >"$tmp/out" 2>&1
is "the manifest can be read" "$? $(grep -c 'there is no suite nosuch' "$tmp/out")" "4 1"
rm bench/bench_{moe,topk}.py
init
is "twelve are few: all are written" "$status $(names | wc -w)" "0 12"

# ---- programs of many sources
mkdir "$tmp/cmake"
cd "$tmp/cmake" || exit 1
git init -q -b main .
write CMakeLists.txt <<<'project(x CXX)'
google='#include <benchmark/benchmark.h>
static void f(benchmark::State &s) { for (auto _ : s) {} }
BENCHMARK(f);'
for n in $(seq 10 22); do
	write "sort_$n.cc" <<<"$google"
	write "find_$n.cc" <<<"$google"
done
printf 'add_executable(sort_bench %s)\nadd_executable(find_bench %s)\n' "$(echo sort_*.cc)" "$(echo find_*.cc)" >>CMakeLists.txt
init
is "two programs are few, whatever their sources" "$status $(names) $(left | wc -l)" "0 find_bench sort_bench 0"
write CMakeLists.txt <<<'project(x CXX)'
for n in $(seq 10 22); do
	echo "add_executable(bench_$n sort_$n.cc find_$n.cc)" >>CMakeLists.txt
done
init
is "of thirteen, eight are built" "$status $(names) $(grep -o -- '--target .*"' .flopwatch.yaml)" \
	"0 bench_10 bench_11 bench_12 bench_13 bench_14 bench_15 bench_16 bench_17 --target bench_10 bench_11 bench_12 bench_13 bench_14 bench_15 bench_16 bench_17\""
is "and each of the others is listed once" "$(left | cut -d: -f1 | paste -sd' ')" "sort_18.cc sort_19.cc sort_20.cc sort_21.cc sort_22.cc"
