#!/usr/bin/env python3
"""Every message that heads an entry of doc/troubleshooting.md is one that the sources hold: its fixed parts, in their order, in one string.
Prints what is not so; exit status 1 then."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = "doc/troubleshooting.md"
LEAST = 45  # entries; a page whose headlines are not understood would pass else
CONVERSION = re.compile(r"%[-+ 0#]*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:ll|l|z|h)?[a-zA-Z]")


def strings_of(path):
    """Constant texts, those that stand side by side (also by a macro that is one) put together."""
    text = path.read_text(errors="replace")
    text = re.sub(r'"\s*\n?\s*"', "", text)
    for found in re.findall(r'"((?:[^"\\\n]|\\.)*)"', text):
        found = found.replace('\\"', '"').replace("\\n", " ")
        yield CONVERSION.sub("\x00", found.replace("%%", "\x01")).replace("\x01", "%")


texts = [text for top in ("daemon", "db", "web") for path in sorted((ROOT / top).rglob("*.c")) for text in strings_of(path) if len(text) > 12]
messages = [found[1] for found in re.findall(r"^### (`+)(.*)\1$", (ROOT / PAGE).read_text(), re.M)]
wrong = []
for message in messages:
    parts = [re.escape(part.strip(" ")) for part in message.split("…") if part.strip(" ")]
    shape = re.compile(r".*?".join(parts), re.S)
    if not any(shape.search(text) for text in texts):
        wrong.append(f"{PAGE}: no source says `{message}`")
if len(messages) < LEAST:
    wrong.append(f"{PAGE}: {len(messages)} messages were found, at least {LEAST} were expected")
print("\n".join(wrong), end="\n" if wrong else "")
sys.exit(bool(wrong))
