#!/usr/bin/env python3
"""names.py FOLDER: branches, authors, subjects, rows and logs of hostile text, from the push to each output.

FOLDER is made by test_names.sh. Texts contain tags, attributes, formulas, escapes of terminals, bytes that are no
UTF-8. In pages, feeds and pictures they never become elements or attributes; JSON and CSV keep their form; nothing
that people read has a control or hidden character.
"""
import csv
import html.parser
import io
import itertools
import json
import os
import pathlib
import signal
import subprocess
import sys
import urllib.parse
import xml.etree.ElementTree

from campaign import Campaign, Daemon, until

PIECES = [b"<x91 y92=1>", b"</td></tr></table><x91>", b'" y92="1', b"' y92='1", b"</title></script><x91 y92>", b"<!--",
    b"&lt;x91&gt;", b"&#60;x91&#62;", b"javascript:x91",
          b"=1+1", b"+1", b"-1", b"@SUM(A1)", b"$(touch x91)", b"`touch x91`", b";touch x91", b"|x91|", b"%00", b"%2e%2e",
          b"%s%n", b"\\u003cx91\\u003e", b"{\"a\":", b"]}", b"]]>",
          b"[x91](javascript:1)", b"![x91](http://127.0.0.1:1/)", b"**", b"`", b"```", b"| a | b |", b"\xff\xfe", b"\xc0\xaf",
          b"\xed\xa0\x80", b"\xe2\x80\xae", b"\xe2\x81\xa6", b"\xe3\x85\xa4", b"\xe1\x85\x9f",
          b"\xef\xbb\xbf", b"\xc2\x9b2J", b"\xcc\x81" * 20, b"\xf0\x9f\x98\x80", b"\xe2\x80\xa8", b"#", b"--help", b"-x",
          b"refs/heads/main", b"HEAD", b"a" * 60, b",", b"'", b'"']
CONTROLS = [b"\x1b[2J\x1b]0;x91\x07", b"\r\nSet-Cookie: x91=1\r\n\r\n", b"\n<0>ev=x91\n", b"\t", b"\x7f", b"\x08" * 5]
TOGETHER = 8  # branches between two checks of what shows all of them
REFUSED_IN_REFS = b" ~^:?*[\\\x7f" + bytes(range(32))


def hostile(rng, pieces):
    return b"".join(rng.choice(pieces) for _ in range(rng.randint(1, 4)))


def ref_name(rng, n):
    name = bytes(c for c in hostile(rng, PIECES) if c not in REFUSED_IN_REFS)
    for bad, good in ((b"..", b"."), (b"@{", b"@"), (b"//", b"/"), (b"/.", b"/")):
        while bad in name:
            name = name.replace(bad, good)
    return name.strip(b"/.")[:150] + b"_%d" % n


def is_hidden(c):
    """As utf8_is_hidden of daemon/lib/utf8.c, without line ends and tabs."""
    code = ord(c)
    return c not in "\n\r\t" and (code < 0x20 or 0x7f <= code < 0xa0 or code in (0xad, 0x61c, 0x180e, 0xfeff)
        or 0x200b <= code <= 0x200f or
                                  0x2028 <= code <= 0x202e or 0x2060 <= code <= 0x206f or 0xfff9 <= code <= 0xfffb
                                      or 0xe0000 <= code <= 0xe007f or code in (0x34f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x2800, 0x3164, 0xffa0))


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.faults = []

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name.startswith("on") or "y92" in name or (name in ("href", "src", "action")
                and (value or "").strip().lower().startswith(("javascript:", "data:text"))):
                self.faults.append(f"attribute {name}={value} of {tag}")
        if "x91" in tag or (tag == "script" and not dict(attributes).get("src")) or tag in ("iframe", "object", "embed",
            "base"):
            self.faults.append(f"element {tag} {attributes}")

    def handle_comment(self, data):
        self.faults.append(f"a comment {data[:60]}")


