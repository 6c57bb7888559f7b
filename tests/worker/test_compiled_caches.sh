#!/bin/bash
# Compiler caches of a benchmark program outlive its job, for the same commit and side only, and without measured choices.
# Runs beside three others.  it asserts a verdict by the clock of this machine
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
. "$(dirname "$0")/../support/interleave.sh"
if ! bwrap --unshare-all --ro-bind / / true 2>/dev/null; then
	skip "compiler caches" "they need the sandbox, where the program's folder has the same path in each job"
	exit
fi
git init -q --bare -b main "$tmp/one.git"
git init -q -b main "$tmp/one"
git -C "$tmp/one" remote add origin "$tmp/one.git"
mkdir -p "$tmp/libraries/torch"
printf "class cuda:\n    is_available = is_initialized = staticmethod(lambda: False)\nclass Tensor:\n    pass\n" >"$tmp/libraries/torch/__init__.py"
write_config "sandbox: {mode: auto, read_only: [$tmp/libraries]}" "workers: [{name: cpu, command: [flopwatch-worker, serve], device: cpu}]" \
	"repos: [{name: one, url: $tmp/one.git}]"
cat >"$tmp/one/.flopwatch.yaml" <<YAML
flopwatch: 1
benchmarks:
  one: {command: [sh, -c, "PYTHONPATH=$tmp/libraries:\$PYTHONPATH exec /usr/bin/python3 bench.py"], reader: flopwatch, gpu: false, fork: true, timeout_s: 60, budget_s: 30}
YAML
# the list has the hash of an output that tells which files existed at the start, so a difference between sides becomes a note
cat >"$tmp/one/bench.py" <<'PY'
import os, time
import flopwatch
import torch
cache = os.path.join(os.environ["TRITON_CACHE_DIR"], "abc")
found = sorted(os.listdir(cache)) if os.path.isdir(cache) else []
os.makedirs(cache, exist_ok=True)
for name in "kernel.cubin", "kernel.autotune.json":
    open(os.path.join(cache, name), "w").close()
for call in flopwatch.cell("a", output=lambda: ",".join(found)):
    with call:
        end = time.perf_counter_ns() + 1e6
        while time.perf_counter_ns() < end:
            pass
PY
differs() { # whether the outputs of the newest comparison differ
	api "comparisons/$(sql "SELECT $newest")" | jq -r '[.notes[]?.text | select(test("the output differs"))] | length'
}
kept() { # files of the worker's cache
	(cd "$tmp/cache/compiled" && find . -path ./\*/python -prune -o -type f -print | sed 's:./[0-9a-f]*/::' | sort | uniq -c | awk '{ print $1, $2 }' | paste -sd';')
}
start_daemon
is "nothing is cached first" "$(on_main one first) $(differs)" "done unchanged 0"
is "the code of each side is cached, its choices are not" "$(kept)" "2 triton/abc/kernel.cubin"
is "and the bytecode of libraries that cannot be written" "$(find "$tmp/cache/compiled" -path '*/python/*/libraries/torch/__init__.*.pyc' | wc -l)" 2
branch one other main
echo "other = 1" >>"$tmp/one/bench.py"
commit one other
push one other
is "a push has its base's cache of the job before" "$(in_the_end "$(head_of one)") $(differs)" "done unchanged 1"
is "and its own is cached" "$(kept)" "3 triton/abc/kernel.cubin"
post "jobs/$(sql "SELECT max(id) FROM job")/retry" >/dev/null
retried() { [ "$(sql "SELECT count(*) FROM job WHERE target_sha = '$(head_of one)' AND state = 'done'")" = 2 ]; }
patience=200 await retried
is "the same push has both" "$(differs)" 0
is "and needs no more" "$(kept)" "3 triton/abc/kernel.cubin"

# ---- caches whose size a program hides from the limit
cat >"$tmp/large.py" <<'PY'
large = os.environ["TRITON_CACHE_DIR"] + "/" + HOW
if not os.path.exists(large):
    folder = large + "/d" * (40 if HOW == "deep" else 1)
    os.makedirs(folder)
    with open(folder + "/file", "wb") as file:
        for _ in range(300):
            file.write(bytes(1 << 20))
    for i in range(20 if HOW == "links" else 0):
        os.link(folder + "/file", f"link-{i}")
PY
for how in deep links; do
	branch one "$how" main
	{ cat "$tmp/large.py"; echo "$how = 1"; } | sed "1i HOW = '$how'" >>"$tmp/one/bench.py"
	commit one "$how"
	push one "$how"
	is "a program writes 300 MiB: $how" "$(in_the_end "$(head_of one)")" "done unchanged"
	is "which are not cached: $how" "$(find "$tmp/cache/compiled" -size +1M)" ""
done
