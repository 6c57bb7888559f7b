"""A receiver of webhooks and statuses on loopback that behaves as its paths request, and logs all requests. Statuses are answered as their forge does.

usage: receiver.py FOLDER    writes FOLDER/port once it listens, and a JSON line a request to FOLDER/got
"""
import http.server
import json
import os
import re
import sys
import threading
import time

import forge_shapes

folder = sys.argv[1]
lock = threading.Lock()
seen = {}


def count(key):
    with lock:
        seen[key] = seen.get(key, 0) + 1
        return seen[key]


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", "0"))).decode()
        times = count((self.path, self.headers.get("webhook-id", "")))
        status = self.behave(times)
        answer, kind = self.answer_of(status, body)
        with lock, open(folder + "/got", "a") as log:
            log.write(json.dumps({"path": self.path, "at": time.time(), "status": status, "body": body, "method": self.command, "answer": answer,
                                  "answer_type": kind, "headers": {k.lower(): v for k, v in self.headers.items()}}) + "\n")
        if status:
            self.answer(status, answer, kind)

    do_GET = do_POST

    def behave(self, times):
        """The status to answer, 0: none."""
        if self.path == "/flaky":
            return 500 if times == 1 else 204
        if self.path == "/stall":
            if count("stalls") <= 2:  # the first one may end with the daemon that requested it
                time.sleep(60)
                return 0
            return 204
        if self.path == "/late":
            time.sleep(3)
            return 200
        if self.path == "/midway" and times == 1:
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
            self.wfile.flush()
            self.close_connection = True
            self.connection.close()
            return 0
        if self.path == "/busy":
            return 429 if times == 1 else 200
        if self.path == "/moved":
            return 302
        if self.path == "/gone":
            return 410
        return 201

    def answer_of(self, status, body):
        """Body and type of the answer; only forges have one."""
        found = re.search(r"/(repos|projects)/.*/statuses/(\w+)$", self.path)
        if not found or status != 201:
            return "", ""
        forge = "gitlab" if found[1] == "projects" else "gitea" if self.headers.get("Authorization", "").startswith("token ") else "github"
        return json.dumps(forge_shapes.status(forge, json.loads(body), found[2])), "application/json"

    def answer(self, status, text, kind):
        try:
            self.send_response(status)
            if status == 302:
                self.send_header("Location", "/secret")
            if status == 429:
                self.send_header("Retry-After", "9")
            if kind:
                self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())
        except OSError:
            pass  # the client has disconnected

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
server.daemon_threads = True
with open(folder + "/port.part", "w") as file:
    file.write(str(server.server_port))
os.rename(folder + "/port.part", folder + "/port")
server.serve_forever()
