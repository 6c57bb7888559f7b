#!/usr/bin/env python3
"""why_recording.py - a line with the measurement and the expected cause, then the plant's profile (tests/data/profiles/README.md).

usage: why_recording.py PLANT COMPARE.json PROFILE.jsonl
"""
import json
import sys

FORWARD, BACKWARD = "v2_forward_kernel", "v2_backward_kernel"
PLANTS = {  # allowed first causes, and their kernels
    "needless-80": (["tensor_instructions"], FORWARD),
    "spills": (["spills"], FORWARD),
    "banks": (["bank_conflicts"], FORWARD),
    "order": (["dram_reads"], FORWARD),
    "balance": (["imbalance"], BACKWARD),
    "twice": (["l2_writes", "dram_writes"], FORWARD),
    "parts": (["config"], ""),
    "overlap": (["barrier"], FORWARD),
    "serial": (["tensor_wait"], BACKWARD),
    "barrier": (["barrier"], FORWARD),
    "exponentials": (["exponentials"], FORWARD),
    "grid": (["grid"], FORWARD),
    "scalar": (["atomics"], BACKWARD),
    "memset": (["extra_node"], "memset"),
}

name, compared, profile = sys.argv[1:4]
body = json.load(open(compared))
cell = body["cells"][0]
base_ms = cell["base"]["median_ms"]
target_ms = base_ms / (1 + cell["change_pct"] / 100)
code_ms = base_ms / (1 + cell["code_pct"] / 100)
first, kernel = PLANTS[name]
print(json.dumps({"t": "verdict", "name": name, "cell": cell["cell"], "device": body["device"]["name"], "driver": body["device"]["driver"],
                  "change_pct": round(cell["change_pct"], 3), "base_ms": round(base_ms, 5), "target_ms": round(target_ms, 5),
                  "noise_ms": round(base_ms * (cell["ci_high_pct"] - cell["ci_low_pct"]) / 200, 6), "clock_ms": round(target_ms - code_ms, 5), "host_ms": 0,
                  "first": first, "kernel": kernel}, separators=(",", ":")))
with open(profile) as lines:
    for line in lines:
        if line.startswith("{"):
            sys.stdout.write(line)
