#!/usr/bin/env python3
"""Results of comparisons that a daemon made on a GPU: OUT/NAME.json become OUT/<device>-<date>-<WHAT>.jsonl, the timed calls in
OUT/flopwatch.db become OUT/<device>-<date>-<WHAT>-samples.jsonl. The series that decides alone.

    daemon_figures.py OUT WHAT COMMIT NAME...
"""
import datetime
import json
import sqlite3
import struct
import sys


def figures(name, body, line):
    line(f"{name}.gpu", body["gpu_s"], "s")
    line(f"{name}.wall", body.get("wall_s"), "s")
    line(f"{name}.launches", body["runs"], "count")
    for cell in body["cells"]:
        for side in ("base", "target"):
            line(f"{name}.{side}_median", cell[side]["median_ms"], "ms", cell["cell"])
        line(f"{name}.target_tflops", cell["target"]["tflops"], "tflops", cell["cell"])
        line(f"{name}.verdict", " ".join([cell["verdict"], *cell["flags"]]), "word", cell["cell"])
        line(f"{name}.change", cell["change_pct"], "pct", cell["cell"])
        line(f"{name}.change_raw", cell["change_raw_pct"], "pct", cell["cell"])
        line(f"{name}.code", cell["code_pct"], "pct", cell["cell"])
        line(f"{name}.clock", cell["clock_pct"], "pct", cell["cell"])
        sustained_runs = cell["sustained"] or {}
        line(f"{name}.sustained", sustained_runs.get("change_pct"), "pct", cell["cell"])
        for side in ("base", "target"):
            line(f"{name}.{side}_settled", sustained_runs.get(f"{side}_mhz"), "mhz", cell["cell"])
        line(f"{name}.ci_low", cell["ci_low_pct"], "pct", cell["cell"])
        line(f"{name}.ci_high", cell["ci_high_pct"], "pct", cell["cell"])


def write_samples(db, path):
    def floats(blob):
        return None if blob is None else [float("%.6g" % v) for v in struct.unpack("<%df" % (len(blob) // 4), blob)]
    query = ("SELECT iif(c.kind IN ('selfcheck', 'calibrate'), c.kind || '-' || c.id, c.branch), l.n, l.set_number, e.key, k.side, s.call_order, "
             "s.ms, s.mhz, json_object('power_w', s.power_w, 'temp_c', s.temp_c, 'sm_mhz', s.sm_mhz, 'reasons', s.reasons, "
             "'foreign', s.foreign_processes, 'xid', s.xid, 'ecc', s.ecc, 'energy_j', s.energy_j, 'regime', s.regime) FROM sample s JOIN sample_kind k ON k.id = s.kind JOIN run l ON l.id = s.run JOIN cell e ON e.id = s.cell "
             "JOIN comparison c ON c.id = l.comparison WHERE k.series = 'device' ORDER BY c.id, l.n, e.n, k.side")
    with open(path, "w") as f:
        for name, run, set_, cell, side, order, ms, mhz, device_check in db.execute(query):
            row = {"comparison": name, "run": run, "set": set_, "cell": cell, "side": side, "order": order or None,
                   "ms": floats(ms), "mhz": floats(mhz)}
            if side == "target":
                row["device_check"] = json.loads(device_check)
            f.write(json.dumps(row, separators=(",", ":")) + "\n")


def main():
    out, what, commit, names = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
    now = datetime.datetime.now(datetime.timezone.utc)
    lines, device = [], "gpu"
    for name in names:
        with open(f"{out}/{name}.json") as f:
            body = json.load(f)
        env = body.get("environment") or {}
        device = env.get("name") or device

        def line(bench, value, unit, cell=None):
            if value is not None:
                lines.append({"bench": f"{what}.{bench}", "peer": None, "value": value, "unit": unit, "cell": cell, "device": device,
                              "driver": env.get("driver"), "toolkit": env.get("toolkit"), "commit": commit,
                              "at": now.isoformat(timespec="seconds")})
        figures(name, body, line)
    slug = "".join(c if c.isalnum() else "-" for c in str(device).lower()).strip("-") or "gpu"
    stem = f"{out}/{slug}-{now:%Y-%m-%d}-{what}"
    with open(stem + ".jsonl", "w") as f:
        for entry in lines:
            f.write(json.dumps(entry) + "\n")
            if entry["cell"] is None:
                print("bench", entry["bench"], "%.6g" % entry["value"], entry["unit"])
    with sqlite3.connect(f"{out}/flopwatch.db") as db:
        write_samples(db, stem + "-samples.jsonl")


main()
