#!/usr/bin/env python3
"""coverage.py FOLDER: the share of source lines that ran, by folder, from the counts that programs compiled with gcov left below FOLDER."""
import collections
import json
import os
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(sys.argv[1]).resolve()
ran, lines = collections.Counter(), collections.Counter()
notes = sorted((FOLDER / "obj").rglob("*.gcno"))
if not notes:
    sys.exit(f"{FOLDER}: holds no object that was compiled with gcov; run make coverage")
for note in notes:
    counts = note.with_suffix(".gcda")
    found = subprocess.run(["gcov", "--json-format", "--stdout", counts if counts.exists() else note], cwd=FOLDER.parent.parent,
        capture_output=True, text=True, check=True)
    for file in json.loads(found.stdout)["files"]:
        name = file["file"]
        if name.startswith(("daemon/", "db/", "web/")) and name.endswith(".c"):
            folder = os.path.dirname(name)
            lines[folder] += len(file["lines"])
            ran[folder] += sum(line["count"] > 0 for line in file["lines"])
for folder in sorted(lines):
    print(f"{100 * ran[folder] / lines[folder]:5.1f} % of {lines[folder]:6} lines  {folder}")
print(f"{100 * sum(ran.values()) / sum(lines.values()):5.1f} % of {sum(lines.values()):6} lines")
