#!/usr/bin/env python3
"""figures.py - figures of tests/gpu/interleave.sh, JSON lines.

usage: figures.py COMPARISON.json DATABASE LABEL      one line of a comparison: its cells, and how far its runs lie apart
       figures.py --beside IN_PROCESS.jsonl FIGURES   the Triton cells beside the pairs of one process
       figures.py --sum FIGURES                       what is asked of them all, line by line: ok or not
"""
import json
import re
import sqlite3
import sys


def runs_of(database, comparison):
    """For each cell the change of every run, in percent: at equal clocks and as it is; and why they are not known, where they are not."""
    found, why = {}, None
    try:
        db = sqlite3.connect("file:%s?mode=ro" % database, uri=True)
        rows = db.execute("SELECT c.key, s.d, s.d_raw FROM sample s JOIN cell c ON c.id = s.cell JOIN sample_kind k ON k.id = s.kind "
                          "WHERE c.comparison = ? AND k.series = 'process' AND k.side = 'target' ORDER BY s.run", (comparison,))
        for key, d, raw in rows:
            cell = found.setdefault(key, {"runs_pct": [], "raw_pct": []})
            cell["runs_pct"].append(round(-100 * d, 4))
            cell["raw_pct"].append(round(-100 * raw, 4))
    except (sqlite3.Error, TypeError) as problem:  # Python's SQLite may be too old for the tables of the daemon's
        why = "%s: %s (SQLite %s)" % (database, problem, sqlite3.sqlite_version)
    return found, why


def figures(path, database, label):
    body = json.load(open(path))
    runs, problem = runs_of(database, body["id"])
    notes = " ".join(note["text"] for note in body["notes"] or [])
    turn = re.search(r"(\d+) of them, each ([0-9.e-]+) ms for calls of ([0-9.e-]+) ms.* a turn cost ([0-9.e-]+) ms", notes)
    cells = []
    for c in body["cells"]:
        cell = {name: c[name] for name in ("cell", "verdict", "change_pct", "code_pct", "clock_pct", "runs", "samples")}
        cell["class"] = c["failure"] if not isinstance(c["failure"], dict) else c["failure"].get("class")
        cell["half_width_pct"] = (c["ci_high_pct"] - c["ci_low_pct"]) / 2 if c["ci_high_pct"] is not None else None
        cell["base_ms"], cell["target_ms"] = c["base"]["median_ms"], c["target"]["median_ms"]
        cell["reason"] = c["reason"]
        cell["clocks"] = (c.get("clock") or {}).get("base_mhz") is not None
        cell.update(runs.get(c["cell"], {}))
        cells.append(cell)
    print(json.dumps({"what": label, "verdict": body["verdict"], "gpu_s": body["gpu_s"], "wall_s": body["wall_s"], "runs": body["runs"],
                      "device": body["environment"]["name"], "driver": body["environment"]["driver"], "isolation": body["isolation"],
                      "turn_cost_ms": float(turn[4]) if turn else None, "interleave": int(turn[1]) if turn else 0, "notes": notes, "problem": problem, "cells": cells}))


def read(path):
    with open(path) as lines:
        return [json.loads(line) for line in lines if line.startswith("{")]


def beside(in_process, path):
    stages = next((f for f in read(path) if f["what"] == "triton/stages"), None)
    for pair in read(in_process):
        if pair["timer"] != "kit" or not pair["pause_ms"]:
            print("# %s: %+.3f %% in one process, timer %s, %g ms between calls" % (pair["cell"], pair["change_pct"], pair["timer"], pair["pause_ms"]))
            continue
        cell = next((c for c in stages["cells"] if c["cell"] == pair["cell"]), None) if stages else None
        if not cell or cell["change_pct"] is None:
            print("not ok - %s: not measured by turns; one process says %+.3f %%" % (pair["cell"], pair["change_pct"]))
            continue
        separate = cell["change_pct"] - pair["change_pct"]
        print("%s - %s: %+.3f %% by turns, %+.3f %% in one process: %.3f points apart"
              % ("ok" if abs(separate) <= 0.3 else "not ok", pair["cell"], cell["change_pct"], pair["change_pct"], abs(separate)))


def report(good, text):
    print("%s - %s" % ("ok" if good else "not ok", text))


def sum_up(path):
    all_figures = read(path)
    for f in all_figures:
        widths = [c["half_width_pct"] for c in f["cells"] if c["half_width_pct"] is not None]
        spreads = [max(c["runs_pct"]) - min(c["runs_pct"]) for c in f["cells"] if len(c.get("runs_pct") or []) > 1]
        words = ", ".join("%s %s %s" % (c["cell"], c["verdict"], "%+.3f %%" % c["change_pct"] if c["change_pct"] is not None else "-")
                          for c in f["cells"] if c["verdict"] != "unchanged")
        if f["what"] == "gemm/main" or f["what"].startswith("gemm/equal"):
            report(f["verdict"] == "unchanged", "%s: %s" % (f["what"], words or "all unchanged"))
            report(bool(widths) and max(widths) <= 0.3, "%s: half-width at most %.3f %%" % (f["what"], max(widths, default=9)))
            report(bool(spreads) and max(spreads) <= 0.1, "%s: runs within %.3f %% of each other" % (f["what"], max(spreads, default=9)))
            report(f["gpu_s"] <= 45, "%s: %.1f s of the device, %d runs" % (f["what"], f["gpu_s"], f["runs"]))
        elif f["what"] == "gemm/more":
            lost = [c["cell"] for c in f["cells"] if c["verdict"] == "regression"]
            report(lost == ["gemm/4096x5120x4096"], "%s: %s, %.1f s of the device" % (f["what"], words or "nothing", f["gpu_s"]))
        else:
            print("# %s: %s: %s, %.1f s of the device, %d runs" % (f["what"], f["verdict"], words or "all unchanged", f["gpu_s"], f["runs"]))
        if f.get("problem"):
            report(False, "%s: what single runs say is not known: %s" % (f["what"], f["problem"]))
        print("# %s: a turn cost %s ms beside its calls, the scrub included; clocks %s" % (f["what"], f["turn_cost_ms"],
              "known" if all(c.get("clocks") for c in f["cells"]) else "not known"))


if sys.argv[1] == "--beside":
    beside(*sys.argv[2:])
elif sys.argv[1] == "--sum":
    sum_up(sys.argv[2])
else:
    figures(*sys.argv[1:])
