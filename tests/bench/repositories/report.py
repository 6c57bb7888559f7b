#!/usr/bin/env python3
"""Results of pushes to one repository at one load, as `bench NAME.X VALUE UNIT`.

    report.py NAME COMPARISONS DATABASE PATTERN

COMPARISONS: a line of JSON for each push, with `kind` (equal, loss, comment) and `push_s`. PATTERN: the cells that a loss makes slower.
"""
import fnmatch
import json
import math
import sqlite3
import statistics
import struct
import sys


def run_scatter(db, comparison):
    """Standard deviation of a cell's time between the runs of a comparison, in % of its mean, for each cell."""
    times = {}
    query = ("SELECT e.key, s.ms FROM sample s JOIN sample_kind k ON k.id = s.kind JOIN run r ON r.id = s.run JOIN cell e ON e.id = s.cell "
             "WHERE r.comparison = ? AND k.series = 'process' AND k.side = 'base'")
    for key, ms in db.execute(query, (comparison,)):
        values = struct.unpack("<%df" % (len(ms) // 4), ms)
        times.setdefault(key, []).append(statistics.median(values))
    return [100 * statistics.stdev(values) / statistics.mean(values) for values in times.values() if len(values) > 2]


def half_width(cell):
    if cell["ci_low_pct"] is None or cell["ci_high_pct"] is None:
        return math.nan
    return (cell["ci_high_pct"] - cell["ci_low_pct"]) / 2


def main():
    name, path, database, pattern = sys.argv[1:]
    with open(path) as lines:
        pushes = [json.loads(line) for line in lines]
    db = sqlite3.connect("file:%s?mode=ro" % database, uri=True)

    def line(what, value, unit):
        print("bench %s.%s %s %s" % (name, what, value if isinstance(value, str) else "%.4g" % value, unit))

    def verdicts(push, slow):
        return [cell["verdict"] for cell in push.get("cells", ()) if fnmatch.fnmatch(cell["cell"], pattern) == slow]

    equal = [push for push in pushes if push["kind"] == "equal"]
    loss = [push for push in pushes if push["kind"] == "loss"]
    wrong = {"regression", "improvement", "rejected", "failed", "not_comparable", "removed", "added"}
    line("equal.unchanged", sum(push.get("verdict") == "unchanged" for push in equal), "of_%d" % len(equal))
    line("equal.undecided", sum("undecided" in verdicts(push, True) + verdicts(push, False) for push in equal), "of_%d" % len(equal))
    line("equal.false", sum(bool(wrong & set(verdicts(push, True) + verdicts(push, False))) for push in equal), "of_%d" % len(equal))
    line("loss.found", sum(set(verdicts(push, True)) == {"regression"} for push in loss), "of_%d" % len(loss))
    line("loss.undecided", sum("undecided" in verdicts(push, True) for push in loss), "of_%d" % len(loss))
    line("loss.elsewhere", sum(bool(wrong & set(verdicts(push, False))) for push in loss), "of_%d" % len(loss))
    cells = [cell for push in equal + loss for cell in push.get("cells", ())]
    widths = [half_width(cell) for cell in cells if half_width(cell) == half_width(cell)]
    if widths:
        line("half_width_mean", statistics.mean(widths), "pct")
        line("half_width_max", max(widths), "pct")
    for cell in cells:
        if cell["verdict"] == "undecided":
            line("undecided." + cell["cell"], cell["mde_pct"] or math.nan, "pct_could_be_shown")
            print("# %s" % cell.get("reason", cell.get("detail", "")))
    scatter = [value for push in equal for value in run_scatter(db, push["id"])]
    if scatter:
        line("scatter_median", statistics.median(scatter), "pct")
        line("scatter_max", max(scatter), "pct")
    seconds = [push["push_s"] for push in equal + loss]
    line("push_median", statistics.median(seconds), "s")
    line("push_max", max(seconds), "s")
    line("held_max", max(push.get("gpu_s", 0) for push in equal + loss), "s")
    for push in pushes:
        if push["kind"] == "comment":
            line("comment", str(push.get("verdict")), "verdict")
            line("comment.push", push["push_s"], "s")


main()
