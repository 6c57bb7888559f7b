#!/usr/bin/env python3
"""coverage.py FOLDER [PART...]: the share of source lines and branches that ran, from the counts that programs compiled with gcov
left below FOLDER. It is a report: a share below its target is named, and does not change the exit status. The first table has
each folder, the second one the parts with targets. What did not run is in FOLDER/unreached.txt: functions, then lines; of the
named parts (model, db ...) it is also printed."""
import collections
import json
import os
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(sys.argv[1]).resolve()
TARGETS = {"daemon/model": "model", "daemon/stats": "stats", "daemon/verdict": "verdict", "daemon/readers": "readers",
    "daemon/protocol": "protocol", "daemon/worker": "worker", "daemon/worker/sandbox": "worker", "db": "db"}
LINES_MIN, BRANCHES_MIN = 92, 80


class Share:
    def __init__(self):
        self.ran, self.all, self.taken, self.branches = 0, 0, 0, 0

    def add(self, line):
        self.all += 1
        self.ran += line["count"] > 0
        self.branches += len(line["branches"])
        self.taken += sum(branch["count"] > 0 for branch in line["branches"])

    def __str__(self):
        branches = f"{100 * self.taken / self.branches:5.1f} % of {self.branches:6} branches" if self.branches else " " * 26
        return f"{100 * self.ran / self.all:5.1f} % of {self.all:6} lines  {branches}"

    def verdict(self):
        missed = [what for what, n, of, least in (("lines", self.ran, self.all, LINES_MIN),
            ("branches", self.taken, self.branches, BRANCHES_MIN)) if 100 * n < least * of]
        return f"below the target: {', '.join(missed)}" if missed else "ok"


def sources():
    """Each C source of the product: its path and gcov's description of it."""
    notes = sorted((FOLDER / "obj").rglob("*.gcno"))
    if not notes:
        sys.exit(f"{FOLDER}: holds no object that was compiled with gcov; run make coverage")
    for note in notes:
        counts = note.with_suffix(".gcda")
        found = subprocess.run(["gcov", "--json-format", "--branch-probabilities", "--stdout", counts if counts.exists() else note],
            cwd=FOLDER.parent.parent, capture_output=True, text=True, check=True)
        for file in json.loads(found.stdout)["files"]:
            if file["file"].startswith(("daemon/", "db/", "web/")) and file["file"].endswith(".c"):
                yield file["file"], file


def ranges(numbers):
    """[1, 2, 3, 7] as "1-3 7"."""
    found = []
    for n in numbers:
        if found and n == found[-1][1] + 1:
            found[-1][1] = n
        else:
            found.append([n, n])
    return " ".join(str(a) if a == b else f"{a}-{b}" for a, b in found)


parts, folders, whole = collections.defaultdict(Share), collections.defaultdict(Share), Share()
functions, lines = [], []
for name, file in sources():
    folder = os.path.dirname(name)
    part = TARGETS.get(folder, "")
    for line in file["lines"]:
        for share in (folders[folder], whole, *([parts[part]] if part else [])):
            share.add(line)
    uncalled = {f["name"]: f["start_line"] for f in file["functions"] if f["execution_count"] == 0}
    functions += [(part, f"{name}:{at}: {function} is not called") for function, at in sorted(uncalled.items(), key=lambda f: f[1])]
    missed = sorted({line["line_number"] for line in file["lines"] if line["count"] == 0 and line.get("function_name") not in uncalled})
    if missed:
        lines.append((part, f"{name}: {ranges(missed)}"))

unreached = [text for _, text in functions] + [text for _, text in lines]
(FOLDER / "unreached.txt").write_text("".join(text + "\n" for text in unreached))
for folder in sorted(folders):
    print(f"{folders[folder]}  {folder}")
print(f"{whole}  all\n")
print(f"targets: {LINES_MIN} % of the lines, {BRANCHES_MIN} % of the branches")
for part in dict.fromkeys(TARGETS.values()):
    if part in parts:
        print(f"{parts[part]}  {part:9} {parts[part].verdict()}")
print(f"{len(functions)} functions were not called, and {len(lines)} files have other lines that did not run: {FOLDER}/unreached.txt")
for part, text in functions + lines:
    if part in sys.argv[2:]:
        print(text)
