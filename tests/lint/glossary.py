#!/usr/bin/env python3
"""Check that doc/glossary.md is sorted, each term has a separate anchor, and every name of a verdict, flag, state, kind, series
and failure is in it. Prints each mistake; exit status 1 then."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# position of the names: a file, and the text before the list
LISTS = [("model/names.c", f"{name}_names[") for name in ("alertkind", "devicestate", "jobkind", "series")]
LISTS += [("model/jobstate.c", "names["), ("verdict/verdict.c", "names["), ("verdict/verdict.c", "against_peer["), ("verdict/flag.c", "words_of["),
          ("protocol/record.c", "failures["), ("profile/cause.c", "cause_kind_names["), ("profile/cause.c", "cause_confidence_names[")]
wrong = []

page = (ROOT / "doc/glossary.md").read_text()
entries = re.findall(r'^- <a id="([^"]+)"></a>\*\*([^*]+)\*\*', page, re.M)
if len(entries) != len(re.findall(r"^- ", page, re.M)):
    wrong.append("doc/glossary.md: an entry does not begin with its anchor and its term")
order = [re.sub(r"[^a-z0-9]", "", term.lower()) for _, term in entries]
wrong += [f"doc/glossary.md: {entries[i + 1][1]} comes after {entries[i][1]}" for i in range(len(order) - 1) if order[i] >= order[i + 1]]
wrong += [f"doc/glossary.md: {anchor} is the anchor of {term}" for anchor, term in entries if anchor != re.sub(r"[^a-z0-9]+", "-", term.lower()).strip("-")]
listed = set(re.findall(r"[a-z]+", page.lower())) | set(re.findall(r"`([^`]+)`", page.replace("\n ", "")))
for file, before in LISTS:
    text = (ROOT / "daemon" / file).read_text()
    begin = text.find(before)
    words = re.findall(r'"(\w+)"', text[begin : text.find("};", begin)])
    if begin < 0 or len(words) < 4:
        wrong.append(f"daemon/{file}: there is no list {before}] of words")
    for word in words:
        parts = set(word.split("_"))
        if word not in listed and not parts <= listed and word != "none":
            wrong.append(f"doc/glossary.md: lacks {word} of daemon/{file}")

print("\n".join(wrong), end="\n" if wrong else "")
sys.exit(bool(wrong))
