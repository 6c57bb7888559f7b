#!/bin/bash
# Primed calls on a GPU: host-bound calls of Triton and PyTorch in three processes, each call plain and primed: medians, interquartile
# ranges, the host's time, late calls, the largest difference between processes, and the same calls by CUPTI.
# Usage: tests/gpu/prime.sh OUT        OUT gets prime.txt, the table, and N.jsonl of each process
#   It needs python3 with PyTorch and Triton; PYTHON=path of it. LIMIT=seconds for all (110).
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
python=${PYTHON:-python3} limit=${LIMIT:-110}
export PYTHONPATH=$root/daemon/kit PYTHONDONTWRITEBYTECODE=1 TRITON_CACHE_DIR=$out/triton
rm -f "$out"/*.jsonl "$out"/*.log
for n in 1 2 3; do
	profile=
	[ $n = 1 ] && profile=profile
	[ $SECONDS -lt "$limit" ] || break
	# shellcheck disable=SC2086
	timeout $((limit - SECONDS)) "$python" "$root/tests/gpu/interleave/prime.py" "$out/$n.jsonl" $profile >"$out/$n.log" 2>&1 ||
		echo "process $n ended with $?: $(tail -n 1 "$out/$n.log")" >>"$out/errors.log"
done
rm -rf "$TRITON_CACHE_DIR"
"$python" - "$out"/*.jsonl <<'PY' | tee "$out/prime.txt"
import json
import statistics
import sys

rows = {}
for path in sys.argv[1:]:
    for line in open(path):
        row = json.loads(line)
        rows.setdefault(row["cell"], {}).setdefault(row["way"], []).append(row)


def figures(found):
    """Median of the medians in us, mean interquartile range in %, largest difference between processes in %."""
    medians = [statistics.median(row["ms"]) for row in found if "ms" in row]
    if not medians:
        return found[0].get("error", "no times")
    quarters = [statistics.quantiles(row["ms"], n=4) for row in found if "ms" in row]
    spread = statistics.mean(100 * (q[2] - q[0]) / q[1] for q in quarters)
    return "%9.2f %7.2f %8.2f" % (1e3 * statistics.median(medians), spread, 100 * (max(medians) / min(medians) - 1))


print("%d processes; us: median, interquartile range in %%, largest difference between processes in %%" % len(sys.argv[1:]))
print("recorded: primed calls in one process while CUPTI records them: median by the kit's events, by CUPTI from the first kernel's start to the last one's end")
print("%-22s %26s  %26s %8s %9s %7s %26s" % ("cell", "plain", "primed", "host", "late/of", "primed", "recorded"))
for cell, ways in rows.items():
    primed = ways.get("primed", [])
    timed = [row for row in primed if "ms" in row]
    late = "%d/%d" % (sum(row["late"] for row in timed), sum(row["late"] + len(row["ms"]) for row in timed))
    host = "%8.1f" % statistics.median(row["host_us"] for row in timed) if timed else "-"
    recorded = "-"
    for row in ways.get("recorded", []):
        if "ms" in row and row["spans_us"]:
            events, spans = 1e3 * statistics.median(row["ms"]), statistics.median(row["spans_us"])
            recorded = "%8.2f %8.2f %+6.2f %%" % (events, spans, 100 * (events / spans - 1))
    print("%-22s %26s  %26s %8s %9s %7s %26s" % (cell, figures(ways["plain"]), figures(primed) if primed else "-", host, late,
        "/".join("yes" if row["primed"] else "no" for row in timed[:1]), recorded))
PY
cat "$out/errors.log" 2>/dev/null
[ ! -s "$out/errors.log" ]
