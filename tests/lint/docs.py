#!/usr/bin/env python3
"""Check the documents: length, links, tables, and names of files. Prints each mistake; exit status 1 then."""
import fnmatch
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LINES_MAX = {"README.md": 150, "ARCHITECTURE.md": 100, "doc/STYLE.md": 80, "CONTRIBUTING.md": 50, "SECURITY.md": 50}
WIDTH_MAX = 120
SHAPES = {"etc/suites/NAME.yaml", "kernels/fw_NAME.h", "fw_NAME.h", "doc/families/NAME.md", "etc/suites/MINE.yaml", "tests/FOLDER/test_NAME.c", "tests/FOLDER/fuzz_NAME.c", "test_NAME.sh"}  # example names
SOURCE = re.compile(r"[\w./*<>-]+\.(?:c|h|cu|sh|py|sql|md|txt|yaml|yml|js|svg)\b")

files = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True,
    check=True).stdout.split("\n")
names = {pathlib.PurePath(path).name for path in files}
pages = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"] + sorted(path for path in files if fnmatch.fnmatch(path, "doc/*.md"))
wrong = []


def anchors_of(text):
    """Anchors of headlines as forges make them, and explicit ones."""
    prose = re.sub(r"^ *```.*?^ *```", "", text, flags=re.M | re.S)
    found = set(re.findall(r'<a id="([^"]+)">', prose))
    for headline in re.findall(r"^#+ (.*)$", prose, re.M):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", headline).lower()
        found.add(re.sub(r"[^\w -]", "", words).replace(" ", "-"))
    return found


def check_tables(page, prose):
    """A table's rows have as many columns as its headline. A table that was folded into a paragraph has its ruler in a line of text."""
    columns = 0
    for line in prose.splitlines():
        if not line.startswith("|"):
            columns = 0
            continue
        cells = len(re.findall(r"(?<!\\)\|", re.sub(r"`[^`]*`", "", line))) - 1
        columns = columns or cells
        if cells != columns or not line.rstrip().endswith("|"):
            wrong.append(f"{page}: a row of {cells} columns in a table of {columns}: {line[:60]}")


def is_there(name):
    """Whether a file exists: below the root, daemon/ (as in includes) or tests/; a name without a folder, anywhere."""
    if name in SHAPES or "<" in name or name.startswith("."):
        return True
    if "/" not in name:
        return bool(fnmatch.filter(names, name))
    return any(fnmatch.filter(files, top + name) for top in ("", "daemon/", "tests/"))


for page in pages:
    text = (ROOT / page).read_text()
    lines = text.splitlines()
    if len(lines) > LINES_MAX.get(page, len(lines)):
        wrong.append(f"{page}: {len(lines)} lines, {LINES_MAX[page]} are allowed")
    for n, line in enumerate(lines, 1):
        if len(line) > WIDTH_MAX and not line.startswith("|"):
            wrong.append(f"{page}:{n}: {len(line)} characters, {WIDTH_MAX} are allowed")
        for link, anchor in re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", line):
            file = (ROOT / page).parent.joinpath(link) if link else ROOT / page
            if "://" in link:
                continue
            if not file.exists():
                wrong.append(f"{page}:{n}: there is no {link}")
            elif anchor and file.suffix == ".md" and anchor not in anchors_of(file.read_text()):
                wrong.append(f"{page}:{n}: {link} has no #{anchor}")
    prose = re.sub(r"^ *```.*?^ *```", "", text, flags=re.M | re.S)
    check_tables(page, prose)
    for quoted in re.findall(r"`([^`\n]+)`", prose):
        if " " in quoted or "{" in quoted or quoted.startswith("/"):
            continue
        for name in SOURCE.findall(quoted):
            if not is_there(name):
                wrong.append(f"{page}: there is no {name}")
print("\n".join(wrong), end="\n" if wrong else "")
sys.exit(bool(wrong))
