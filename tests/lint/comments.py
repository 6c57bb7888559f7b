#!/usr/bin/env python3
"""Check that comments of the sources name existing files. Prints the other ones, as file:line; exit status 1 then."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TOPS = ("daemon/", "db/", "web/", "kernels/")
# Files of libraries, and example names of a user's files.
OTHERS = {"cuda_runtime_api.h", "git2.h", "lz4frame.h", "sqlite3.h", "sysexits.h", "zstd.h", "bench/sums.c", "src/sums.c", "kernel.c",
    "fw_NAME.h", "kernels/fw_NAME.h"}
NAME = re.compile(r"(?<![\w./-])[\w/]+\.(?:cuh?|c|h)\b")

files = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True,
    check=True).stdout.split("\n")
names = {pathlib.PurePath(path).name for path in files}
wrong = []
for path in files:
    if not path.startswith(TOPS) or not path.endswith((".c", ".h", ".cu", ".cuh")) or not (ROOT / path).exists():
        continue
    text = (ROOT / path).read_text(errors="replace")
    for comment in re.finditer(r"/\*.*?\*/|//[^\n]*", text, re.S):
        for found in NAME.finditer(comment[0]):
            name = found[0]
            is_there = any(f"/{other}".endswith(f"/{name}") for other in files) if "/" in name else name in names
            if not is_there and name not in OTHERS:
                line = text.count("\n", 0, comment.start() + found.start()) + 1
                wrong.append(f"{path}:{line}: names {name}, which is not there")
print("\n".join(wrong), end="\n" if wrong else "")
sys.exit(bool(wrong))
