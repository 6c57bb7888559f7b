#!/usr/bin/env python3
"""Check that every message in a headline of doc/troubleshooting.md is in the sources: its fixed parts, in their order, in one string;
that every anchor of that page in a source exists; and that each string with the message of an anchored entry names the anchor.
Prints each mistake; exit status 1 then."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = "doc/troubleshooting.md"
LEAST = 45  # entries; a page with unparsable headlines would pass otherwise
CONVERSION = re.compile(r"%[-+ 0#]*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:ll|l|z|h)?[a-zA-Z]")


def strings_of(path):
    """Constant texts, with adjacent ones (also by a macro) concatenated."""
    text = path.read_text(errors="replace")
    text = re.sub(r'"\s*\n?\s*"', "", text)
    for found in re.findall(r'"((?:[^"\\\n]|\\.)*)"', text):
        found = found.replace('\\"', '"').replace("\\n", " ")
        yield CONVERSION.sub("\x00", found.replace("%%", "\x01")).replace("\x01", "%")


texts = [text for top in ("daemon", "db", "web") for path in sorted((ROOT / top).rglob("*.c")) for text in strings_of(path) if len(text) > 12]
page = (ROOT / PAGE).read_text()
messages = [(found[1], found[3]) for found in re.finditer(r'^### (?:<a id="([^"]+)"></a>)?(`+)(.*)\2$', page, re.M)]
wrong = []
for position, message in messages:
    parts = [re.escape(part.strip(" ")) for part in message.split("…") if part.strip(" ")]
    shape = re.compile(r".*?".join(parts), re.S)
    found_in = [text for text in texts if shape.search(text)]
    if not found_in:
        wrong.append(f"{PAGE}: no source has `{message}`")
    if position and not all(f"see {PAGE}#{position}" in text for text in found_in):
        wrong.append(f"{PAGE}: `{message}` does not name its anchor #{position}")
if len(messages) < LEAST:
    wrong.append(f"{PAGE}: {len(messages)} messages were found, at least {LEAST} were expected")
positions = re.findall(r'<a id="([^"]+)"></a>', page)
wrong += [f"{PAGE}: #{position} is there twice" for position in set(positions) if positions.count(position) > 1]
named = {position for text in texts for position in re.findall(re.escape(PAGE) + r"#([\w-]+)", text)}
wrong += [f"{PAGE}: has no #{position}, which a source names" for position in sorted(named - set(positions))]
wrong += [f"{PAGE}: no source names #{position}" for position in sorted(set(positions) - named)]
print("\n".join(wrong), end="\n" if wrong else "")
sys.exit(bool(wrong))
