#!/usr/bin/env python3
"""forge.py FOLDER [FORGE]: comments of reviews, statuses, check runs and permissions, as github, gitlab, gitea or forgejo stores them; without FORGE
GitHub and, below /projects, GitLab.

FOLDER/port is where it listens, FOLDER/comments.json the comments (thirty a page at most); FOLDER/requests has a line a change: method, path,
header of the token. A request without a token is 401. Comments that are there from the beginning are read from FOLDER/comments.json.
FOLDER/permissions.json: {"ann": "write"} by user, of GitLab {"5": 30} by number; without it nobody has one; "hidden": 404.
FOLDER/next has a word a change, the first for the next one: "drop" makes the change and closes the connection, "garbage" makes it and answers no JSON,
a number refuses it with that status. An array of the comments has an ETag and a header Link; a request that has the ETag is 304. FOLDER/reads has the
status and path of each request for comments; while FOLDER/used-up is there, such an answer says that no requests are left for an hour.
FOLDER/checks.json has the check runs, and FOLDER/bodies the JSON of each change, one a line. While FOLDER/limited is there, one change is refused with 403 and Retry-After: 1.
FOLDER/exchanges has a line of JSON for each request and its answer, except those for the token's user, which support/forge_check.py reads.
FOLDER/author: who writes the comments, flopwatch without it; the token of an app, NAME[bot], has no user.
"""
import http.server
import hashlib
import json
import pathlib
import re
import sys
import time
import urllib.parse

import forge_shapes

folder = pathlib.Path(sys.argv[1])
only = sys.argv[2] if len(sys.argv) > 2 else ""
kept = folder / "comments.json"
PAGE = 30
NEW = {"/repos/team/kernels/issues/7/comments": "Authorization", "/projects/12/merge_requests/7/notes": "PRIVATE-TOKEN",
       "/projects/team%2Fkernels/merge_requests/7/notes": "PRIVATE-TOKEN"}
OLD = {r"/repos/team/kernels/issues/comments/(\d+)": "PATCH", r"/projects/(?:12|team%2Fkernels)/merge_requests/7/notes/(\d+)": "PUT"}
COMMENT = re.compile(r"/(?:comments|notes)(?:/\d+)?$")
STATUSES = re.compile(r"/(?:repos/team/kernels|projects/team%2Fkernels)/statuses/(\w+)")
SAME = "Cannot transition status via :enqueue from :pending (Reason(s): Status cannot transition via \"enqueue\")"
CHECKS = "/repos/team/kernels/check-runs"
MEMBER = r"/repos/team/kernels/collaborators/([\w.-]+)/permission|/projects/team%2Fkernels/members/all/(\d+)"


def load(name, otherwise):
    path = folder / name
    return json.loads(path.read_text()) if path.exists() else otherwise


def author():
    path = folder / "author"
    name = path.read_text().strip() if path.exists() else "flopwatch"
    return {"user": {"login": name, "id": 3}, "author": {"username": name, "id": 3}}


