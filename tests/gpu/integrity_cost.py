#!/usr/bin/env python3
"""Cost of changing K and V, from comparisons of a module with itself (integrity.sh): the second forward that a backward cell
makes in each run, as a share of the device's time, and the device's time next to that of an earlier build. Usage: FOLDER."""
import json
import os
import sys


def load(name):
    path = os.path.join(sys.argv[1], "aa-" + name + ".json")
    try:
        with open(path) as f:
            return json.load(f)
    except (OSError, ValueError):
        return None


def forward_ms(result, key):
    for cell in result["cells"]:
        if cell["cell"] == key[:-len("backward")] + "forward" and cell["base"]["median_ms"]:
            return cell["base"]["median_ms"]
    return 0.0


now = load("now-1")
if not now or not now["gpu_s"]:
    sys.exit("no comparison of a module with itself was made: see aa-now-1.err")
second = sum(forward_ms(now, c["cell"]) for c in now["cells"] if c["cell"].endswith("/backward")) * now["runs"] / 1e3
print("A/A of %d cells, both checks and %d run(es): %.2f s of the device" % (len(now["cells"]), now["runs"], now["gpu_s"]))
print("second forwards for other K and V in runs: %.3f s, %.2f %% (rolled copies are as long as plain ones)" %
      (second, 100 * second / now["gpu_s"]))
print("cells that are accused: %s" % (", ".join(c["cell"] for c in now["cells"] if c["class"]) or "none"))
runs = {kind: [r["gpu_s"] for r in (load("%s-%d" % (kind, i)) for i in (1, 2)) if r] for kind in ("before", "now")}
if runs["before"]:
    before, after = (sum(runs[kind]) / len(runs[kind]) for kind in ("before", "now"))
    print("%.2f s before (%s), %.2f s now (%s), %+.2f %%" %
          (before, ", ".join("%.2f" % t for t in runs["before"]), after, ", ".join("%.2f" % t for t in runs["now"]),
           100 * (after / before - 1)))
