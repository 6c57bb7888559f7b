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

make --no-print-directory -s build/tests/bench_seed build/tests/bench_rule build/tests/bench_trend build/tests/bench_load build/tests/modules/good.so build/tests/bench_clock

# ---- the rule on recorded launches
build/tests/bench_rule tests/data/gpu-recorded 1000
build/tests/bench_trend tests/data/gpu-recorded 300
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
target() { # name, comparison, bound: beside a figure, what it is meant to be
	echo "bench $1 target $2 $3"
}
load() { # name, path
	local name=$1 path=$2
	wrk -t1 -c16 -d10s --latency "$server$path" >"$work/wrk"
	python3 - "$name" "$work/wrk" <<'PY'
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
	echo "bench ${name}_size $(curl -s "$server$path" | wc -c) bytes"
}
json=/api/v1/comparisons/$((n / 2))
load http.comparison "$json"
target http.comparison_p99 2 ms
target http.comparison_rate 20000 per_s
build/tests/bench_load http.not_modified "${server##*:}" 16 10 "$json" \
	"If-None-Match: $(curl -s -o /dev/null -D - "$server$json" | tr -d '\r' | sed -n 's/^ETag: //p')"
target http.not_modified_rate 50000 per_s
load http.page "/comparisons/$((n / 2))"
target http.page_p99 3 ms
target http.page_size 60000 bytes
history="/api/v1/history?repo=kernels&branch=main&limit=10000&cell=$cell"
best=$(for _ in 1 2 3 4 5 6 7; do curl -s -o /dev/null -w '%{time_total}\n' "$server$history"; done | sort -n | sed -n 4p)
echo "bench http.history_10000 $(python3 -c "print('%.6g' % (1000 * $best))") ms"
target http.history_10000 10 ms
echo "bench http.history_points $(curl -s "$server$history" | grep -o '"comparison":' | wc -l) count"

# ---- the first page with everything that it asks for, as it travels
first=$(curl -s "$server/" | grep -oE '(src|href)="?/static/[^" >]+' | grep -oE '/static/.*' | sort -u)
total=$(curl -s "$server/" | wc -c)
for asset in $first; do total=$((total + $(curl -s "$server$asset" | wc -c))); done
echo "bench http.first_page_total $total bytes"
target http.first_page_total 150000 bytes

# ---- what readers do to a job: main beside itself on this CPU, while nobody looks and before 100 readers of events and 50 clients
measured() { # the cells of one comparison of main with itself: change and interval
	local job
	job=$(curl -s -X POST -H 'Content-Type: application/json' -d '{"repo":"kernels","device":"cpu","runs":1}' "$server/api/v1/calibrate" | grep -oE '[0-9]+' | head -n 1)
	for _ in $(seq 900); do curl -s "$server/api/v1/jobs/$job" | grep -qE '"state":"(done|failed|cancelled)"' && break; sleep 0.2; done
	curl -s "$server/api/v1/comparisons/$(curl -s "$server/api/v1/jobs/$job" | grep -oE '"comparison":[0-9]+' | grep -oE '[0-9]+')" |
		python3 -c "import json, sys; print(json.dumps([[c['change_pct'], c['ci_low_pct'], c['ci_high_pct']] for c in json.load(sys.stdin)['cells']]))"
}
quiet=$(measured)
python3 - "$server" "$work/enough" <<'PY' &
import os, socket, sys, threading, time
host, port = sys.argv[1].removeprefix("http://").split(":")
readers = []
for _ in range(100):
    s = socket.create_connection((host, int(port)))
    s.sendall(f"GET /api/v1/events HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
    s.setblocking(False)
    readers.append(s)
def client(i):
    paths = ["/", "/api/v1/jobs", "/comparisons", "/api/v1/comparisons/%d" % (i + 1), "/alerts"]
    s = socket.create_connection((host, int(port)))
    while not os.path.exists(sys.argv[2]):
        s.sendall(f"GET {paths[i % 5]} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        got = b""
        while b"\r\n\r\n" not in got:
            got += s.recv(65536)
        head, _, body = got.partition(b"\r\n\r\n")
        left = int(next(l for l in head.split(b"\r\n") if l.lower().startswith(b"content-length")).split(b":")[1]) - len(body)
        while left > 0:
            left -= len(s.recv(65536))
        time.sleep(0.1)
clients = [threading.Thread(target=client, args=(i,)) for i in range(50)]
[c.start() for c in clients]
[c.join() for c in clients]
PY
crowd=$!
sleep 2
crowded=$(measured)
touch "$work/enough"
wait "$crowd"
python3 - "$quiet" "$crowded" <<'PY'
import json, sys
quiet, crowded = json.loads(sys.argv[1]), json.loads(sys.argv[2])
timed = [(q, c) for q, c in zip(quiet, crowded) if q[0] is not None and c[0] is not None]
print("bench crowd.cells %d count" % len(timed))
print("bench crowd.cells_apart %d count" % sum(c[1] > q[2] or c[2] < q[1] for q, c in timed))
print("bench crowd.widest_shift %.6g pct" % max([abs(c[0] - q[0]) for q, c in timed] or [0]))
PY
target crowd.cells_apart 0 count
