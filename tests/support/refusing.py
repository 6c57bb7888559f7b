#!/usr/bin/env python3
"""A server in the daemon's place that refuses requests.

refusing.py PORT_FILE STATUS [DETAIL] [-- PATH=JSON...]

Each request gets STATUS, with DETAIL in a problem document or, without it, the text of a proxy; but a PATH (without its query) gets its
JSON. The port goes into PORT_FILE. Answers with status 429 name one second in Retry-After.
"""
import http.server
import json
import os
import sys


def main():
    words, answers = sys.argv[1:], {}
    if "--" in words:
        at = words.index("--")
        answers = dict(pair.split("=", 1) for pair in words[at + 1:])
        words = words[:at]
    port_file, status, detail = words[0], int(words[1]), words[2] if len(words) > 2 else None

    class Handler(http.server.BaseHTTPRequestHandler):
        def answer(self):
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            body, kind, code = answers.get(self.path.split("?")[0]), "application/json", 200
            if body is None:
                body, kind, code = "<h1>Sorry</h1>", "text/html", status
                if detail:
                    body, kind = json.dumps({"status": status, "detail": detail}), "application/problem+json"
            self.send_response(code)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            if code == 429:
                self.send_header("Retry-After", "1")
            self.end_headers()
            self.wfile.write(body.encode())

        do_GET = do_POST = answer

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    with open(port_file + ".new", "w") as f:
        f.write(str(server.server_port))
    os.rename(port_file + ".new", port_file)
    server.serve_forever()


main()
