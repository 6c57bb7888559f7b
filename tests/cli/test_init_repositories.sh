#!/bin/bash
# flopwatch init in repositories of the usual shapes: what it proposes, in which order, and what it leaves out, with decoys in each.
. "$(dirname "$0")/../support/tap.sh"
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
new() { # an empty checkout, as the current folder
	mkdir -p "$tmp/$1"
	cd "$tmp/$1" || exit 1
	git init -q -b main .
}
write() { # file: its text is standard input
	mkdir -p "$(dirname "$1")"
	cat >"$1"
}
init() { # its answer in $body, its status in $status
	body=$("$bin/flopwatch" init --json "$@" 2>"$tmp/errors")
	status=$?
}
names() { # of the benchmarks, in their order
	sed -n '/^benchmarks:/,$ s/^  \([a-z_0-9-]*\):$/\1/p' .flopwatch.yaml | paste -sd' '
}
value() { # [benchmark] key: its value in the manifest, unchanged
	awk -v name="${2:+$1}" -v key="${2:-$1}" '
		!name { inside = 1 }
		name && $0 ~ "^  [a-z_0-9-]+:$" { inside = $1 == name ":" }
		inside && $1 == key ":" { sub(/^ *[a-z]+: /, ""); sub(/ #.*/, ""); print; exit }' .flopwatch.yaml
}
left() { jq -r '.left_out[] | .file + ": " + .why' <<<"$body"; }
is_valid() { # the manifest's reader accepts it: a suite is only searched after that
	"$bin/flopwatch" try --suite nosuch . >"$tmp/out" 2>&1
	is "the manifest can be read" "$? $(grep -c 'there is no suite nosuch' "$tmp/out")" "4 1"
}

# ---- a library of Triton kernels
new triton
write src/rows/__init__.py </dev/null
write src/rows/layer_norm.py <<<'import triton'
write setup.py <<<'from setuptools import setup
setup(name="rows", extras_require={"dev": ["pytest"], "bench": ["pandas"]})'
write docs/conf.py <<<'project = "rows"'
write benchmark/requirements.txt <<<'pandas'
write docs/requirements.txt <<<'sphinx'
write benchmark/data/all_benchmark_data.csv <<<'kernel_name,x_value,y_value_50
layer_norm,1024,0.5'
write benchmark/benchmarks_visualizer.py <<<'import argparse
import pandas as pd
import matplotlib.pyplot as plt
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kernel-name", type=str, required=True, help="do_bench of triton (all)")
    parser.add_argument(
        "--metric-name",
        required=True,
    )
    parser.add_argument("--overwrite", action="store_true")
if __name__ == "__main__":
    main()'
write benchmark/plot_all.py <<<'import matplotlib.pyplot as plt
plt.plot([1])
plt.show()
draw_all()'
write benchmark/scripts/__init__.py </dev/null
write benchmark/scripts/utils.py <<<'import triton
def _time(fn):
    return triton.testing.do_bench(fn, quantiles=[0.5])
def run_speed(fn):
    return _time(fn)
def describe():
    return "x"'
write benchmark/scripts/shapes.py <<<'SHAPES = [1024]
def shape(i):
    return SHAPES[i]'
write benchmark/scripts/benchmark_layer_norm.py <<<'"""Times layer norm."""
import nowhere_rows_needs
import triton
from rows.layer_norm import norm
from utils import describe
def bench(n):
    return triton.testing.do_bench(lambda: norm(n))
if __name__ == "__main__":
    bench(4096)'
write benchmark/scripts/benchmark_softmax.py <<<'import triton
import triton.testing
@triton.testing.perf_report(
    triton.testing.Benchmark(x_names=["n"], x_vals=[1024], line_arg="p", line_vals=["a"], line_names=["a"], plot_name="s", args={}))
def benchmark(n, p):
    return triton.testing.do_bench(lambda: None)
benchmark.run(print_data=True)'
write benchmark/scripts/benchmark_swiglu.py <<<'from utils import run_speed
if __name__ == "__main__":
    run_speed(print)'
write benchmark/scripts/benchmark_describe.py <<<'from utils import describe  # not the function that times
if __name__ == "__main__":
    describe()'
write benchmark/scripts/benchmark_rope.py <<<'import argparse, triton
OPS = ["forward", "backward"]
parser = argparse.ArgumentParser()
parser.add_argument("--op", required=True, choices=OPS)
parser.add_argument("kind", choices=("neox", "gptj"))
parser.add_argument("--size", type=int, default=1024)
parser.add_argument("files", nargs="*")
if __name__ == "__main__":
    triton.testing.do_bench(parser.parse_args)'
write benchmark/scripts/benchmark_embedding.py <<<'import argparse, triton
parser = argparse.ArgumentParser()
parser.add_argument("--kernel-name", required=True)
if __name__ == "__main__":
    triton.testing.do_bench(parser.parse_args)'
write benchmark/scripts/benchmark_old.py <<<'"""Once used triton.testing.do_bench(fn)."""
import time
# import triton; triton.testing.do_bench(f)
if __name__ == "__main__":
    print(time.perf_counter())'
write benchmark/scripts/benchmark_package.py <<<'import triton
from . import utils
if __name__ == "__main__":
    triton.testing.do_bench(print)'
write test/test_layer_norm.py <<<'import triton
def test_speed():
    assert triton.testing.do_bench(print) < 1
if __name__ == "__main__":
    test_speed()'
write examples/train.py <<<'if __name__ == "__main__":
    print("no timer")'
init
is "benchmark scripts, those that time themselves first, and one that cannot run here last" "$status $(names)" \
	"0 benchmark_softmax benchmark_rope benchmark_swiglu benchmark_layer_norm"
like "with the reason" "$(cat .flopwatch.yaml)" '# It imports a module that is missing on the machine that wrote this file: nowhere_rows_needs.'
is "which holds for that one alone" "$(grep -c 'It imports a module that is missing' .flopwatch.yaml)" 1
is "a script is run by the kit, with its package" "$(value benchmark_layer_norm command)" \
	'[sh, -c, "PYTHONPATH=src:$PYTHONPATH exec python3 -m flopwatch benchmark/scripts/benchmark_layer_norm.py"]'
is "or without one" "$(value benchmark_softmax command)" '[python3, -m, flopwatch, benchmark/scripts/benchmark_softmax.py]'
is "required arguments get their first choices" "$(value benchmark_rope command)" \
	'[python3, -m, flopwatch, benchmark/scripts/benchmark_rope.py, --op, forward, neox]'
like "and a comment has all of them" "$(cat .flopwatch.yaml)" '# --op is one of forward, backward; kind is one of neox, gptj; copy the entry'
is "the others are left out, with reasons" "$(left)" \
	"benchmark/benchmarks_visualizer.py: needs arguments --kernel-name, --metric-name, which have no default
benchmark/plot_all.py: draws results and times nothing
benchmark/scripts/benchmark_describe.py: calls no known timer
benchmark/scripts/benchmark_embedding.py: needs argument --kernel-name, which has no default
benchmark/scripts/benchmark_old.py: measures its times itself and prints them in an unknown format: print JSON lines, or import flopwatch (flopwatch.py: daemon/kit of the sources, share/flopwatch/kit if installed)
benchmark/scripts/benchmark_package.py: imports relative to its package, so it does not run as a script
benchmark/scripts/utils.py: defines functions and runs none of them
test/test_layer_norm.py: is a test"
is "the environment is that of benchmarks" "$(jq -r .environment <<<"$body")" "pip install -r benchmark/requirements.txt '.[bench]'"
like "a module that the sandbox's Python does not have" "$(jq -r '.missing[]' <<<"$body")" \
	'missing here: module nowhere_rows_needs, which .*/python3 cannot import; needed by benchmark_layer_norm$'
like "as text, a line each" "$(rm .flopwatch.yaml; "$bin/flopwatch" init)" \
	'  benchmark/scripts/benchmark_embedding.py: left out: needs argument --kernel-name, which has no default'
is_valid

# ---- a CUDA C++ library
new cuda
write CMakeLists.txt <<<'cmake_minimum_required(VERSION 3.20)
project(scan LANGUAGES CXX CUDA)
option(SCAN_BUILD_BENCHMARKS "Build the benchmarks (slow)" OFF)
option(SCAN_BUILD_TESTS "Build the tests" OFF)
add_subdirectory(benchmarks)'
write benchmarks/CMakeLists.txt <<<'function(ConfigureNVBench NAME)
  add_executable(${NAME} ${ARGN})
  target_link_libraries(${NAME} PRIVATE nvbench::main)
endfunction()
# add_executable(old_bench old.cu)
ConfigureNVBench(SCAN_NVBENCH scan/inclusive.cu scan/exclusive.cu)
set(HOST_SOURCES host.cpp other.cpp)
add_executable(host_bench ${HOST_SOURCES})
target_link_libraries(host_bench benchmark::benchmark_main)
file(GLOB SINGLE single/*.cu)
foreach(source ${SINGLE})
  get_filename_component(name ${source} NAME_WE)
  add_executable(single_${name} ${source})
endforeach()'
nvbench='#include <nvbench/nvbench.cuh>
void f(nvbench::state &s) { }
NVBENCH_BENCH(f);'
google='#include <benchmark/benchmark.h>
static void f(benchmark::State &s) { for (auto _ : s) {} }
BENCHMARK(f);'
write benchmarks/scan/inclusive.cu <<<"$nvbench"
write benchmarks/scan/exclusive.cu <<<"$nvbench"
write benchmarks/old.cu <<<"$nvbench"
write benchmarks/host.cpp <<<"$google"
write benchmarks/other.cpp <<<"$google"
write benchmarks/single/sort.cu <<<"$nvbench"
write include/scan.cuh <<<'template <class T> void scan(T *);'
write third_party/benchmark/bench.cc <<<"$google"
write tests/scan_test.cu <<<'// #include <nvbench/nvbench.cuh> and NVBENCH_BENCH(f) are in benchmarks
/* #include <benchmark/benchmark.h>
   BENCHMARK(f); */
int main() { return 0; }'
write tests/CMakeLists.txt <<<'add_executable(scan_test scan_test.cu)'
init
is "each program once" "$status $(names)" "0 host_bench scan_nvbench single_sort"
is "a target of add_executable, by a variable" "$(value host_bench command)" \
	'[./build/benchmarks/host_bench, --benchmark_out=host_bench.json, --benchmark_out_format=json]'
is "a target of a function of the project" "$(value scan_nvbench command)" '[./build/benchmarks/SCAN_NVBENCH, --json, scan_nvbench.json]'
is "a target of a loop" "$(value single_sort command)" '[./build/benchmarks/single_sort, --json, single_sort.json]'
is "their readers" "$(value host_bench reader) $(value single_sort reader)" 'google-benchmark nvbench'
is "are built by one command, with the option that enables them" "$(value command)" \
	'[sh, -c, "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DSCAN_BUILD_BENCHMARKS=ON && cmake --build build --parallel 2 --target host_bench SCAN_NVBENCH single_sort"]'
is "a source without a target is left out" "$(left)" \
	"benchmarks/old.cu: includes nvbench, but the scan found no build for it, or the build conflicts with the others; write it in build.command"
is_valid

# ---- a PyTorch extension
new extension
write setup.py <<<'from torch.utils.cpp_extension import BuildExtension, CUDAExtension
setup(ext_modules=[CUDAExtension("fused_C", ["csrc/fused.cu"])], cmdclass={"build_ext": BuildExtension})'
write pyproject.toml <<<'[build-system]
requires = ["setuptools", "torch"]
[project]
name = "fused"
[project.optional-dependencies]
docs = ["sphinx"]
perf = ["pytest", "pytest-benchmark"]
[tool.black]
bench = 1'
write uv.lock <<<'version = 1'
write csrc/fused.cu <<<'__global__ void f() { }'
write fused/__init__.py <<<'import fused_C'
write benchmarks/bench_attention.py <<<'import torch
import fused
from torch.utils import benchmark
def run(n):
    return benchmark.Timer(stmt="f(n)", globals={"f": fused.f, "n": n}).blocked_autorange()
for n in [1024, 4096]:
    run(n)'
write benchmarks/conftest.py <<<'import pytest'
write tests/test_speed.py <<<'import pytest
import fused
@pytest.mark.parametrize("n", [16, 32])
def test_speed(benchmark, n):
    benchmark(fused.f, n)'
write tests/test_values.py <<<'def test_values():
    """Has no benchmark(f)."""
    assert True'
write tests/own/conftest.py <<<'import pytest
@pytest.fixture
def benchmark():
    return print'
write tests/own/test_own.py <<<'def test_own(benchmark):
    benchmark(1)'
write tests/test_pairs.py <<<'import pytest
@pytest.mark.parametrize("benchmark", ["a", "b"])
def test_pair(benchmark):
    assert benchmark'
init
is "a script and tests with the fixture" "$status $(names)" "0 bench_attention test_speed"
is "a test writes a file" "$(value test_speed command) $(value test_speed reader) $(value test_speed outputs)" \
	'[python3, -m, pytest, -p, flopwatch, tests/test_speed.py, --benchmark-only, --benchmark-json=test_speed.json] pytest-benchmark [test_speed.json]'
is "a script in a folder gets the package of the root" "$(value bench_attention command)" \
	'[sh, -c, "PYTHONPATH=.:$PYTHONPATH exec python3 -m flopwatch benchmarks/bench_attention.py"]'
is "the extension is built" "$(value command)" '[python3, setup.py, build_ext, --inplace]'
is "the extra and the lock file" "$(jq -r .environment <<<"$body")" "pip install '.[perf]'; uv.lock pins the versions"
is "nothing is similar to a benchmark and left out" "$(left)" ""
is_valid

# ---- a repository without any benchmark
new none
write README.md <<<'Run do_bench() yourself.'
write CMakeLists.txt <<<'project(x CUDA)
add_library(x src/x.cu)'
write src/x.cu <<<'#include "x.h" // NVBENCH_BENCH(f) is elsewhere
__global__ void x() { }'
write setup.py <<<'setup(name="x")'
write docs/conf.py <<<'import sys
main()'
write tests/test_x.py <<<'def test_x(bench):
    pass'
write benchmarks/README.md <<<'None yet.'
write rust/Cargo.toml <<<'[dev-dependencies]
criterion = "0.5"'
write benchmarks/compare.py <<<'import sys
import matplotlib.pyplot
print(open(sys.argv[1]).read())'
init
is "nothing is proposed" "$status $(test -e .flopwatch.yaml; echo $?)" "4 1"
like "and a similar file is named" "$(cat "$tmp/errors")" \
	'flopwatch: benchmarks/compare.py: left out: needs argument sys.argv\[1\], which has no default'
like "so is a benchmark of Rust" "$(cat "$tmp/errors")" 'rust/Cargo.toml: left out: uses Criterion. .* with reader: criterion$'
is "and nothing else" "$(wc -l <"$tmp/errors")" 3

# ---- tools that build or run their benchmarks themselves
new tools
write asv.conf.json <<<'{"version": 1, "benchmark_dir": "benchmarks"}'
write benchmarks/bench.py <<<'class Sorts:
    def time_sort(self):
        sorted(range(100))'
write java/pom.xml <<<'<artifactId>jmh-core</artifactId>'
write other/pom.xml <<<'<artifactId>junit</artifactId>'
init
is "nothing is proposed for them" "$status" 4
like "asv runs by itself" "$(cat "$tmp/errors")" 'asv.conf.json: left out: is of asv, .* flopwatch import --history its past$'
like "JMH needs a build" "$(cat "$tmp/errors")" 'java/pom.xml: left out: uses JMH: .* with reader: jmh$'
is "and no other file is named" "$(grep -c 'left out' "$tmp/errors")" 2

# ---- programs that take times themselves
new own
write gemm.cu <<<'#include <cuda_runtime.h>
int main() { float ms; cudaEventElapsedTime(&ms, a, b); printf("%f ms\n", ms); }'
write bench/copy.cpp <<<'#include <chrono>
int main(int argc, char **argv) { auto t = std::chrono::steady_clock::now(); }'
write src/server.cpp <<<'#include <chrono>
int main() { auto t = std::chrono::steady_clock::now(); }'
write src/events.cu <<<'float stop() { float ms; cudaEventElapsedTime(&ms, a, b); return ms; }'
init
is "are left out, not passed over" "$status $(grep -o '[^ ]*: left out: measures its times itself' "$tmp/errors" | sort | paste -sd' ')" \
	"4 bench/copy.cpp: left out: measures its times itself gemm.cu: left out: measures its times itself"
like "with what they can do" "$(cat "$tmp/errors")" 'gemm.cu: .*print JSON lines, or mark its calls with flopwatch.h'

# ---- a library of C++ that tests and measures with Catch2
new catch2
write CMakeLists.txt <<<'cmake_minimum_required(VERSION 3.20)
project(sums CXX)
find_package(Catch2 3 REQUIRED)
add_executable(tests tests/sum.cpp)
target_link_libraries(tests PRIVATE Catch2::Catch2WithMain)
add_executable(speed bench/speed.cpp)
target_link_libraries(speed PRIVATE Catch2::Catch2WithMain)'
write tests/sum.cpp <<<'#include <catch2/catch_test_macros.hpp>
TEST_CASE("sum") { REQUIRE(1 + 1 == 2); }'
write bench/speed.cpp <<<'#include <catch2/benchmark/catch_benchmark.hpp>
#include <catch2/catch_test_macros.hpp>
TEST_CASE("speed", "[!benchmark]") { BENCHMARK("sum") { return 1 + 1; }; }'
init
is "the program with benchmarks is proposed" "$status $(names)" "0 speed"
is "with the tag that Catch2 hides" "$(value speed command) $(value speed reader)" '[./build/speed, "[!benchmark]"] catch2'
is_valid
rm CMakeLists.txt .flopwatch.yaml
init
like "a compiler builds it alone, with Catch2's libraries" "$(value command)" 'g\+\+, -O3, .* -lCatch2Main, -lCatch2'

# ---- a proposal as a whole, with a replacement of Triton in the repository
new runs
cp -r "$root/tests/interleave/stand_in/triton" .
write benchmark/timing.py <<<'import triton
def measure(fn):
    return triton.testing.do_bench(fn)'
write benchmark/benchmark_sum.py <<<'import argparse
import dataclasses
import time
from timing import measure
@dataclasses.dataclass
class Case:
    n: int
    provider: str
def speed(case):
    return measure(lambda: time.sleep(case.n * 1e-6))
parser = argparse.ArgumentParser()
parser.add_argument("--mode", choices=["forward", "full"], required=True)
if __name__ == "__main__":
    assert parser.parse_args().mode == "forward"
    for n in [64, 128]:
        speed(Case(n, "ours"))'
init
is "a script that times in another file" "$status $(names)" "0 benchmark_sum"
export XDG_CACHE_HOME=$tmp/cache
mkdir "$XDG_CACHE_HOME"
is "try runs it as it is written" "$("$bin/flopwatch" try --device cpu --json --quiet 2>&1 | jq -r '[.[0].cells[] | .cell, (.ms > 0)] | map(tostring) | join(" ")')" \
	"speed/n=64/provider=ours true speed/n=128/provider=ours true"

# ---- many benchmarks
new many
for i in $(seq 70); do
	write "bench/bench_$i.py" <<<'import triton
triton.testing.do_bench(print)'
done
init --all
is "as many as a manifest names" "$status $(names | wc -w) $(left | wc -l)" "0 64 6"
like "the others are left out" "$(left)" 'bench/bench_9.py: times with triton.testing, .*; a manifest names at most 64 benchmarks'
is_valid
before=$(cksum .flopwatch.yaml)
init --all
is "a second time nothing is written" "$status $(cksum .flopwatch.yaml)" "1 $before"
