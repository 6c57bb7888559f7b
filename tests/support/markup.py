#!/usr/bin/env python3
"""Print tidy's messages about all reachable pages. Usage: markup.py SERVER

Follows links from the first page on, at most EACH pages of a kind (addresses that differ in numbers and arguments alone). Prints a
TAP line a kind, without the plan.
"""
import re, subprocess, sys, urllib.error, urllib.parse, urllib.request

EACH, MOST = 4, 120
# HTML that tidy 5.6 does not know, or removes in its unused output.
UNKNOWN = re.compile(r'trimming empty <|attribute "method" has invalid value "dialog"|proprietary attribute "(aria-[a-z]+|href|role|popover|popovertarget)"'
                     r'|<(svg|path|line|circle|rect|text|g|title|polyline|polygon|defs|marker)> (proprietary|unexpected)')


def kind(path):
    route, _, query = path.partition("?")
    names = "&".join(sorted(set(re.findall(r"(?:^|&)([a-z]+)=", query))))
    return re.sub(r"/[0-9a-f]{7,64}\b|/\d+", "/N", route) + ("?" + names if names else "")


def fetch(server, path):
    try:
        with urllib.request.urlopen(server + path, timeout=60) as answer:
            return answer.headers.get_content_type(), answer.read().decode()
    except urllib.error.HTTPError as e:
        return e.headers.get_content_type(), e.read().decode()


def links(page):
    for address in re.findall(r'href="?([^">\s]+)', page):
        path = address.replace("&amp;", "&").partition("#")[0]
        if path.startswith("/") and not path.startswith(("/api/v1", "/static")):
            yield path


def findings(page):
    said = subprocess.run(["tidy", "-e", "-q", "-utf8"], input=page, capture_output=True, text=True, timeout=60)
    return [line for line in said.stderr.splitlines() if line.startswith("line ") and not UNKNOWN.search(line)]


def main(server):
    left, seen, said = ["/", "/nothing-is-here"], {"/", "/nothing-is-here"}, {}
    while left and len(seen) < MOST * 3:
        path = left.pop(0)
        if len(said.get(kind(path), [])) >= EACH or sum(map(len, said.values())) >= MOST:
            continue
        media, page = fetch(server, path)
        if media != "text/html":
            continue
        said.setdefault(kind(path), []).append((path, findings(page)))
        for path in links(page):
            if path not in seen:
                seen.add(path)
                left.append(path)
    for name, pages in sorted(said.items()):
        bad = [f"{path}: {line}" for path, lines in pages for line in lines]
        print("not ok" if bad else "ok", f"- markup of {name}, {len(pages)} pages")
        for line in bad[:8]:
            print("#", line)
    print("ok" if len(said) > 20 else "not ok", f"- {len(said)} kinds of pages were looked at")


main(sys.argv[1])
