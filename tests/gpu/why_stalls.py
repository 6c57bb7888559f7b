#!/usr/bin/env python3
"""why_stalls.py - whether the samples of a plant's profile fall where its plant is: behind the instructions that it added.

usage: why_stalls.py PLANT PROFILE.jsonl
Prints the share of the target's samples that wait for it there. Exit status 1: none do, or nothing was sampled.
"""
import json
import re
import sys

PLANTS = {"barrier": ("v2_forward_kernel", "BAR.SYNC", "barrier"), "serial": ("v2_backward_kernel", "WARPGROUP.DEPBAR", "barrier")}

kernel, added, reason = PLANTS[sys.argv[1]]
share, lines, samples, why = 0.0, 0, [0, 0], ""
with open(sys.argv[2]) as records:
    for text in records:
        record = json.loads(text) if text.startswith("{") else {}
        why = record.get("stalls_why", why)
        if record.get("t") != "code" or kernel not in record["target"]:
            continue
        samples = [record.get(side, {}).get("samples", 0) for side in ("base_stalls", "target_stalls")]
        is_behind = False
        for line in record["hunks"].split("\n"):
            if line.startswith("  @@"):
                is_behind = False
            is_behind = is_behind or (line.startswith("  + ") and added in line)
            seen = re.search(r"<- ([0-9.]+) % " + reason, line)
            if is_behind and seen and not line.startswith("  - "):
                share += float(seen.group(1))
                lines += 1
print(f"{sys.argv[1]}: {samples[0]} and {samples[1]} samples; behind {added} that was added {share:.1f} % of the target's wait for "
      f"{reason}, at {lines} instructions{'; ' + why if why else ''}")
sys.exit(0 if share > 0 else 1)
