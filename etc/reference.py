#!/usr/bin/env python3
"""Write the reference pages as Markdown from the sources of the man pages and the catalog of the command line.

reference.py FOLDER FLOPWATCH: FLOPWATCH is the program whose verbs are described; FOLDER gets a page each, and index.md.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def inline(text):
    """*bold* and _italic_ of scdoc as Markdown; a character after a backslash stays as it is."""
    parts = re.split(r"(\\.)", text)
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"(?<![\w*])\*([^*\s][^*]*)\*(?!\w)", r"@@\1@@", parts[i])
        parts[i] = re.sub(r"(?<!\w)_([^_\s][^_]*)_(?!\w)", r"*\1*", parts[i])
        parts[i] = parts[i].replace("@@", "**").replace("<", "\\<")
    return "".join(parts)


def page(source):
    """A page: its title with the section, and its text."""
    lines = source.splitlines()
    out, is_code, is_term = ["# " + lines[0].split(" ")[0]], False, False
    for line in lines[1:]:
        if line.strip().startswith("```"):
            is_code = not is_code
            out.append("```")
        elif is_code:
            out.append(line)
        elif line.startswith("#"):
            mark, title = line.split(" ", 1)
            out.append("#" + mark + " " + (title.capitalize() if mark == "#" else title))
        elif line.startswith("\t"):
            if not is_term:
                for k in range(len(out) - 1, 0, -1):  # the lines before are the term
                    if not out[k] or out[k].startswith(("#", "  ", "- ", "```")):
                        break
                    first = k
                out[first] = "- " + out[first]
                for k in range(first + 1, len(out)):
                    out[k] = "  " + out[k]
                out[-1] += "\\"
            out.append("  " + inline(line.strip("\t")))
        else:
            out.append(inline(line))
        is_term = (is_term or line.startswith("\t")) and (line.startswith("\t") or not line)
    return "\n".join(out).rstrip() + "\n"


def main():
    folder, program = pathlib.Path(sys.argv[1]), sys.argv[2]
    folder.mkdir(parents=True, exist_ok=True)
    pages = {path.stem: path.read_text() for path in sorted((ROOT / "etc/man").glob("*.scd"))}
    verbs = subprocess.run([program, "completion", "verbs"], capture_output=True, text=True, check=True).stdout.split()
    for verb in verbs:
        pages[f"flopwatch-{verb}.1"] = subprocess.run([program, "completion", f"man:{verb}"], capture_output=True, text=True, check=True).stdout
    index = ["# Reference", ""]
    for name in sorted(pages):
        (folder / f"{name}.md").write_text(page(pages[name]))
        about = re.search(r"^# NAME\n+[^\n]* - ([^\n]*)$", pages[name], re.M)
        index.append(f"- [{name[:-2]}({name[-1]})]({name}.md): {inline(about.group(1)) if about else ''}")
    (folder / "index.md").write_text("\n".join(index) + "\n")


main()
