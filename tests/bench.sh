#!/bin/bash
# Figures of the daemon, one a line: `bench NAME VALUE UNIT`. Real daemon, real database, real pushes, wrk as the load.
set -eu
cd "$(dirname "$0")/.."
export LC_ALL=C.UTF-8 GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=bench GIT_AUTHOR_EMAIL=bench@example.org GIT_COMMITTER_NAME=bench GIT_COMMITTER_EMAIL=bench@example.org
bin=$PWD/build/bin
n=${BENCH_COMPARISONS:-10000}
work=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null || true; wait; rm -rf "$work"' EXIT

make --no-print-directory -s build/tests/bench_seed build/tests/bench_rule build/tests/bench_clock

# ---- the rule on recorded launches
build/tests/bench_rule tests/data/gpu-recorded 1000
build/tests/bench_clock tests/data/gpu/h200-2026-11-21-daemon-samples.jsonl

mkdir -p "$work/state" "$work/cache"

# ---- what storing costs
build/tests/bench_seed "$work/state/flopwatch.db" etc/suites/ffa.yaml "$n" >"$work/seed.txt"
grep '^bench' "$work/seed.txt"
cell=$(awk '/^cell/ { print $2 }' "$work/seed.txt")

# ---- a repository to push to
git init -q --bare -b main "$work/kernels.git"
git init -q -b main "$work/tree"
mkdir -p "$work/tree/kernels"
printf 'all:\n\tmkdir -p build/cpu\n\tcp %s build/cpu/libattention.so\n' "$PWD/build/tests/modules/good.so" >"$work/tree/kernels/Makefile"
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
repos:
  - {name: kernels, url: "$work/kernels.git", upstream: main, branches: [main, "branch-*"], suites: [demo]}
YML
"$bin/flopwatchd" --config "$work/flopwatchd.yml" >"$work/log" 2>&1 &
pid=$!
for _ in $(seq 100); do [ -f "$work/state/port" ] && break; sleep 0.1; done
server="http://127.0.0.1:$(cat "$work/state/port")"
sleep 2

git -C "$work/tree" push -q "$work/kernels.git" HEAD:refs/heads/main
"$bin/flopwatch" --server "$server" wait main --timeout 300 >/dev/null || true

# ---- at rest: twenty seconds of nothing
ticks() { awk '{ print $14 + $15 }' "/proc/$pid/stat"; }
before=$(ticks)
sleep 20
after=$(ticks)
echo "bench daemon.rest_cpu $(python3 -c "print('%.6g' % (100 * ($after - $before) / $(getconf CLK_TCK) / 20))") pct"
echo "bench daemon.rest_resident $(awk '/VmRSS/ { print $2 * 1024 }' "/proc/$pid/status") bytes"

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
	git -C "$work/tree" push -q "$work/kernels.git" "HEAD:refs/heads/objects-$i" # objects travel first, so that only the ref's move is timed
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
load() { # name, path
	wrk -t1 -c16 -d10s --latency "$server$2" >"$work/wrk"
	python3 - "$1" "$work/wrk" <<'PY'
import re, sys
text = open(sys.argv[2]).read()
unit = {"us": 1e-3, "ms": 1.0, "s": 1e3}
if re.search(r"Non-2xx", text):
    sys.exit("wrk saw errors:\n" + text)
for q in ("50", "99"):
    value, u = re.search(q + r"%\s+([\d.]+)(us|ms|s)", text).groups()
    print("bench %s_p%s %.6g ms" % (sys.argv[1], q, float(value) * unit[u]))
print("bench %s_rate %.6g per_s" % (sys.argv[1], float(re.search(r"Requests/sec:\s+([\d.]+)", text).group(1))))
PY
	echo "bench $1_size $(curl -s "$server$2" | wc -c) bytes"
}
load http.comparison "/api/v1/comparisons/$((n / 2))"
load http.page "/comparisons/$((n / 2))"
best=$(for _ in 1 2 3 4 5 6 7; do curl -s -o /dev/null -w '%{time_total}\n' "$server/api/v1/history?repo=kernels&branch=main&limit=10000&cell=$cell"; done | sort -n | sed -n 4p)
echo "bench http.history_10000 $(python3 -c "print('%.6g' % (1000 * $best))") ms"
