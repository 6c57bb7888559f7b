#!/bin/bash
# A repository's own benchmark on this GPU, its script unedited: main against itself, and branches that differ by one edit.
# Usage: tests/gpu/repository.sh BUNDLE OUT CHECKOUT MANIFEST [NAME=FILE=SED]...
#   CHECKOUT: folder of the repository; its files are copied. MANIFEST: becomes .flopwatch.yaml
#   NAME=FILE=SED: a branch NAME with FILE edited by the sed script SED
#   LIMIT_S: branches that are not judged by then are left out
#   SANDBOX: of the configuration, e.g. {mode: auto, read_only: [/opt/torch]}, if the Python with PyTorch is there
# OUT gets repository.txt: a line for each comparison, and one for each of its cells; and the comparisons as JSON.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/gpu/daemon_lib.sh"
daemon_prepare "$1"
mkdir -p "$2"
out=$(cd "$2" && pwd) checkout=$(cd "$3" && pwd) manifest=$(realpath "$4")
shift 4
echo "$(date -u +%F), $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader)" | tee "$out/repository.txt"
cp "$manifest" "$state/.flopwatch.yaml"
mapfile -t files < <(find "$checkout" -mindepth 1 -maxdepth 1 ! -name .git ! -name .flopwatch.yaml)
daemon_repository "${files[@]}" "$state/.flopwatch.yaml"
daemon_start "$out/daemon.log" "$(sed -nE '/^benchmarks:/,/^[a-z]/s/^  ([A-Za-z0-9_-]+):.*/\1/p' "$manifest" | paste -sd,)"
git push -q origin main
for edit in "$@"; do
	name=${edit%%=*} rest=${edit#*=}
	git checkout -q -b "$name" main
	sed -i "${rest#*=}" "${rest%%=*}"
	git commit -q -a -m "$name"
	git push -q origin "$name"
	git checkout -q main
done
for branch in main "${@%%=*}"; do
	left=$((${LIMIT_S:-86400} - SECONDS))
	if [ $left -lt 1 ] || ! daemon_judge "$branch" "$out" "$left"; then
		echo "$branch: not judged within $LIMIT_S s"
		break
	fi
	python3 - "$branch" "$out/$branch.json" <<-'PY' | tee -a "$out/repository.txt"
		import json, sys
		c = json.load(open(sys.argv[2]))
		steps = ", ".join("%s %.1f" % s for s in sorted((c.get("steps") or {}).items(), key=lambda s: -(s[1] or 0)) if s[1])
		print("%s: %s, %d cells, %s runs, device held %s s; %s" % (sys.argv[1], c.get("verdict"), len(c["cells"]), c.get("runs"), c.get("gpu_s"), steps))
		for x in c["cells"]:
		    low, high = x["ci_low_pct"], x["ci_high_pct"]
		    span = "%+.2f %% (%+.2f .. %+.2f)" % (x["change_pct"], low, high) if x["change_pct"] is not None and low is not None else "-"
		    print("  %-11s %s  %s  %s ms  %s" % (x["verdict"], x["cell"], span, x["base"]["median_ms"], " ".join(x["flags"])))
	PY
	head -n 12 "$out/$branch.txt"
done
