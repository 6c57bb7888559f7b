#!/usr/bin/env python3
"""forge.py FOLDER: comments of reviews, as GitHub (and Gitea, Forgejo) and GitLab store them, thirty a page at most.

FOLDER/port is where it listens, FOLDER/comments.json what is there; FOLDER/requests has a line a change: method, path, header of the token.
A request without a token is 401. Comments that are there from the beginning are read from FOLDER/comments.json.
"""
import http.server
import json
import pathlib
import re
import sys
import urllib.parse

folder = pathlib.Path(sys.argv[1])
kept = folder / "comments.json"
PAGE = 30
NEW = {"/repos/team/kernels/issues/7/comments": "Authorization", "/projects/12/merge_requests/7/notes": "PRIVATE-TOKEN"}
OLD = {r"/repos/team/kernels/issues/comments/(\d+)": "PATCH", r"/projects/12/merge_requests/7/notes/(\d+)": "PUT"}


class Forge(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def handle_one(self):
        url = urllib.parse.urlsplit(self.path)
        comments = json.loads(kept.read_text())
        token = self.headers.get("Authorization") or self.headers.get("PRIVATE-TOKEN")
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not token:
            return self.answer(401, {})
        if self.command != "GET":
            with open(folder / "requests", "a") as log:
                log.write(f"{self.command} {url.path} {token}\n")
        if url.path in NEW and self.headers.get(NEW[url.path]):
            if self.command == "POST":
                comments.append({"id": 1 + max((one["id"] for one in comments), default=0), "body": json.loads(body)["body"]})
                kept.write_text(json.dumps(comments))
                return self.answer(201, comments[-1])
            page = int(urllib.parse.parse_qs(url.query).get("page", ["1"])[0])
            return self.answer(200, comments[(page - 1) * PAGE : page * PAGE])
        for pattern, method in OLD.items():
            found = re.fullmatch(pattern, url.path)
            one = [c for c in comments if found and c["id"] == int(found[1])]
            if one and self.command == method:
                one[0]["body"] = json.loads(body)["body"]
                kept.write_text(json.dumps(comments))
                return self.answer(200, one[0])
        return self.answer(404, {})

    do_GET = do_POST = do_PATCH = do_PUT = handle_one


server = http.server.HTTPServer(("127.0.0.1", 0), Forge)
(folder / "port.new").write_text(str(server.server_port))
(folder / "port.new").rename(folder / "port")
server.serve_forever()
