#!/usr/bin/env python3
"""Write the reference pages from the sources of the man pages and the catalog of the command line.

reference.py FOLDER FLOPWATCH: FLOPWATCH is the program whose verbs are described; FOLDER gets a page of Markdown each, and index.md.
reference.py FILE.html [FLOPWATCH]: all pages as HTML in one file, which flopwatchd serves; each begins with a line
<!--page NAME TITLE-->. Without FLOPWATCH it has no pages of verbs.
"""
import html
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


def span(text, names):
    """A line of Markdown as HTML, with links to the pages in `names`."""
    kept = []

    def keep(found):  # an escaped character is never markup
        kept.append(found.group(1))
        return f"\0{len(kept) - 1}\0"
    text = html.escape(re.sub(r"\\(.)", keep, text), quote=False)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", text)
    text = re.sub(r"\*([^*\s][^*]*)\*", r"<i>\1</i>", text)
    text = re.sub(r"(?<![\w;])_([^_\s][^_]*)_", r"<i>\1</i>", text)
    text = re.sub(r"\0(\d+)\0", lambda found: html.escape(kept[int(found.group(1))], quote=False), text)

    def link(found):
        name = f"{found.group(2)}.{found.group(4)}"
        return f'<a href="/reference/{name}">{found.group(0)}</a>' if name in names else found.group(0)
    return re.sub(r"(<b>)?\b(flopwatch[\w.-]*)(</b>)?\((\d)\)", link, text)


def block(lines, names):
    """A paragraph, or a term with the text that describes it."""
    if not lines[0].startswith("- "):
        return "<p>" + span(" ".join(line.strip() for line in lines), names) + "</p>\n"
    end = next((i for i, line in enumerate(lines) if line.endswith("\\")), len(lines) - 1)
    term, text = lines[: end + 1], lines[end + 1 :]
    term = " ".join(line.strip() for line in term)[2:].removesuffix("\\")
    return f"<dt>{span(term, names)}</dt><dd>{span(' '.join(line.strip() for line in text), names)}</dd>\n"


def as_html(markdown, names):
    """A page without its title. Terms in sequence become one list."""
    out, lines, code, is_list = [], [], None, False

    def finish():
        nonlocal lines, is_list
        if not lines:
            return
        is_term = lines[0].startswith("- ")
        if is_term != is_list and (is_term or not lines[0].startswith("  ")):
            out.append('<dl class="card words">\n' if is_term else "</dl>\n")
            is_list = is_term
        if is_list and not is_term:  # a further paragraph of the term before
            out.append("<dd>" + span(" ".join(line.strip() for line in lines), names) + "</dd>\n")
        else:
            out.append(block(lines, names))
        lines = []
    for line in markdown.splitlines()[1:] + [""]:
        if line.strip().startswith("```"):
            finish()
            if code is not None:
                tag = "dd" if is_list else "div"
                out.append(f"<{tag}><pre class=log>{html.escape(chr(10).join(code), quote=False)}</pre></{tag}>\n")
            code = [] if code is None else None
        elif code is not None:
            code.append(line)
        elif line.startswith("#"):
            finish()
            if is_list:
                out.append("</dl>\n")
                is_list = False
            mark, title = line.split(" ", 1)
            out.append(f"<h{len(mark)}>{span(title, names)}</h{len(mark)}>\n")
        elif line.strip():
            lines.append(line)
        else:
            finish()
    return "".join(out) + ("</dl>\n" if is_list else "")


def title_of(name):
    return f"{name[:-2]}({name[-1]})"


def write_markdown(folder, pages, about):
    folder.mkdir(parents=True, exist_ok=True)
    index = ["# Reference", ""]
    for name in sorted(pages):
        (folder / f"{name}.md").write_text(pages[name])
        index.append(f"- [{title_of(name)}]({name}.md): {about[name]}")
    (folder / "index.md").write_text("\n".join(index) + "\n")


def write_html(file, pages, about):
    sections = {"1": "Command line", "5": "Files", "8": "Programs of the daemon"}
    out = ["<!--page index Reference-->\n"]
    for section, title in sections.items():
        rows = [f'<dt><a href="/reference/{name}">{title_of(name)}</a></dt><dd>{span(about[name], {})}</dd>\n'
                for name in sorted(pages) if name.endswith("." + section)]
        out.append(f'<h2>{title}</h2>\n<dl class="facts card words">\n{"".join(rows)}</dl>\n')
    for name in sorted(pages):
        out.append(f"<!--page {name} {title_of(name)}-->\n{as_html(pages[name], pages)}")
    file.write_text("".join(out))


def main():
    target, program = pathlib.Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None
    sources = {path.stem: path.read_text() for path in sorted((ROOT / "etc/man").glob("*.scd"))}
    ask = lambda what: subprocess.run([program, "completion", what], capture_output=True, text=True, check=True).stdout
    for verb in ask("verbs").split() if program else []:
        sources[f"flopwatch-{verb}.1"] = ask(f"man:{verb}")
    about = {}
    for name, source in sources.items():
        found = re.search(r"^# NAME\n+[^\n]* - ([^\n]*)$", source, re.M)
        about[name] = inline(found.group(1)) if found else ""
    (write_html if target.suffix == ".html" else write_markdown)(target, {name: page(s) for name, s in sources.items()}, about)


main()
