#!/usr/bin/env python3
"""What only a family knows stands in its folder: no other source names what kernels/fw_NAME.h defines, or a word of its shapes.

families.py          prints each place that is neither the family's nor in LEFT; exit status 1 then
families.py --count  places by file, comments left out
LEFT says who may name how much, and why; what is less than that is a mistake too, so that it only ever shrinks.
"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# beyond what its header defines, what a family's shapes are spoken of with
WORDS = {"attention": "nhq nhk headdim seqlen seqlens causal varlen block_sparse sparsity_ratio attention_case"}
LEFT = {
    # formats of another project's benchmark of attention, read and written as that project has them
    "daemon/core/reading/ffa.c": 11, "daemon/core/reading/ffa_compare.c": 14, "daemon/core/reading/ffa_csv.c": 6,
    "daemon/core/reading/ffa_csv.h": 2, "web/api/ffa.c": 6, "daemon/cli/file/export.c": 1, "daemon/cli/file/compare_files.c": 1,
    # what a repository builds that says nothing, and an example of one that does
    "daemon/core/suite/manifest.c": 2,
    # examples of keys and globs in help texts
    "daemon/cli/catalog.c": 4, "daemon/cli/init/write.c": 1, "web/page/history.c": 4, "web/api/history.c": 2,
}


def uncommented(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", lambda found: "\n" * found[0].count("\n"), text, flags=re.S)


def places():
    for header in sorted(ROOT.glob("kernels/fw_*.h")):
        name = header.stem[3:]
        if name == "kernel":
            continue
        text = uncommented(header.read_text())
        defined = set(re.findall(r"\bFW_\w+(?=\s*(?:=|,|\}|\n\}|\d))", text)) | set(re.findall(r"^(?:struct|enum) (fw_\w+) \{", text, re.M))
        common = set(re.findall(r"\bFW_\w+", (ROOT / "kernels/fw_kernel.h").read_text()))
        words = (defined - common) | set(WORDS.get(name, "").split()) | {name, f"family_{name}"}
        wanted = re.compile(r"(?<!\w)(" + "|".join(sorted(map(re.escape, words), key=len, reverse=True)) + r")(?!\w)")
        if name not in WORDS:  # an everyday word is no concept
            wanted = re.compile(r"(?<!\w)(" + "|".join(sorted((words - {name}), key=len, reverse=True)) + r")(?!\w)")
        for top in ("daemon", "db", "web"):
            for path in sorted((ROOT / top).rglob("*")):
                where = path.relative_to(ROOT).as_posix()
                if path.suffix not in (".c", ".h", ".cu", ".cuh", ".sql") or where.startswith(f"daemon/family/{name}/"):
                    continue
                if "node_modules" in path.parts:
                    continue
                for n, line in enumerate(uncommented(path.read_text()).splitlines(), 1):
                    for found in wanted.finditer(line.split(" -- ")[0] if path.suffix == ".sql" else line):
                        yield where, n, found[1], name


found = list(places())
counts = collections.Counter(where for where, _, _, _ in found)
if sys.argv[1:] == ["--count"]:
    for where, n in sorted(counts.items()):
        print(f"{n:4} {where}")
    sys.exit()
wrong = [f"{where}:{n}: names {word}, which is {family}'s" for where, n, word, family in found if where not in LEFT]
wrong += [f"{where}: names {counts[where]} words of a family where LEFT has {n}" for where, n in LEFT.items() if counts[where] != n]
print("\n".join(wrong), end="\n" if wrong else "")
sys.exit(bool(wrong))
