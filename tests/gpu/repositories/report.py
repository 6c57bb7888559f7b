#!/usr/bin/env python3
"""Lines about the comparisons of a commit, from the daemon at FLOPWATCH_SERVER. Exit status 1: a cell has a wrong verdict.

    report.py TREE BRANCH SHA EXPECT OUT

EXPECT is that of tests/gpu/repositories/TREE.plants.
"""
import fnmatch
import json
import os
import statistics
import sys
import urllib.request


def get(path):
    with urllib.request.urlopen(os.environ["FLOPWATCH_SERVER"].rstrip("/") + "/api/v1/" + path, timeout=60) as answer:
        return json.load(answer)


def wanted(expect, cell):
    """Verdict and flag that a cell must have, and the flag that it may have only then."""
    for item in expect.split(","):
        kind, _, pattern = item.partition("=")
        if pattern and fnmatch.fnmatchcase(cell, pattern):
            return ("regression", False) if kind == "device" else ("unchanged", True)
    return "identical" if expect == "identical" else "unchanged", False


def is_wrong(expect, cell):
    verdict, host = wanted(expect, cell["cell"])
    if verdict == "identical":
        return cell["verdict"] not in ("identical", "unchanged")
    return cell["verdict"] != verdict or (("enqueue" in cell["flags"]) != host and verdict == "unchanged")


def main():
    tree, branch, sha, expect, out = sys.argv[1:]
    wrong_in_all = 0
    # the newest job is first; an undecided cell may have been measured again later
    for job in sorted((job for job in get("jobs?limit=500")["items"] if job["target"] == sha), key=lambda job: job["id"]):
        begin = "%s %s %s:" % (tree, branch, job["suite"])
        if not job["comparison"]:
            verdict = job["verdict"] or job["state"]
            print("%s %s %s" % (begin, verdict, job["state_why"] or ""))
            wrong_in_all += expect != "identical" or verdict != "identical"
            continue
        body = get("comparisons/%d" % job["comparison"])
        with open("%s/%s-%s-%s.json" % (out, tree, branch, job["suite"]), "w") as file:
            json.dump(body, file)
        cells = body["cells"]
        wrong = [cell for cell in cells if is_wrong(expect, cell)]
        if expect == "identical":
            wrong_in_all += body["verdict"] != "identical"
        wrong_in_all += len(wrong)
        widths = [(cell["ci_high_pct"] - cell["ci_low_pct"]) / 2 for cell in cells
                  if cell["ci_low_pct"] is not None and cell["ci_high_pct"] is not None]
        width = "%.2f %% mean, %.2f %% at most" % (statistics.mean(widths), max(widths)) if widths else "-"
        held = body["gpu_s"] or 0
        timed = (body.get("steps") or {}).get("timed") or 0
        print("%s %s, %d cells, %d unchanged, half-width %s, %s runs, held %.1f s, %.0f %% timed, %d wrong" % (
            begin, body["verdict"], len(cells), sum(cell["verdict"] == "unchanged" for cell in cells), width, body["runs"], held,
            100 * timed / held if held else 0, len(wrong)))
        for cell in wrong:
            change = "%+.2f %%" % cell["change_pct"] if cell["change_pct"] is not None else "-"
            print("  wrong: %s %s %s %s %s" % (cell["cell"], cell["verdict"], change, " ".join(cell["flags"]), cell["reason"] or ""))
    return wrong_in_all > 0


sys.exit(main())
