#!/bin/bash
# The whole daemon on a GPU: a repository made from kernels/, a push whose forward kernel is really slower by a few percent, a
# harmless push, both judged over suite ffa. Needs no installation: programs come from the bundle (`make bundle`).
# Usage: tests/gpu/daemon.sh BUNDLE OUT [SUITE] [NEEDLESS]
#   OUT gets <device>-<date>-daemon.jsonl (figures, one a line), the comparisons as the API serves them, the tables that a
#   person sees, and the database with every timed call.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
bundle=$(cd "$1" && pwd) out=$2 suite=${3:-ffa} needless=${4:-8}
export LC_ALL=C.UTF-8 PATH=$bundle/bin:/usr/local/cuda/bin:$PATH GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=gpu GIT_AUTHOR_EMAIL=gpu@example.org GIT_COMMITTER_NAME=gpu GIT_COMMITTER_EMAIL=gpu@example.org
mkdir -p "$out"
state=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null || true; wait; rm -rf "$state"' EXIT

git init -q --bare -b main "$state/kernels.git"
git init -q -b main "$state/work"
cp -r "$bundle/kernels" "$state/work/"
cd "$state/work"
git add -A
git commit -q -m "kernels as they are"
git remote add origin "$state/kernels.git"
mkdir -p "$state/state" "$state/cache"
cat >"$state/c.yml" <<YML
state_dir: $state/state
cache_dir: $state/cache
suites_dir: $bundle/share/suites
listen: 127.0.0.1:0
sandbox: auto
workers:
  - {name: gpu, command: ["$bundle/bin/flopwatch-worker", serve], device: cuda}
repos:
  - {name: kernels, url: "$state/kernels.git", upstream: main, suites: [$suite]}
YML
flopwatchd --config "$state/c.yml" >"$out/daemon.log" 2>&1 &
pid=$!
for _ in $(seq 100); do
	FLOPWATCH_SERVER=$(sed -n 's/^listening on //p' "$out/daemon.log")
	[ -z "$FLOPWATCH_SERVER" ] || break
	sleep 0.1
done
export FLOPWATCH_SERVER
[ -n "$FLOPWATCH_SERVER" ]

judge() { # branch, file
	local status=0
	flopwatch wait "$1" --quiet --timeout 1500 >"$out/$2.txt" || status=$?
	flopwatch wait "$1" --quiet --json >"$out/$2.json" || true
	echo "$1: exit $status"
	cat "$out/$2.txt"
}
git push -q origin main
judge main selfcheck
git checkout -q -b slower
"$root/etc/demo-slower.sh" "$state/work" cuda "$needless"
git commit -q -a -m "attention: needless products in forward"
git checkout -q -b harmless main
# another text in the module: other bytes, so that it is timed, and the same kernels
sed -i 's/\.build = "/.build = "harmless, /' kernels/attention/module.c
git diff --quiet && { echo "the harmless branch changes nothing"; exit 1; }
git commit -q -a -m "attention: a module says who it is"
git push -q origin slower harmless
judge slower slower
judge harmless harmless
flopwatch alerts | tee "$out/alerts.txt"
flopwatch backup "$out/flopwatch.db"
flopwatch devices

python3 - "$out" "$(git -C "$root" rev-parse --verify -q HEAD 2>/dev/null || echo unknown)" <<'PY'
import datetime, json, sqlite3, struct, sys
out, commit = sys.argv[1:]
now = datetime.datetime.now(datetime.timezone.utc)
lines, device = [], None
for name in ("selfcheck", "slower", "harmless"):
    body = json.load(open(f"{out}/{name}.json"))
    env = body.get("environment") or {}
    device = env.get("name") or "gpu"
    def line(bench, value, unit, cell=None):
        if value is not None:
            lines.append({"bench": f"daemon.{name}.{bench}", "peer": None, "value": value, "unit": unit, "cell": cell, "device": device,
                          "driver": env.get("driver"), "toolkit": env.get("toolkit"), "commit": commit, "at": now.isoformat(timespec="seconds")})
    line("gpu", body["gpu_s"], "s")
    line("wall", body.get("wall_s"), "s")
    line("launches", body["launches"], "count")
    for cell in body["cells"]:
        line("base_median", cell["base"]["median_ms"], "ms", cell["cell"])
        line("target_median", cell["target"]["median_ms"], "ms", cell["cell"])
        line("target_tflops", cell["target"]["tflops"], "tflops", cell["cell"])
        line("change", cell["change_pct"], "pct", cell["cell"])
        line("ci_low", cell["ci_low_pct"], "pct", cell["cell"])
        line("ci_high", cell["ci_high_pct"], "pct", cell["cell"])
slug = "".join(c if c.isalnum() else "-" for c in str(device).lower()).strip("-") or "gpu"
with open(f"{out}/{slug}-{now:%Y-%m-%d}-daemon.jsonl", "w") as f:
    for l in lines:
        f.write(json.dumps(l) + "\n")
        if l["cell"] is None:
            print("bench", l["bench"], "%.6g" % l["value"], l["unit"])

# every timed call of the series that decides
with sqlite3.connect(f"{out}/flopwatch.db") as db, open(f"{out}/{slug}-{now:%Y-%m-%d}-daemon-samples.jsonl", "w") as f:
    floats = lambda blob: None if blob is None else [float("%.6g" % v) for v in struct.unpack("<%df" % (len(blob) // 4), blob)]
    for name, launch, set_, cell, subject, order, ms, mhz, guard in db.execute(
            "SELECT iif(c.kind = 'selfcheck', 'selfcheck', c.branch), l.n, l.set_, e.key, s.subject, s.order_, s.ms, s.mhz, s.guard FROM sample s "
            "JOIN launch l ON l.id = s.launch JOIN cell e ON e.id = s.cell JOIN comparison c ON c.id = l.comparison "
            "WHERE s.series = 'device' ORDER BY c.id, l.n, e.n, s.subject"):
        row = {"comparison": name, "launch": launch, "set": set_, "cell": cell, "subject": subject, "order": order or None,
               "ms": floats(ms), "mhz": floats(mhz)}
        if subject == "target":
            row["guard"] = json.loads(guard) if guard else None
        f.write(json.dumps(row, separators=(",", ":")) + "\n")
PY
