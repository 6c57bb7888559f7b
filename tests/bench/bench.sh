#!/bin/bash
# Benchmarks of the daemon, one result per line: `bench NAME VALUE UNIT`. Real daemon, real database, real pushes, real
# connections.
set -eu
cd "$(dirname "$0")/../.."
export LC_ALL=C.UTF-8 GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=bench GIT_AUTHOR_EMAIL=bench@example.org GIT_COMMITTER_NAME=bench GIT_COMMITTER_EMAIL=bench@example.org
bin=$PWD/build/bin
n=${BENCH_COMPARISONS:-10000}
work=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null || true; wait; rm -rf "$work"' EXIT

make --no-print-directory -s build/tests/bench/bench_seed build/tests/bench/bench_rule build/tests/bench/bench_decide build/tests/bench/bench_cover build/tests/bench/bench_tail build/tests/bench/bench_trend build/tests/bench/bench_load build/tests/bench/bench_page build/tests/modules/good.so build/tests/bench/bench_clock build/tests/bench/bench_flood build/tests/bench/bench_fleet

target() { # name, comparison, bound: the target of a result
	echo "bench $1 target $2 $3"
}

# ---- the rule on recorded runs
samples=tests/data/gpu/h200-2026-11-21-verdicts-samples.jsonl
build/tests/bench/bench_rule tests/data/gpu-recorded "$samples" 1000
build/tests/bench/bench_decide tests/data/gpu-recorded tests/data/gpu
target decide.equal.cells_resampled 165000 count_at_least
target decide.equal.false_regressions 0 count
target decide.equal.false_improvements 0 count
target decide.threshold_0.5.loss.0.00.regression 0 count
target decide.threshold_0.5.loss.0.00.improvement 0 count
target decide.loss.2.02.found 1 of_1
target decide.loss.2.02.runs 6.83 runs
target decide.loss.3.03.runs 4.38 runs
target decide.loss.4.02.runs 2.52 runs
target decide.interleave.speeds_1_separate.loss_2.unchanged_without_a_flag 0 of_1
build/tests/bench/bench_cover tests/data/gpu-recorded tests/data/gpu 20
build/tests/bench/bench_tail tests/data/gpu-recorded "$samples" 600
target tail.every_10th.dense 95 pct_of_cells
target tail.every_10th.sparse 90 pct_of_groups
target tail.false 1 per_10000_cells
build/tests/bench/bench_trend tests/data/gpu-recorded 300
build/tests/bench/bench_clock "$samples"
tests/bench/bench_sustained.py
build/tests/bench/bench_flood
target queue.flood_1000.single_p95 3 job_lengths

# ---- a day of a fleet: time is simulated, decisions and storage are real
build/tests/bench/bench_fleet tests/data/gpu/h200-2026-11-22-losses.jsonl "${BENCH_FLEET:-10000}"

# ---- programs interleaved, and one after the other, on a busy machine
tests/bench/bench_interleave.sh
target interleave.more.called 1 of_1
target interleave.same.called 0 of_1

mkdir -p "$work/state" "$work/cache"

# ---- a push whose build fails
tests/bench/bench_failed_build.sh
target push.failed_build_after_make 5000 ms

# ---- one comparison over two devices
tests/bench/bench_split.sh
target split.ratio 0.6 of_1

# ---- cost of storing
build/tests/bench/bench_seed "$work/state/flopwatch.db" etc/suites/ffa.yaml "$n" >"$work/seed.txt"
grep '^bench' "$work/seed.txt"
cell=$(awk '/^cell/ { print $2 }' "$work/seed.txt")
echo "bench store.comparison $(sqlite3 "$work/state/flopwatch.db" "SELECT sum(pgsize) / $n FROM dbstat") bytes" # with all rows
target store.comparison 60000 bytes

# ---- numbers on pages: our formatting against printf's
build/tests/bench/bench_page "$work/state/flopwatch.db" "$n" "$cell"
target emit.history_gain 1.3 times

# ---- a repository to push to
git init -q --bare -b main "$work/kernels.git"
git init -q -b main "$work/tree"
mkdir -p "$work/tree/kernels"
cp build/tests/modules/good.so "$work/tree/kernels/made.so"
printf 'all:\n\tmkdir -p build/cpu\n\tcp made.so build/cpu/libattention.so\n' >"$work/tree/kernels/Makefile"
echo one >"$work/tree/README"
git -C "$work/tree" add -A
git -C "$work/tree" commit -qm one
cat >"$work/flopwatchd.yml" <<YML
state_dir: $work/state
cache_dir: $work/cache
suites_dir: $PWD/etc/suites
listen: 127.0.0.1:0
sandbox: auto
workers:
  - {name: local, command: ["$bin/flopwatch-worker", serve], device: sim}
  - {name: cpu, command: ["$bin/flopwatch-worker", serve], device: cpu}