class Forge(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def send(self, status, text, kind, headers=()):
        with open(folder / "exchanges", "a") as log:
            log.write(json.dumps({"forge": self.forge, "method": self.command, "path": self.path, "headers": dict(self.headers), "body": self.body.decode(),
                                  "status": status, "answer": text, "answer_type": kind, "fault": self.fault if self.fault in ("drop", "garbage") else ""}) + "\n")
        if self.fault == "drop":
            self.close_connection = True
            return
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if status != 304:
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def answer(self, status, value, headers=()):
        self.send(status, json.dumps(value), "application/json; charset=utf-8", headers)

    def refuse(self, status, headers=()):
        self.send(status, *forge_shapes.error(self.forge, status), headers)

    def answer_change(self, status, value):
        """The change is made; the answer may be lost."""
        if self.fault == "garbage":
            self.send(200, "<html>", "text/html")
        else:
            self.answer(status, forge_shapes.comment(self.forge, value))

    def take_fault(self):
        path = folder / "next"
        words = path.read_text().split() if path.exists() else []
        if words:
            path.write_text("\n".join(words[1:]))
        return words[0] if words else ""

    def list_comments(self, comments, url):
        page = int(urllib.parse.parse_qs(url.query).get("page", ["1"])[0])
        size = max(len(comments), 1) if self.forge in ("gitea", "forgejo") else PAGE # they know no pages of comments
        items = [forge_shapes.comment(self.forge, one) for one in comments[(page - 1) * size : page * size]]
        etag = f'"{hashlib.sha256(json.dumps(items).encode()).hexdigest()[:16]}"'
        headers = [("ETag", etag)] if size == PAGE else []
        if len(comments) > page * size:
            headers.append(("Link", f'<http://forge{url.path}?page={page + 1}>; rel="next", <http://forge{url.path}>; rel="first"'))
        if (folder / "used-up").exists():
            headers += [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", str(int(time.time()) + 3600))]
        is_known = self.headers.get("If-None-Match") == etag
        with open(folder / "reads", "a") as log:
            log.write(f"{304 if is_known else 200} {self.path}\n")
        if not is_known:
            return self.answer(200, items, headers)
        self.send(304, "", "", headers)

    def handle_one(self):
        self.fault = ""
        if only in ("gitea", "forgejo"):
            self.path = self.path.removeprefix("/api/v1")
        url = urllib.parse.urlsplit(self.path)
        comments = json.loads(kept.read_text())
        token = self.headers.get("Authorization") or self.headers.get("PRIVATE-TOKEN")
        body = self.body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.forge = only or ("gitlab" if url.path.startswith("/projects") else "github")
        if not token:
            return self.refuse(401)
        if self.command != "GET":
            with open(folder / "requests", "a") as log:
                log.write(f"{self.command} {url.path} {token}\n")
            with open(folder / "bodies", "a") as log:
                log.write(body.decode() + "\n")
            if (folder / "limited").exists():
                (folder / "limited").unlink()
                return self.refuse(403, [("Retry-After", "1")])
            self.fault = self.take_fault() if COMMENT.search(url.path) else ""
            if self.fault.isdigit():
                return self.refuse(int(self.fault), [("Retry-After", "1")] if self.fault == "429" else [])
        if url.path == "/user" and self.command == "GET":
            one = author()["author" if "PRIVATE-TOKEN" in self.headers else "user"]
            text = json.dumps({"message": "Resource not accessible by integration"} if "[bot]" in str(one) else one)
            self.send_response(403 if "[bot]" in str(one) else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())
            return None
        if url.path in NEW and self.headers.get(NEW[url.path]):
            if self.command == "POST":
                comments.append({"id": 1 + max((one["id"] for one in comments), default=0), "body": json.loads(body)["body"], **author()})
                kept.write_text(json.dumps(comments))
                return self.answer_change(201, comments[-1])
            return self.list_comments(comments, url)
        found = STATUSES.fullmatch(url.path)
        if found:
            sent = json.loads(body)
            if self.forge == "gitlab" and self.is_same_status(f"{found[1]} {sent['name']}", sent["state"]):
                return self.send(400, *forge_shapes.error("gitlab", 400, SAME))
            return self.answer(201, forge_shapes.status(self.forge, sent, found[1]))
        if url.path == CHECKS or url.path.startswith(CHECKS + "/"):
            return self.check_run(url.path, json.loads(body))
        member = re.fullmatch(MEMBER, url.path)
        if member and self.command == "GET":
            found = load("permissions.json", {}).get(member[1] or member[2])
            if member[1] and found == "hidden":
                return self.refuse(404)
            if member[1]: # GitHub knows every user
                return self.answer(200, forge_shapes.permission(self.forge, member[1], found or "read"))
            return self.answer(200, forge_shapes.member(int(member[2]), found)) if found else self.refuse(404)
        for pattern, method in OLD.items():
            found = re.fullmatch(pattern, url.path)
            one = [c for c in comments if found and c["id"] == int(found[1])]
            if one and self.command == method:
                one[0]["body"] = json.loads(body)["body"]
                kept.write_text(json.dumps(comments))
                return self.answer_change(200, one[0])
        return self.refuse(404)

    def is_same_status(self, key, state):
        """Whether the commit has this state, in which GitLab refuses it again, unless it has ended; else store it."""
        states = load("statuses.json", {})
        is_same = states.get(key) == state and state in ("pending", "running")
        states[key] = state
        (folder / "statuses.json").write_text(json.dumps(states))
        return is_same

    def check_run(self, path, sent):
        runs = load("checks.json", [])
        if path == CHECKS and self.command == "POST":
            runs.append({"id": len(runs) + 81, **sent})
            one = runs[-1]
        else:
            one = next((run for run in runs if path == f"{CHECKS}/{run['id']}"), None)
            if not one or self.command != "PATCH":
                return self.refuse(404)
            one.update(sent)
        (folder / "checks.json").write_text(json.dumps(runs))
        return self.answer(201 if self.command == "POST" else 200, forge_shapes.check_run(one))

    do_GET = do_POST = do_PATCH = do_PUT = handle_one


server = http.server.HTTPServer(("127.0.0.1", 0), Forge)
(folder / "port.new").write_text(str(server.server_port))
(folder / "port.new").rename(folder / "port")
server.serve_forever()
