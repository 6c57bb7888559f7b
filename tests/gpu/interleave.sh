#!/bin/bash
# Interleaved programs on a GPU: the daemon's verdicts on equal ones, on one with 2 % more work in one cell, on a Triton kernel
# with other stages through an unchanged script (and the pairs of one process for comparison), and on a PyTorch module.
# Usage: tests/gpu/interleave.sh BUNDLE OUT [PART...]       parts: gemm triton torch; all of them
#   OUT gets interleave.jsonl (results, one per line), interleave.txt (the command's output), in_process.jsonl, daemon.log,
#   interleave.db (every timed call). The parts are independent: one that fails, or exceeds its time, does not affect the others.
#   It needs nvcc for gemm, and python3 with PyTorch and Triton for the other two; PYTHON=path of it. LIMIT=seconds for all (500):
#   no part begins after that.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/gpu/daemon_lib.sh"
daemon_prepare "$1"
mkdir -p "$2"
out=$(cd "$2" && pwd)
shift 2
parts=${*:-gemm triton torch}
python=${PYTHON:-$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null || echo python3)}
programs=$root/tests/gpu/interleave limit=${LIMIT:-500}
: >"$out/interleave.txt"
: >"$out/interleave.jsonl"
say() { echo "$*" | tee -a "$out/interleave.txt"; }

# pairs=N NAME COMMAND...: the benchmark of a repository of that name, with the files of its folder
repository() {
	local name=$1
	shift
	mkdir -p "$state/work/$name"
	git init -q --bare -b main "$state/$name.git"
	git init -q -b main "$state/work/$name"
	git -C "$state/work/$name" remote add origin "$state/$name.git"
	printf 'flopwatch: 1\nbenchmarks:\n  %s: {command: [%s], reader: flopwatch, timeout_s: 120, budget_s: 220, pairs: %d}\n' "$name" "$(IFS=,; echo "$*")" "$pairs" \
		>"$state/work/$name/.flopwatch.yaml"
}
# NAME BRANCH FILE TEXT [SECONDS]: a branch from main with one file changed; its verdict is added to the results
push() {
	local at=$state/work/$1 began=$SECONDS sha
	if [ $SECONDS -ge "$limit" ]; then
		say "$1 $2: not begun, $SECONDS s are over"
		return 1
	fi
	git -C "$at" checkout -q -B "$2" main 2>/dev/null || git -C "$at" checkout -q -B "$2"
	printf '%s\n' "$4" >"$at/$3"
	git -C "$at" add -A
	git -C "$at" commit -q -m "$2"
	git -C "$at" push -q origin "$2" || return 1
	sha=$(git -C "$at" rev-parse HEAD)
	flopwatch wait "$sha" --repo "$1" --long --quiet --timeout "${5:-150}" >>"$out/interleave.txt" 2>&1
	say "$1 $2: exit $? after $((SECONDS - began)) s"
	flopwatch wait "$sha" --repo "$1" --long --quiet --timeout 1 --json >"$state/comparison.json" 2>>"$out/interleave.txt"
	"$programs/figures.py" "$state/comparison.json" "$state/state/flopwatch.db" "$1/$2" >>"$out/interleave.jsonl" || say "$1 $2: no figures"
}

gemm() {
	nvcc -O3 -std=c++17 -arch=native -I "$bundle/share/kit" -o "$state/work/gemm/gemm" "$programs/gemm.cu" || return 1
	"$state/work/gemm/gemm" >/dev/null 2>"$state/table" || { cat "$state/table"; return 1; }
	say "$(cat "$state/table")"
	push gemm main extra "none 0" 90
	for i in 1 2 3 4 5; do push gemm "equal-$i" note "$i" 90; done
	push gemm more extra "gemm/4096x5120x4096 0.02"
}
triton() {
	cp "$programs"/{kernels,triton_bench,in_process}.py "$state/work/triton/"
	push triton main stages.py "MATMUL, SOFTMAX = 3, 2"
	push triton stages stages.py "MATMUL, SOFTMAX = 4, 3" 270
	for change in "matmul 3 4" "softmax 2 3"; do
		(cd "$state/work/triton" && PYTHONPATH=$bundle/share/kit timeout 90 "$python" in_process.py $change) >>"$out/in_process.jsonl" 2>>"$out/in_process.txt"
	done
	"$programs/figures.py" --beside "$out/in_process.jsonl" "$out/interleave.jsonl" | tee -a "$out/interleave.txt"
}
torch() {
	cp "$programs/module.py" "$state/work/torch/"
	push torch main extra.py "EXTRA = 0"
	push torch harmless note "another comment"
	push torch more extra.py "EXTRA = 1"
}

pairs=240 repository gemm ./gemm
pairs=120 repository triton "$python" -m flopwatch triton_bench.py
pairs=60 repository torch "$python" module.py
cat >"$state/c.yml" <<YML
state_dir: $state/state
cache_dir: $state/cache
suites_dir: $bundle/share/suites
listen: 127.0.0.1:0
sandbox: ${SANDBOX:-none}
workers: [{name: gpu, command: ["$bundle/bin/flopwatch-worker", serve], device: ${DEVICE:-cuda}}]
repos:
$(for name in gemm triton torch; do printf '  - {name: %s, url: "%s", upstream: main, branches: ["*"]}\n' "$name" "$state/$name.git"; done)
YML
mkdir -p "$state/state" "$state/cache"
flopwatchd --config "$state/c.yml" >"$out/daemon.log" 2>&1 &
daemon_pid=$!
for _ in $(seq 100); do
	FLOPWATCH_SERVER=$(sed -n 's/^listening on //p' "$out/daemon.log")
	[ -z "$FLOPWATCH_SERVER" ] || break
	sleep 0.1
done
export FLOPWATCH_SERVER
for part in $parts; do
	say "== $part, after $SECONDS s"
	"$part" || say "$part: failed"
done
say "== end, after $SECONDS s"
flopwatch backup "$out/interleave.db" || true
"$programs/figures.py" --sum "$out/interleave.jsonl" | tee -a "$out/interleave.txt"
