#!/usr/bin/env python3
"""Check that exactly the planted faults of tests/gpu/linear.sh were found: "ok" or "not ok" a line; exit status 1 after a failure.

    linear_report.py OUT BRANCH...     OUT/flopwatch.db, OUT/layernorm.json, OUT/copy_gb_s.txt; the branches that were judged
"""
import collections
import json
import os
import re
import sqlite3
import sys

out, judged = sys.argv[1], sys.argv[2:]
db = sqlite3.connect(f"file:{out}/flopwatch.db?mode=ro", uri=True)
failed = n = 0


def report(good, text, places=()):
    global failed, n
    n += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {n} - {text}")
    if not good:
        for place in list(places)[:12]:
            print(f"#   {place}")


def cells(branch, suite):
    """key -> (verdict, change in percent, detail)"""
    return {key: (verdict, change, detail) for key, verdict, change, detail in db.execute(
        "SELECT e.key, e.verdict, coalesce(e.decided_pct, e.change_pct), e.reason FROM cell e JOIN comparison c ON c.id = e.comparison JOIN suite s ON s.id = c.suite "
        "WHERE s.name = :suite AND iif(c.kind = 'selfcheck', 'main', c.branch) = :branch ORDER BY e.n", {"suite": suite, "branch": branch})}


def other_than(found, *verdicts):
    return [f"{key}: {verdict} {detail or ''}" for key, (verdict, _, detail) in found.items() if verdict not in verdicts]


def recipe(key):
    return key.split("/")[2]


def alone(branch, suite, planted, verdict, where):
    """The planted fault is found in each of its cells, and in no other."""
    found = cells(branch, suite)
    wanted = {key for key in found if planted(key)}
    hit = {key for key, (word, _, _) in found.items() if word == verdict}
    report(wanted and hit == wanted, f"{branch}: {verdict} in the {len(wanted)} cells of {where}, of {len(found)} of {suite}",
         [f"{key}: {found[key][0]} {found[key][2] or ''}" for key in sorted(hit ^ wanted)])
    wrong = other_than({key: cell for key, cell in found.items() if key not in wanted}, "unchanged")
    report(not wrong, f"{branch}: the other {len(found) - len(wanted)} cells of {suite} are unchanged", wrong)
    return {key: found[key] for key in wanted}


def is_slowed(key):
    return recipe(key) == "int8wo" and (os.environ.get("DEVICE") == "sim" or "/m16384/" in key)


if "main" in judged:
    for suite, least in (("layers", 40), ("blocks", 4), ("heads", 4)):
        found = cells("main", suite)
        wrong = other_than(found, "unchanged")
        report(len(found) >= least and not wrong, f"main beside itself: {len(found)} cells of {suite} are unchanged", wrong)
if "loss" in judged:
    hit = alone("loss", "layers", is_slowed, "regression", "int8wo that have it")
    print("#   " + ", ".join(f"{key.split('/', 3)[3]} {change:+.1f} %" for key, (_, change, _) in hit.items() if change is not None))
    for suite in ("blocks", "heads"):
        found = cells("loss", suite)
        wrong = other_than(found, "unchanged")
        report(found and not wrong, f"loss: {len(found)} cells of {suite} are measured again and unchanged", wrong)
if "group" in judged:
    for suite in ("layers", "blocks"):
        hit = alone("group", suite, lambda key: recipe(key).startswith("int4wo"), "failed", "int4wo")
        element = re.compile(r"\b[YX]\[\d+, \d+\] is .*, should be ")
        wrong = [f"{key}: {detail}" for key, (_, _, detail) in hit.items() if not element.search(detail or "")]
        report(hit and not wrong, f"group: each names an element: {next((detail for _, _, detail in hit.values()), '')}", wrong)
    verdicts = collections.Counter(row[0] for row in db.execute(
        "SELECT c.verdict FROM comparison c JOIN suite s ON s.id = c.suite WHERE s.name = 'heads' AND c.branch = 'group'"))
    report(set(verdicts) <= {"identical", "unchanged"} and verdicts, f"group: attention is {', '.join(verdicts)}", verdicts)
for branch in {"main", "loss", "group"} - set(judged):
    report(False, f"{branch} was not judged")

norm = json.load(open(f"{out}/layernorm.json"))["cells"]
wrong = [f"{cell['cell']}: {cell['verdict']} {cell['detail']}" for cell in norm if cell["verdict"] not in ("unchanged", "undecided")]
report(norm and not wrong, f"layernorm: {len(norm)} cells are accepted", wrong)
copies = [line.split() for line in open(f"{out}/copy_gb_s.txt")] if os.path.exists(f"{out}/copy_gb_s.txt") else []
long_copy, copy_of = copies and float(copies[0][0]), {int(line[0]): float(line[1]) for line in copies[1:]}
for cell in norm:
    rate = cell["base"].get("gb_s")
    rows, columns = (int(part[1:]) for part in cell["cell"].split("/")[1:3])
    shares = [f"{rate / long_copy:.2f} of a copy of 1 GiB"] if copies else []
    if cell["cell"].endswith("/forward") and 2 * rows * columns in copy_of:  # which reads and writes a matrix, like a copy
        shares.append(f"{rate / copy_of[2 * rows * columns]:.2f} of a copy of this matrix")
    print(f"#   {cell['cell']}: " + ", ".join([f"{rate:.0f} GB/s", *shares]))
print(f"# {n - failed} ok, {failed} not ok")
sys.exit(bool(failed))
