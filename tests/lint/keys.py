#!/usr/bin/env python3
"""Check that doc/reference.md and flopwatch.yaml(5) have exactly the keys that the readers of manifest and suites use, and
flopwatchd.yml(5) every key of the daemon's configuration. Prints each mistake; exit status 1 then."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# reader, headline in doc/reference.md, headline in the man page
PARTS = (("manifest.c", "## The manifest", "# THE MANIFEST"), ("benchmark.c", "### Of each benchmark", "# BENCHMARKS"), ("suite.c", "## Suites", "# SUITES"))
# keys of the first family are with the suite's, those of other families in a page each
wrong = []


def keys_of(path):
    """Keys requested by name; read_name() passes on a name."""
    text = (ROOT / path).read_text()
    requested = re.findall(r"\byaml_get\((?:[^()]|\([^()]*\))*?, (\"\w+\"|\w+)\)", text)
    if len(requested) != len(re.findall(r"\byaml_get\(", text)):
        wrong.append(f"{path}: a key is requested in a way that this script does not see")
    named = re.findall(r"\bread_name\(\w+, \w+, \"(\w+)\"", text)
    return {key.strip('"') for key in requested if key[0] == '"'} | set(named)


def part_of(text, headline):
    """From a headline to the next one of any level."""
    lines = text.splitlines()
    if headline not in lines:
        wrong.append(f"there is no headline {headline}")
        return ""
    at = lines.index(headline) + 1
    end = next((n for n in range(at, len(lines)) if lines[n].startswith("#")), len(lines))
    return "\n".join(lines[at:end])


page = (ROOT / "doc/reference.md").read_text()
man = (ROOT / "etc/man/flopwatch.yaml.5.scd").read_text()
for reader, in_page, in_man in PARTS:
    source = f"daemon/model/{reader}"
    read = keys_of(source)
    if reader == "suite.c":
        read |= keys_of("daemon/families/attention/suite.c")
    rows = re.findall(r"^\| (`[^|]+) \|", part_of(page, in_page), re.M)
    listed_keys = {word for row in rows for path in re.findall(r"`([^`]+)`", row) for word in re.findall(r"\w+", path)}
    shown = {word for name in re.findall(r"^\*([\w., *]+)\*", part_of(man, in_man), re.M) for word in re.findall(r"\w+", name)}
    wrong += [f"doc/reference.md: {in_page[3:].strip('# ')} lacks {key}, which {source} reads" for key in sorted(read - listed_keys)]
    wrong += [f"doc/reference.md: {key} is not read in {source}" for key in sorted(listed_keys - read)]
    wrong += [f"etc/man/flopwatch.yaml.5.scd: {in_man[2:]} lacks {key}, which {source} reads" for key in sorted(read - shown)]
    wrong += [f"etc/man/flopwatch.yaml.5.scd: {key} is not read in {source}" for key in sorted(shown - read)]
for folder in sorted((ROOT / "daemon/families").iterdir()):
    if not folder.is_dir() or folder.name == "attention":
        continue
    page = ROOT / "doc/families" / f"{folder.name}.md"
    table = page.read_text().split("| key |")[1].split("\n\n")[0] if page.exists() else ""
    listed_keys = set(re.findall(r"^\| `(\w+)` \|", table, re.M))
    imports = sorted(folder.glob("torchao*.c"))  # another project's configuration, which has a separate table
    read = set().union(*(keys_of(path.relative_to(ROOT)) for path in folder.glob("*.c") if path not in imports))
    theirs = set(re.findall(r'\b(?:yaml_get|note_key)\([^;]*?"(\w+)"', "".join(path.read_text() for path in imports)))
    listed = set(re.findall(r"`(\w+)`", page.read_text().split("| theirs |")[1].split("\n\n")[0])) if imports else set()
    wrong += [f"{page.relative_to(ROOT)}: of theirs lacks {key}" for key in sorted(theirs - listed)]
    wrong += [f"{page.relative_to(ROOT)}: lacks {key}, which daemon/families/{folder.name} reads" for key in sorted(read - listed_keys)]
    wrong += [f"{page.relative_to(ROOT)}: {key} is not read in daemon/families/{folder.name}" for key in sorted(listed_keys - read)]
man = (ROOT / "etc/man/flopwatchd.yml.5.scd").read_text()
reader = "".join((ROOT / "daemon/flopwatchd/config" / name).read_text() for name in ("config_read.c", "config_secret.c", "config_oidc.c"))
for key in sorted(set(re.findall(r'\(y, \w+, "(\w+)"|^\t\t\{ "(\w+)", \d', reader, re.M)), key="".join):
    key = "".join(key)
    if not re.search(rf"\b{key}\b", man):
        wrong.append(f"etc/man/flopwatchd.yml.5.scd: lacks {key}, which daemon/flopwatchd/config reads")
print("\n".join(wrong), end="\n" if wrong else "")
sys.exit(bool(wrong))