cores: {measure: $([ "$(nproc)" -lt 2 ] && echo shared || echo "\"$(($(nproc) / 2))-$(($(nproc) - 1))\"")}
repos:
  - {name: kernels, url: "$work/kernels.git", upstream: main, branches: [main, "branch-*"], suites: [demo]}
YML
"$bin/flopwatchd" --config "$work/flopwatchd.yml" >"$work/log" 2>&1 &
pid=$!
for _ in $(seq 100); do [ -f "$work/state/port" ] && break; sleep 0.1; done
server="http://127.0.0.1:$(cat "$work/state/port")"
sleep 2

git -C "$work/tree" push -q "$work/kernels.git" HEAD:refs/heads/main
"$bin/flopwatch" --server "$server" wait "$(git -C "$work/tree" rev-parse HEAD)" --timeout 300 >/dev/null || true

# ---- how long the device was held in that comparison
newest=$(curl -s "$server/api/v1/comparisons?limit=1" | python3 -c "import sys, json; print(json.load(sys.stdin)['items'][0]['id'])")
curl -s "$server/api/v1/comparisons/$newest" | python3 -c "
import sys, json
c = json.load(sys.stdin)
for step, seconds in (c.get('steps') or {}).items():
    print('bench device.step.%s %.3g pct_of_held' % (step, 100 * seconds / c['gpu_s']))
print('bench device.held %.3g s' % c['gpu_s'])"

# ---- at rest: an idle minute; the share of one core that the daemon and its ended children used
ran_ns() { echo $(($(cut -d' ' -f1 "/proc/$pid/schedstat") + 1000000000 / $(getconf CLK_TCK) * $(awk '{ print $16 + $17 }' "/proc/$pid/stat"))); }
sleep 5
before=$(ran_ns)
sleep 60
after=$(ran_ns)
echo "bench daemon.rest_cpu $(python3 -c "print('%.6g' % (100 * ($after - $before) / 60e9))") pct"
target daemon.rest_cpu 0.1 pct
echo "bench daemon.rest_resident $(awk '/VmRSS/ { print $2 * 1024 }' "/proc/$pid/status") bytes"
target daemon.rest_resident 20000000 bytes

# ---- at rest with each optional part
tests/bench/bench_parts.sh
target parts.off.rest_cpu 0.05 pct
target parts.off.resident 15000000 bytes

