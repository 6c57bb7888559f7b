#!/bin/bash
# How long the device is held while equal modules are compared on this GPU: seconds by step, next to those of another build of
# flopwatch.
# Usage: tests/gpu/device_time.sh OUT MODULES NAME=BUNDLE[,NAME=BUNDLE...] SUITE...
#   SUITE: name of a suite of etc/suites, or a file
#   MODULES: folder with libFAMILY.so of each suite's family, built beforehand
#   LIMIT_S: comparisons that do not fit are left out; CELLS: patterns of cells, default all
# OUT gets device-time.txt, a line for each comparison, and the comparisons as JSON.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
out=$1 modules=$2 bundles=$3
shift 3
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
start=$SECONDS
card=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader)
echo "$(date -u +%F), $card" | tee "$out/device-time.txt"
for suite in "$@"; do
	case $suite in */*) file=$suite suite=$(basename "$suite" .yaml) ;; *) file=$root/etc/suites/$suite.yaml ;; esac
	family=$(sed -n 's/^family: *\([a-z]*\).*/\1/p' "$file")
	cp "$modules/lib${family:-attention}.so" "$work/base.so"
	cp "$work/base.so" "$work/twin.so"
	echo twin >>"$work/twin.so" # another file with the same code
	for bundle in ${bundles//,/ }; do
		left=$((${LIMIT_S:-3600} - (SECONDS - start)))
		[ "$left" -gt 10 ] || { echo "$suite ${bundle%%=*}: no time left"; continue; }
		timeout "$left" "${bundle#*=}/bin/flopwatch-worker" compare --cache "$work/cache-${bundle%%=*}" --suite "$file" \
			--device cuda:0 --base "$work/base.so" --target "$work/twin.so" ${CELLS:+--cells "$CELLS"} --json >"$out/$suite-${bundle%%=*}.json" 2>"$work/err" || true
		python3 - "$suite" "${bundle%%=*}" "$out/$suite-${bundle%%=*}.json" <<-'PY' | tee -a "$out/device-time.txt"
			import json, sys
			try:
			    c = json.load(open(sys.argv[3]))
			except ValueError:
			    sys.exit(print(*sys.argv[1:3], "did not end"))
			steps = ", ".join("%s %.1f" % s for s in sorted(c.get("steps", {}).items(), key=lambda s: -s[1]))
			print("%s %s: %s, %d cells, %d runs, device held %.1f s, wall %.1f s; %s" % (
			    sys.argv[1], sys.argv[2], c["verdict"], len(c["cells"]), c.get("runs", 0), c["gpu_s"], c["wall_s"], steps))
			known = [x for x in c["cells"] if x.get("ci_low_pct") is not None and x.get("ci_high_pct") is not None]
			half = [(x["ci_high_pct"] - x["ci_low_pct"]) / 2 for x in known]
			if half:
			    print("  %d cells not unchanged; half-width mean %.3f %%, largest %.3f %%; largest change %.2f %%" % (
			        sum(x["verdict"] != "unchanged" for x in c["cells"]), sum(half) / len(half), max(half),
			        max((x["change_pct"] for x in known), key=abs)))
		PY
		tail -n 2 "$work/err"
	done
done
