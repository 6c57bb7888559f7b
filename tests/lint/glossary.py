#!/usr/bin/env python3
"""doc/glossary.md is in order, each term has an anchor of its own, and every word that the program has for verdicts, flags, states, kinds, series
and failures is in it, as is the term that each column and each figure of a page is named by, if it is not everybody's word. Prints what is not so; exit status 1 then."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CORE = ROOT / "daemon/core"
# where the words are: a file, and what stands before the list
LISTS = [(f"state/{name}.c", "names[") for name in ("alertkind", "devicestate", "jobkind", "jobstate", "series")]
LISTS += [("verdict/verdict.c", "names["), ("verdict/verdict.c", "beside["), ("verdict/flag.c", "words_of["), ("protocol/record.c", "failures["),
          ("cause/cause.c", "cause_kind_names["), ("cause/cause.c", "cause_confidence_names[")]
# what everybody knows, or knows from git and from forges
PLAIN = """a above address after again an and any as asks at attempt attempts author average backward bad baseline before begun beside best between both branch
by bytes calibrated calls clock code commit commits committed confirmed data differs driver during else ended ends energy every explains fault
finished first for forward found from gives good greatest heard held hits how in instruction it judged kernel last left length limit limited list mb
means median memory method mhz most ms name newest no none number of off offset on one or other our ours outcome parent place points position power
push pushes queued reason report reported repositories repository result retry same samples says share size so speed starts state subject suites sure
temperature than that the them then there time times to took toolkit utc wait waits was what when where which who why work works written year
""".split()
NAMES = {"l1", "l2", "ctas", "sm", "sms", "busy", "j", "w", "cudnn", "gb", "s"}  # of units and of products
wrong = []

page = (ROOT / "doc/glossary.md").read_text()
entries = re.findall(r'^- <a id="([^"]+)"></a>\*\*([^*]+)\*\*', page, re.M)
if len(entries) != len(re.findall(r"^- ", page, re.M)):
    wrong.append("doc/glossary.md: an entry does not begin with its anchor and its term")
order = [re.sub(r"[^a-z0-9]", "", term.lower()) for _, term in entries]
wrong += [f"doc/glossary.md: {entries[i + 1][1]} stands behind {entries[i][1]}" for i in range(len(order) - 1) if order[i] >= order[i + 1]]
wrong += [f"doc/glossary.md: {anchor} is the anchor of {term}" for anchor, term in entries if anchor != re.sub(r"[^a-z0-9]+", "-", term.lower()).strip("-")]
said = set(re.findall(r"[a-z]+", page.lower())) | set(re.findall(r"`([^`]+)`", page.replace("\n ", "")))
for file, before in LISTS:
    text = (CORE / file).read_text()
    begin = text.find(before)
    words = re.findall(r'"(\w+)"', text[begin : text.find("};", begin)])
    if begin < 0 or len(words) < 4:
        wrong.append(f"daemon/core/{file}: there is no list {before}] of words")
    for word in words:
        parts = set(word.split("_"))
        if word not in said and not parts <= said and word != "none":
            wrong.append(f"doc/glossary.md: lacks {word} of daemon/core/{file}")

# ---- what pages name their figures by ----
options = {word.strip() for _, term in entries for word in term.lower().split(",")}
known = set(PLAIN) | NAMES | {word for term in options for word in re.findall(r"[a-z]+", term)}
named = {}
for path in sorted((ROOT / "web").rglob("*.c")):
    if path.parent.name == "api":
        continue  # names of a file for programs
    text = re.sub(r'"\s*\n\s*"', "", path.read_text())
    for columns in re.findall(r"columns\[\] = \{(.*?)\}", text, re.S):
        named.update((name, path) for name in re.findall(r'"[>~^]*((?:[^"\\]|\\.)*)"', columns))
    named.update((name, path) for name in re.findall(r"<dt>([^<>\"%]+)</dt>", text))
for name, path in named.items():
    for word in re.findall(r"[a-z0-9]+", re.sub(r"<[^>]*>|_", " ", name).lower()):
        if not {word, word.removesuffix("s"), word.removesuffix("es")} & known and not word.isdigit():
            wrong.append(f"{path.relative_to(ROOT)}: {word} of “{name}” is not in doc/glossary.md")
if len(named) < 80:
    wrong.append(f"web/: {len(named)} names of columns and figures were found, at least 80 were expected")
print("\n".join(wrong), end="\n" if wrong else "")
sys.exit(bool(wrong))
