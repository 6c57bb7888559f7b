#!/usr/bin/env python3
"""Differences between the sides of equal builds in sustained runs, on a GPU with an oscillating power limiter: of 0.4 s as they were, of 1 s as they are,
and of 1 s where only the first of each side is had. From sustained runs that were recorded. A line each: `bench NAME VALUE pct`, the root mean square of
the log ratio; of a plant that moves the clock its gain.
"""
import collections
import json
import math
import os
import statistics

RECORDED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data/gpu/h100-2026-11-26-bursts.jsonl")


def separate(base, target):
    return 100 * statistics.mean(math.log(t / b) for b, t in zip(base, target))


def main():
    kinds, planted = collections.defaultdict(list), collections.defaultdict(list)
    with open(RECORDED, encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            base, target = row["base_ms"], row["target_ms"]
            if row["branch"] == "evict":
                planted[row["cell"]].append(-separate(base, target))
                continue
            size, direction = row["cell"].split("/")[3], row["cell"].split("/")[-1]
            kind = {"0.4 s": "0.4s", "1 s": "1s", "1 s, second card": "1s"}[row["bursts"]]
            kinds[kind, size, direction].append(separate(base, target))
            if kind == "1s":
                kinds["1s_brief", size, direction].append(separate(base[:1], target[:1]))
    for (kind, size, direction), found in sorted(kinds.items()):
        print(f"bench sustained.{kind}.{size}.{direction} {math.sqrt(statistics.mean(x * x for x in found)):.2f} pct")
    for cell, found in planted.items():
        size, direction = cell.split("/")[3], cell.split("/")[-1]
        print(f"bench sustained.evict.{size}.{direction} {statistics.mean(found):+.2f} pct")


if __name__ == "__main__":
    main()
