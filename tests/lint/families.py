#!/usr/bin/env python3
"""Check that only a family's folder uses its names: no other source has a definition of kernels/fw_NAME.h, or a word of its shapes.

families.py          prints each occurrence that is neither the family's nor in ALLOWED; exit status 1 then
families.py --count  occurrences by file, without comments
ALLOWED lists the words that a file may have in strings, with the reason; a word that a file no longer has is a mistake too, so that the
list only shrinks.
"""
import collections
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(os.environ.get("ROOT", pathlib.Path(__file__).resolve().parent.parent.parent))
# terms of a family's shapes, in addition to its header's definitions
WORDS = {"attention": "nhq nhk headdim seqlen seqlens causal varlen block_sparse sparsity_ratio attention_case"}
FOREIGN = "columns and keys in files of another project, which hold attention alone"
ALLOWED = {
    "daemon/readers/ffa.c": (FOREIGN, "seqlen sparsity_ratio block_sparse"),
    "daemon/readers/ffa_compare.c": (FOREIGN, "seqlen sparsity_ratio"),
    "daemon/readers/ffa_csv.c": (FOREIGN, "seqlen sparsity_ratio block_sparse attention"),
    "daemon/cli/compare_files.c": (FOREIGN, "block_sparse"),
    "web/api/ffa.c": ("what such files are made of, and a refusal to make an empty one", "seqlen sparsity_ratio attention"),
    "web/site.c": ("the description of such files", "attention"),
    "daemon/cli/propose.c": ("words in the names of files of other projects", "attention"),
    "daemon/cli/export.c": ("the same refusal", "attention"),
    "daemon/cli/catalog.c": ("help: whose files these are, and a key that can be typed", "attention"),
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
        if name not in WORDS:  # a common word is no term of a family
            wanted = re.compile(r"(?<!\w)(" + "|".join(sorted((words - {name}), key=len, reverse=True)) + r")(?!\w)")
        for top in ("daemon", "db", "web"):
            for path in sorted((ROOT / top).rglob("*")):
                where = path.relative_to(ROOT).as_posix()
                if path.suffix not in (".c", ".h", ".cu", ".cuh", ".sql") or where.startswith(f"daemon/families/{name}/"):
                    continue
                if "node_modules" in path.parts:
                    continue
                for n, line in enumerate(uncommented(path.read_text()).splitlines(), 1):
                    for found in wanted.finditer(line.split(" -- ")[0] if path.suffix == ".sql" else line):
                        yield where, n, found[1], name


def is_in_string(where, n, word):
    line = uncommented((ROOT / where).read_text()).splitlines()[n - 1]
    bare = re.sub(r"'(?:\\.|[^'\\])'", "0", line)
    return not re.search(rf"(?<!\w){re.escape(word)}(?!\w)", re.sub(r'"(?:\\.|[^"\\])*"', '""', bare))


found = list(places())
counts = collections.Counter(where for where, _, _, _ in found)
if sys.argv[1:] == ["--count"]:
    for where, n in sorted(counts.items()):
        print(f"{n:4} {where}: {ALLOWED[where][0] if where in ALLOWED else 'not allowed'}")
    sys.exit()
wrong, seen = [], collections.defaultdict(set)
for where, n, word, family in found:
    seen[where].add(word)
    if word not in ALLOWED.get(where, ("", ""))[1].split():
        wrong.append(f"{where}:{n}: names {word}, which is {family}'s")
    elif not is_in_string(where, n, word):
        wrong.append(f"{where}:{n}: names {word} outside of a string; only its text is another's")
for where, (_, words) in ALLOWED.items():
    wrong += [f"{where}: names {word} no more; take it out of ALLOWED" for word in words.split() if word not in seen[where]]
print("\n".join(wrong), end="\n" if wrong else "")
sys.exit(bool(wrong))
