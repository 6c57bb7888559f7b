#!/usr/bin/env python3
"""Compare counters of a profile with ncu's, of the same call in the same state: ncu runs the program again for each pass (application
replay), so that neither it nor a profile saves and restores memory in between, and leaves the caches as the program does.

    tests/gpu/counted.py BUNDLE MODULE.so OUT.txt [CELL...]     cells of suite ffa; it needs ncu
"""
import csv
import io
import json
import os
import subprocess
import sys

CELLS = ["attention/dense/causal/s8192/hq64/hk8/d128/bf16/" + direction for direction in ("forward", "backward")]
bundle, module, out = (os.path.abspath(path) for path in sys.argv[1:4])
suite = f"{bundle}/share/suites/ffa.yaml"
programs = f"{bundle}/bin"
lines = []


def say(text):
    print(text, flush=True)
    lines.append(text)


def counted(cell):
    """A kernel's grid and its values, in the order of the call: the base's second process."""
    done = subprocess.run([f"{programs}/flopwatch-worker", "profile", "--suite", suite, "--base", module, "--target", module, "--cells", cell,
                           "--device", "cuda", "--json"], capture_output=True, text=True, timeout=200)
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    kernels = [k for k in found if k["t"] == "kernel" and k["role"] == "base" and k["repeat"] == 1 and k.get("grid", [0])[0] and k.get("values")]
    if not kernels:
        sys.exit(f"{cell}: no profile: {done.stderr[-300:]}")
    return kernels


def by_ncu(cell, metrics):
    done = subprocess.run(["ncu", "--replay-mode", "application", "--cache-control", "none", "--clock-control", "none", "--profile-from-start",
                           "off", "--csv", "--page", "raw", "--print-units", "base", "--metrics", ",".join(metrics),
                           f"{programs}/flopwatch-runner", "--capture", cell, "--suite", suite, "--module", module, "--device", "cuda:0",
                           "--calls", "1", "--warmup", "1"], capture_output=True, text=True, timeout=300)
    table = done.stdout[done.stdout.find('"ID"'):] if '"ID"' in done.stdout else ""
    rows = list(csv.DictReader(io.StringIO(table)))[1:]  # the units follow the names
    if not rows:
        sys.exit(f"{cell}: ncu printed no table: {(done.stdout + done.stderr)[-500:]}")
    return rows


def number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


for cell in sys.argv[4:] or CELLS:
    ours = counted(cell)
    rows = by_ncu(cell, sorted(ours[-1]["values"]))
    say(f"== {cell}: {len(ours)} kernels, ncu has {len(rows)}")
    for kernel, row in zip(ours, rows):
        separate = []
        for metric, value in kernel["values"].items():
            theirs = number(row.get(metric, ""))
            if theirs:
                separate.append((100 * (value / theirs - 1), metric, value, theirs))
        say(f"{kernel['kernel']} beside {row['Kernel Name']}: {len(separate)} compared; bytes, sectors, instructions, and what else is more than 1 % apart:")
        for percent, metric, value, theirs in separate:
            if abs(percent) > 1 or "bytes" in metric or "sectors" in metric or "inst_" in metric:
                say(f"  {metric:70} {value:16.9g} {theirs:16.9g} {percent:+7.2f} %")
with open(out, "w") as file:
    file.write("\n".join(lines) + "\n")
