#!/bin/bash
# Three repositories with benchmarks of their own on this GPU, without any code for flopwatch: a Triton library, a CUDA C++ library with
# Google Benchmark, and a PyTorch extension with pytest-benchmark and PyTorch's timer. Each is compared with equal commits and with one edit
# at a time (tests/gpu/repositories/TREE.plants).
# Usage: tests/gpu/repositories.sh BUNDLE OUT [TREE]...
#   AA: number of equal commits (3)     PYTHON: one with PyTorch and Triton (python3)     LIMIT_S: later branches are left out
#   EDITS: names of the plants, default all
#   BENCHMARK: folder with include/benchmark/ and lib/libbenchmark.so.1, for a machine without Google Benchmark: installed to /usr where
#   that can be written, as in a container; else cuda_bench gets it as third_party/benchmark, and is timed as whole processes
#   SANDBOX: of the configuration, e.g. {mode: auto, read_only: [/opt/torch]}     DEVICE: cuda (default), or cpu: torch_extension without
#   PyTorch and cuda_bench without nvcc are loops on the host
# OUT gets repositories.txt, a line for each comparison: tree, branch, benchmark, verdict, number of cells and of unchanged ones, mean and
# largest half-width of the intervals, seconds for which the device was held, share of them in timed calls, cells whose verdict is wrong;
# TREE-BRANCH-BENCHMARK.json of each; the manifests that `flopwatch init` writes. Exit status 1: there are wrong cells, or a manifest differs
# from the tree's.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
bundle=$(cd "$1" && pwd) || exit 1
mkdir -p "$2"
out=$(cd "$2" && pwd) || exit 1
shift 2
[ $# -gt 0 ] || set -- triton_ops cuda_bench torch_extension
is_system=
if [ -n "${BENCHMARK:-}" ] && [ -w /usr/include ]; then
	lib=/usr/lib/$(gcc -print-multiarch)
	[ -e /usr/include/benchmark ] || cp -rL "$BENCHMARK/include/benchmark" /usr/include/
	[ -e "$lib/libbenchmark.so" ] || { cp -L "$BENCHMARK/lib/libbenchmark.so.1" "$lib/" && ln -s libbenchmark.so.1 "$lib/libbenchmark.so"; }
	is_system=1
fi
python=${PYTHON:-$(command -v python3)} limit=${LIMIT_S:-86400}
status=0
echo "$(date -u +%F), $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || uname -m)" | tee "$out/repositories.txt"

judge_tree() { # TREE
	local tree=$1 state benchmarks name expect file sed n
	# shellcheck source=tests/gpu/daemon_lib.sh
	. "$root/tests/gpu/daemon_lib.sh"
	set -e
	daemon_prepare "$bundle"
	local from=$root/tests/gpu/repositories/$tree to=$state/tree
	cp -r "$from" "$to"
	find "$to" -name __pycache__ -prune -exec rm -r {} +
	[ "$tree" != cuda_bench ] || [ -z "${BENCHMARK:-}" ] || [ -n "$is_system" ] || { mkdir "$to/third_party" && cp -rL "$BENCHMARK" "$to/third_party/benchmark"; }
	if [ "$tree" = torch_extension ]; then # the benchmarks whose library this machine has
		"$python" -c 'import pytest_benchmark' 2>"$state/said" || rm "$to/benchmarks/test_speed.py"
		"$python" -c 'import torch' 2>"$state/said" || rm "$to/benchmarks/bench_timer.py"
	fi
	if [ "${DEVICE:-cuda}" != cuda ]; then # loops on the host, also where nvcc is installed
		find "$to" \( -name Makefile -o -name setup.py \) -exec sed -i 's/\bnvcc\b/no_nvcc/g' {} +
	fi
	mv "$to/.flopwatch.yaml" "$state/theirs.yaml"
	flopwatch init "$to" >"$out/$tree.init.txt"
	cp "$to/.flopwatch.yaml" "$out/$tree.yaml"
	# the sandbox has only /usr and the folders of its configuration
	sed -i "s|\\bpython3 |$python |; s|\\[python3,|[$python,|" "$to/.flopwatch.yaml"
	benchmarks=$(sed -nE '/^benchmarks:/,$s/^  ([A-Za-z0-9_-]+):.*/\1/p' "$to/.flopwatch.yaml" | paste -sd,)
	shopt -s dotglob
	daemon_repository "$to"/*
	shopt -u dotglob
	daemon_start "$out/$tree.daemon.log" "$benchmarks" "profile: off"
	git push -q origin main
	report_branch "$tree" main none
	while read -r name expect file sed; do
		[[ $name != "#" && " ${EDITS:-$name} " = *" $name "* ]] || continue
		for ((n = 1; n <= $([ "$name" = equal ] && echo "${AA:-3}" || echo 1); n++)); do
			git checkout -q -b "$name$n" main
			sed -i "${sed//@N@/$n}" "$file"
			git commit -q -a -m "$name $n" || { echo "$tree $name: the edit changes nothing"; exit 1; }
			git push -q origin "$name$n"
			report_branch "$tree" "$name$n" "$expect"
		done
	done <"$root/tests/gpu/repositories/$tree.plants"
	[ ! -e "$state/wrong" ]
}
report_branch() { # TREE BRANCH EXPECT: wait, and print its lines
	local left=$((limit - SECONDS))
	if [ $left -lt 1 ] || ! flopwatch wait "$2" --quiet --timeout "$left" >"$state/said" 2>&1 && [ $? = 6 ]; then
		echo "$1 $2: not judged within $limit s" | tee -a "$out/repositories.txt"
		return
	fi
	python3 "$root/tests/gpu/repositories/report.py" "$1" "$2" "$(git rev-parse "$2")" "$3" "$out" | tee -a "$out/repositories.txt"
	[ "${PIPESTATUS[0]}" = 0 ] || touch "$state/wrong"
}
for tree in "$@"; do
	judge_tree "$tree" & # its set -e would have no effect on the left of ||
	wait $! || status=1
done
exit $status