def clean(what, data):
    """Text without hidden characters, and the faults of it."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return data.decode(errors="replace"), [f"{what} is not UTF-8: {error}"]
    found = [f"{ord(c):x}" for c in text if is_hidden(c)]
    return text, [f"{what} has hidden characters {found[:5]}"] if found else []


def page_faults(what, data):
    text, faults = clean(what, data)
    page = Page()
    page.feed(text)
    return faults + [f"{what}: {f}" for f in page.faults]


def json_faults(what, data):
    _, faults = clean(what, data)
    try:
        json.loads(data)
    except ValueError as error:
        faults.append(f"{what} is not JSON: {error}")
    return faults


def csv_faults(what, data):
    text, faults = clean(what, data)
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    if len({len(row) for row in rows}) > 1:
        faults.append(f"{what} has rows of {sorted({len(row) for row in rows})} columns")
    for row in rows:
        for cell in row:
            if cell[:1] in "=+-@\t" and cell and not is_number(cell):
                faults.append(f"{what} has the formula {cell[:60]}")
    return faults


def is_number(text):
    try:
        float(text)
        return True
    except ValueError:
        return False


def xml_faults(what, data):
    _, faults = clean(what, data)
    try:
        for node in xml.etree.ElementTree.fromstring(data).iter():
            if "x91" in str(node.tag) or any("y92" in name or name.startswith("on") for name in node.attrib):
                faults.append(f"{what}: element {node.tag} {node.attrib}")
    except xml.etree.ElementTree.ParseError as error:
        faults.append(f"{what} is no XML: {error}")
    return faults


def markdown_faults(what, data):
    """Outside of code no tag and no link to anywhere but the daemon."""
    text, faults = clean(what, data)
    plain = ""
    for i, part in enumerate(split_code(text)):
        plain += "" if i % 2 else part
    plain = plain.replace("\\<", "").replace("\\[", "").replace("\\]", "").replace("\\!", "")
    if "<x91" in plain or "](javascript" in plain or "![x91]" in plain:
        faults.append(f"{what} has markup of the branch: {plain[:300]!r}")
    return faults


def split_code(text):
    """Text and code spans by turns, as CommonMark finds them: a run of backticks ends at the next one of its length."""
    parts, at = [""], 0
    while at < len(text):
        if text[at] == "\\" and at + 1 < len(text):
            parts[-1] += text[at:at + 2]
            at += 2
            continue
        if text[at] != "`":
            parts[-1] += text[at]
            at += 1
            continue
        run = len(text[at:]) - len(text[at:].lstrip("`"))
        end = at + run
        while (end := text.find("`" * run, end)) >= 0 and (text[end + run:end + run + 1] == "`" or text[end - 1] == "`"):
            end += 1
        if end < 0:
            parts[-1] += text[at:at + run]
            at += run
        else:
            parts += [text[at + run:end], ""]
            at = end + run
    return parts


class Repository:
    def __init__(self, folder):
        self.bare, self.main = folder / "lines.git", None
        self.main = self.git("rev-parse", "main").strip().decode()

    def git(self, *words, env=None, data=None):
        return subprocess.run(["git", "--git-dir", self.bare, *words], check=True, capture_output=True, input=data,
            env=dict(os.environb, **(env or {}))).stdout

    def push(self, name, author, subject, script):
        blob = self.git("hash-object", "-w", "--stdin", data=script).strip()
        listed = [line for line in self.git("ls-tree", "main").splitlines() if not line.endswith(b"\tbench.sh")]
        tree = self.git("mktree", data=b"\n".join([*listed, b"100644 blob " + blob + b"\tbench.sh"]) + b"\n").strip()
        author = author.translate(None, b"<>\n\0") or b"a"
        head = b"tree " + tree + b"\nparent " + self.main.encode()
        commit = (head + b"\nauthor " + author + b" <" + author + b"> 1750000000 +0000\ncommitter " + author +
                  b" <c@example.org> 1750000000 +0000\n\n" + subject.replace(b"\0", b"") + b"\n")
        sha = self.git("hash-object", "-w", "-t", "commit", "--literally", "--stdin", data=commit).strip().decode()
        self.git("update-ref", b"refs/heads/" + name, sha)
        return sha


def script_of(rng, row, log):
    line = json.dumps({"cell": row, "ms": [1.5] * 3}).encode()
    one = b'{"cell":"one","ms":[1.3,1.3,1.3]}' if rng.random() < 0.3 else b'{"cell":"one","ms":[1,1,1]}'
    quote = lambda text: b"'" + text.replace(b"\0", b"").replace(b"'", b"'\\''") + b"'"
    return b"printf '%s\\n' " + quote(log) + b" >&2\nprintf '%s\\n' " + quote(line) + b" " + quote(one) + b"\n"


class Trial:
    """One branch of hostile text; `sha` is None if git refuses it."""

    def __init__(self, repository, rng, n):
        self.n, texts = n, PIECES + CONTROLS
        name, author, subject, log = ref_name(rng, n), hostile(rng, texts), hostile(rng, texts), hostile(rng, texts)
        self.row = hostile(rng, PIECES).decode(errors="replace")
        self.what = f"branch {name!r}, author {author!r}, subject {subject!r}, row {self.row!r}, log {log!r}"
        try:
            self.sha = repository.push(name, author, subject, script_of(rng, self.row, log))
        except subprocess.CalledProcessError:
            self.sha = None

    def faults(self, daemon, repository):
        ended = lambda: daemon.rows("SELECT id, state, state_why FROM job WHERE target_sha = ? AND state IN ('done', 'failed')",
                                    self.sha)
        if not until(ended):
            return [f"not judged: {daemon.rows('SELECT state, state_why FROM job WHERE target_sha = ?', self.sha)}"]
        job, state, why = ended()[0]
        comparison = daemon.rows("SELECT id FROM comparison WHERE job = ?", job)
        if not comparison:
            return [f"{state}: {why}"]
        c = comparison[0][0]
        # a browser sends the name; a script the key
        asked = urllib.parse.quote(daemon.rows("SELECT name FROM branch_tip WHERE commit_sha = ?", self.sha)[0][0])
        alert = daemon.rows("SELECT id FROM alert WHERE target_sha = ?", self.sha)
        cell = urllib.parse.quote(self.row)
        found = ask(daemon, [(page_faults, path) for path in (
            f"/comparisons/{c}", f"/jobs/{job}", f"/commits/{self.sha}", f"/branches?repo=lines&branch={asked}",
            f"/history?repo=lines&cell={cell}", f"/search?q={cell}")] + [(json_faults, "/api/v1" + path) for path in (
                f"/comparisons/{c}", f"/jobs/{job}", f"/commits/{self.sha}", f"/branches?repo=lines&branch={asked}",
                f"/history?repo=lines&cell={cell}", f"/comparisons/{c}/reproduce")] + [
            (csv_faults, f"/api/v1/comparisons/{c}.csv"), (markdown_faults, f"/api/v1/comparisons/{c}.md"),
            (xml_faults, f"/api/v1/comparisons/{c}.svg"), (xml_faults, f"/api/v1/badge.svg?repo=lines&branch={asked}"),
            (xml_faults, f"/api/v1/history.svg?repo=lines&cell={cell}")] + [
            (page_faults, f"/alerts/{id}") for id, in alert])
        status, data = daemon.request("GET", f"/api/v1/branches?repo=lines&branch={asked}")
        if status != 200 or len(json.loads(data)["items"]) != 1:
            found.append(f"the branch is not found by its key: {status} {data[:200]!r}")
        found += run(daemon, ["wait", self.sha, "--quiet", "--long"], ["log", f"J{job}"], ["history", self.row.lstrip("-") or "x"])
        if until(lambda: repository.git("notes", "--ref", "flopwatch", "list").find(self.sha.encode()) >= 0, 60):
            return found + clean("the note", repository.git("notes", "--ref", "flopwatch", "show", self.sha))[1]
        return found + ["there is no note"]


def ask(daemon, checks):
    found = []
    for check, path in checks:
        status, data = daemon.request("GET", path)
        if status == 200:
            found += check(path, data)
        elif status not in (303, 404, 400, 409):
            found.append(f"{path}: {status} {data[:200]!r}")
    return found


def run(daemon, *commands):
    found, port = [], (daemon.folder / "state/port").read_text().strip()
    for words in commands:
        done = subprocess.run([daemon.folder / "bin/flopwatch", "--server", f"http://127.0.0.1:{port}", *words],
                              capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
        for out in (done.stdout, done.stderr):
            found += clean(f"flopwatch {words[0]}", out)[1]
    return found


class Lists:
    """What shows the last trials together, the log and the files."""

    def __init__(self):
        self.read = 0

    def faults(self, daemon):
        found = ask(daemon, [(page_faults, path) for path in ("/", "/comparisons", "/jobs", "/alerts")] + [
            (json_faults, "/api/v1/alerts"), (json_faults, "/api/v1/jobs"), (csv_faults, "/api/v1/report?format=csv"),
            (markdown_faults, "/api/v1/report?format=md"), (xml_faults, "/alerts.atom"), (xml_faults, "/comparisons.atom")])
        found += run(daemon, ["status"], ["jobs"], ["alerts"])
        if list(daemon.folder.rglob("x91")):
            found.append("a command of the text ran")
        with open(daemon.log, "rb") as log:
            log.seek(self.read)
            lines = log.read().splitlines(keepends=True)
        for line in lines:
            if not line.endswith(b"\n"):  # the next call reads it whole
                break
            self.read += len(line)
            if not (line.startswith(b"<") and b">ev=" in line[:6]) and not line.startswith((b"listening",
                b"flopwatchd:")) or b"<0>ev=x91" in line[:12]:
                found.append(f"a line of the log is no event: {line[:200]!r}")
        return found


def main():
    folder = pathlib.Path(sys.argv[1])
    campaign, daemon, repository, lists = Campaign("names", 20), Daemon(folder), Repository(folder), Lists()
    if not daemon.start() or not until(lambda: daemon.rows("SELECT 1 FROM comparison")):
        sys.exit(f"the daemon does not start: {daemon.last_lines()}")
    daemon.open_reader()
    trials = campaign.trials()
    while made := [Trial(repository, rng, n) for n, rng in itertools.islice(trials, TOGETHER)]:
        made = [trial for trial in made if trial.sha]
        daemon.request("POST", "/api/v1/repos/lines/fetches", {})
        found = [trial.faults(daemon, repository) for trial in made]
        if made:
            found[-1] += lists.faults(daemon)
        for trial, faults in zip(made, found):
            campaign.count(trial.what, faults, trial.n)
    if daemon.end(signal.SIGTERM) != 0:
        campaign.count("the end", [f"flopwatchd ends with {daemon.process.returncode}"])
    campaign.finish()


main()
