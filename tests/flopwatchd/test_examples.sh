#!/bin/bash
# Each of doc/examples, and the kit's programs, as a user's first repository: init writes its manifest, try runs it, a daemon measures its push.
# Starts early.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
export XDG_CACHE_HOME=$tmp/try-cache
mkdir "$XDG_CACHE_HOME"

example() { # name, files or folders: a checkout of them, with init's manifest
	local name=$1 file
	shift
	git init -q --bare -b main "$tmp/$name.git"
	git init -q -b main "$tmp/$name"
	git -C "$tmp/$name" remote add origin "$tmp/$name.git"
	for file; do cp -r "$file" "$tmp/$name"; done
	ok "init of $name" "$bin/flopwatch" init "$tmp/$name"
	# This tests that a push is measured, not how precisely.
	sed -i 's/^    budget_s: .*/    budget_s: 2/' "$tmp/$name/.flopwatch.yaml"
}
attempt() { # name, device
	body=$("$bin/flopwatch" try --json --device "$2" "$tmp/$1")
	status=$?
}
of() {
	jq -r ".[0] | $1" <<<"$body"
}
says() { # name, key: its value in the manifest
	sed -n "s/^ *$2: //p" "$tmp/$1/.flopwatch.yaml" | sed 's/ #.*//' | paste -sd' '
}
examples=$root/doc/examples

example attention "$examples"/attention/* "$root/kernels/fw_kernel.h" "$root/kernels/fw_attention.h"
sed -i 's/^budget_s: .*/budget_s: 2/' "$tmp/attention/etc/suites/small.yaml"
example cpu "$examples"/cpu/*
example google "$examples"/google-benchmark/*
example kit "$root/tests/interleave/sums.c"
example python "$root/tests/interleave/sums.py"
example kit_google "$root/tests/interleave/sums_google.cc"
sed -i 's/^BENCHMARK(BM_fails);//' "$tmp/kit_google/sums_google.cc" # it fails on purpose
pushed="attention cpu google kit python kit_google"
example hyperfine "$examples"/hyperfine/*
if command -v hyperfine >/dev/null; then
	pushed+=" hyperfine"
else
	skip "hyperfine" "it is not installed"
fi
is "hyperfine's script and its file" "$(says hyperfine command) $(says hyperfine reader) $(says hyperfine outputs)" "[sh, bench.sh] hyperfine [times.json]"

# ---- examples that need a GPU, or missing packages
example cuda "$examples"/cuda/*
is "the CUDA kernel runs by turns" "$(says cuda command) $(says cuda reader)" "[make, build/transpose] [./build/transpose] flopwatch"
if [ -n "$(sed -n 's/^NVCC := //p' "$root/build/cuda.mak")" ]; then
	attempt cuda cpu
	is "nvcc builds it" "$(of .build.state)" ok
	if [ ! -e /proc/driver/nvidia/version ]; then
		like "and try says what it lacks" "$status $(of '.hints | join(" ")')" '^1 there is no GPU on this machine'
	fi
else
	skip "nvcc builds it" "there is no CUDA toolkit that works"
fi
example nvbench "$examples"/nvbench/*
is "nvbench under CMake" "$(says nvbench reader) $(says nvbench outputs)" "nvbench [fill_bench.json]"
example triton "$examples"/triton/*
is "Triton's script as it is" "$(says triton command) $(says triton reader)" "[python3, -m, flopwatch, softmax.py] flopwatch"
example pytorch "$examples"/pytorch/*
is "PyTorch's, too" "$(says pytorch command) $(says pytorch reader)" "[python3, -m, flopwatch, layernorm.py] flopwatch"
example model "$examples"/model/*
is "a model runs by turns" "$(says model command) $(says model reader)" "[python3, model.py] flopwatch"
for file in triton/softmax.py pytorch/layernorm.py model/model.py model/attention.py; do
	ok "$file is Python" python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$tmp/$file"
done

# ---- try, and a push of the same files
for name in $pushed; do
	attempt "$name" cpu
	is "try of $name gives each cell a time" "$status $(of '"\([.cells[].ms > 0] | length > 0 and all) \(.faults)"')" "0 true []"
	commit "$name" "first"
	push "$name" main
done
repos=$(for name in $pushed; do printf '{name: %s, url: %s}, ' "$name" "$tmp/$name.git"; done)
write_config 'workers: [{name: cpu, command: [flopwatch-worker, serve], device: cpu}]' "repos: [${repos%, }]"
start_daemon || exit 1
cells_of() { # commit: the state of its newest job, whether that has cells, and those without a time of the base
	local id
	await job_ended "$1"
	id=$(job_of "$1")
	echo "$(job_field "$id" state) $(api "comparisons/$(job_field "$id" comparison)" |
		jq -r '"\(.cells | length > 0) \([.cells[] | select(.base.median_ms > 0 | not) | "\(.cell) \(.verdict): \(.detail // .reason)"] | join("; "))"')"
}
for name in $pushed; do
	# A busy machine may interrupt each call of a cell in this short time.
	for _ in 1 2 3; do
		result=$(cells_of "$(head_of "$name")")
		[[ $result == "done true "?* ]] || break
		echo "# $name: $result"
		"$bin/flopwatch" --server "http://127.0.0.1:$(port)" retry "$(job_of "$(head_of "$name")")" || break
	done
	is "the daemon measures the push of $name" "$result" "done true "
done