# ---- push to queued, and unchanged inputs to identical
field() { curl -s "$server/api/v1/jobs?limit=500" | python3 -c "
import sys, json, datetime
jobs = [j for j in json.load(sys.stdin)['items'] if j['target'] == '$1']
at = lambda t: datetime.datetime.fromisoformat(t.replace('Z', '+00:00')).timestamp() * 1000
print('%.0f' % at(jobs[0]['$2']) if jobs and jobs[0]['$2'] else '')"; }
now_ms() { date +%s%3N; }
queued=() identical=()
for i in $(seq 12); do
	echo "$i" >"$work/tree/README"
	git -C "$work/tree" commit -qam "text $i"
	sha=$(git -C "$work/tree" rev-parse HEAD)
	git -C "$work/tree" push -q "$work/kernels.git" "HEAD:refs/heads/objects-$i" # only the ref's update is timed
	sleep 0.5
	start=$(now_ms)
	git --git-dir "$work/kernels.git" update-ref "refs/heads/branch-$i" "$sha"
	for _ in $(seq 100); do ended=$(field "$sha" ended_at); [ -n "$ended" ] && break; sleep 0.05; done
	[ "$i" -gt 2 ] || continue
	queued+=("$(($(field "$sha" queued_at) - start))")
	identical+=("$((ended - start))")
done
median() { printf '%s\n' "$@" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
echo "bench push.to_queued $(median "${queued[@]}") ms"
echo "bench push.to_identical $(median "${identical[@]}") ms"

# ---- reading with 16 connections
load() { # name, path, header; "{1-9}" in the path is another number in every request
	build/tests/bench/bench_load "$1" "${server##*:}" 16 10 "$2" ${3:+"$3"}
}
json=/api/v1/comparisons/$((n / 2))
load http.comparison "/api/v1/comparisons/{1-$n}"
target http.comparison_p99 1.5 ms
target http.comparison_rate 20000 per_s
load http.comparison_hot "$json"
load http.not_modified "$json" "If-None-Match: $(curl -s -o /dev/null -D - "$server$json" | tr -d '\r' | sed -n 's/^ETag: //p')"
target http.not_modified_rate 50000 per_s
load http.page "/comparisons/{1-$n}"
target http.page_p99 3 ms
target http.page_size 60000 bytes
load http.page_lost "/comparisons/{1-$((n / 10))}0" # the row of a cell with a regression is open
load http.page_hot "/comparisons/$((n / 2))"
load http.first_page /
echo "bench daemon.loaded_resident $(awk '/VmRSS/ { print $2 * 1024 }' "/proc/$pid/status") bytes" # every cache is full
history="/api/v1/history?repo=kernels&branch=main&limit=10000&cell=$cell"
times=$(for key in $(curl -s "$server$json" | grep -oE '"cell":"[^"]+"' | cut -d'"' -f4); do
	for _ in 1 2 3; do curl -s -o /dev/null -w '%{time_total}\n' "$server/api/v1/history?repo=kernels&branch=main&limit=10000&cell=$key"; done
done)
echo "$times" | python3 -c "
import statistics, sys
ms = [1000 * float(line) for line in sys.stdin]
print('bench http.history_10000 %.6g ms' % statistics.median(ms))
print('bench http.history_10000_max %.6g ms' % max(ms))"
target http.history_10000 8 ms
echo "bench http.history_points $(curl -s "$server$history" | grep -o '"comparison":' | wc -l) count"

# ---- the first page with all its requests, modules of its scripts included, with bytes as transferred
first=$(curl -s "$server/" | grep -oE '(src|href)="?/static/[^" >]+' | grep -oE '/static/.*' | sort -u)
modules=$(for asset in $first; do curl -s "$server$asset" | grep -oE 'from "\./[^"]+' | sed 's,.*\./,/static/,'; done)
total=$(curl -s "$server/" | wc -c)
for asset in $first $modules; do total=$((total + $(curl -s "$server$asset" | wc -c))); done
echo "bench http.first_page_total $total bytes"
target http.first_page_total 150000 bytes

# ---- effect of readers on a job: main against itself on this CPU, without readers and with 100 readers of events and 50 browsers
tests/support/crowd.py "$server" --device cpu --cores "$(awk '/^Cpus_allowed_list/ { print $2 }' "/proc/$pid/status")"
target crowd.cells_separate 0 count

# ---- years of data: a database of 50,000 comparisons over 500 days. How long until the daemon answers, and how fast pages
# are then
kill "$pid"
wait "$pid" || true
pid=
rm -rf "$work/state"
mkdir -p "$work/state"
years=${BENCH_YEARS:-50000}
build/tests/bench/bench_seed "$work/state/flopwatch.db" etc/suites/ffa.yaml "$years" 500 >"$work/seed.txt"
echo "bench years.database $(stat -c %s "$work/state/flopwatch.db") bytes"
echo 'keep_samples: 36525 d' >>"$work/flopwatchd.yml" # nothing is archived meanwhile
start=$(now_ms)
"$bin/flopwatchd" --config "$work/flopwatchd.yml" >>"$work/log" 2>&1 &
pid=$!
until [ -f "$work/state/port" ] && curl -sf -o "$work/health" "http://127.0.0.1:$(cat "$work/state/port")/healthz"; do sleep 0.01; done
echo "bench years.start $(($(now_ms) - start)) ms"
target years.start 1000 ms
server="http://127.0.0.1:$(cat "$work/state/port")"
load years.comparison "/api/v1/comparisons/{1-$years}"
target years.comparison_p99 1.5 ms
load years.page "/comparisons/{1-$years}"
target years.page_p99 3 ms
load years.first_page /
target years.first_page_p99 3 ms
for page in branches comparisons jobs alerts devices peers heat help glossary troubleshooting; do
	load "years.page_$page" "/$page"
	target "years.page_${page}_p99" 3 ms
done
cell=$(awk '/^cell/ { print $2 }' "$work/seed.txt")
load years.page_history "/history?repo=kernels&branch=main&cell=$cell"
target years.page_history_p99 3 ms
history="/api/v1/history?repo=kernels&branch=main&limit=10000&cell=$cell"
times=$(for _ in $(seq 20); do curl -s -o /dev/null -w '%{time_total}\n' "$server$history"; done)
echo "$times" | python3 -c "
import statistics, sys
print('bench years.history_10000 %.6g ms' % statistics.median(1000 * float(line) for line in sys.stdin))"
target years.history_10000 8 ms
