"""Chats on loopback that answer as the documents of their services describe, strictly, and log all requests.

usage: chat_server.py FOLDER    writes FOLDER/chat.port once it listens, and a JSON line a request to FOLDER/chat; a file
                                FOLDER/delete-threads deletes the threads of Discord before the next request

  /_matrix/...      a Matrix homeserver with the room !room:example.org and the token matrix-token-1
  /discord/KIND     KIND forum, text, or html: an answer that is no JSON
  /teams            a workflow that posts adaptive cards
  /slack            an incoming webhook
  /denied           403
  /removed          410
  /limited          429 with Retry-After the first time of each message, then as slack
"""
import http.server
import json
import os
import re
import sys
import threading
import time
import urllib.parse

folder = sys.argv[1]
lock = threading.Lock()
events = {}  # of Matrix: transaction to event
threads = []  # of Discord
deleted = set()  # threads
limited = set()
MATRIX = re.compile(r"/_matrix/client/v3/rooms/([^/]+)/send/m\.room\.message/([^/]+)$")


def matrix(method, path, headers, body):
    found = MATRIX.match(path)
    if method != "PUT" or not found:
        return 404, {"errcode": "M_UNRECOGNIZED"}
    if headers.get("authorization") != "Bearer matrix-token-1":
        return 401, {"errcode": "M_UNKNOWN_TOKEN"}
    if urllib.parse.unquote(found[1]) != "!room:example.org":
        return 403, {"errcode": "M_FORBIDDEN"}
    # m.mentions: names that a text mentions must notify no user (MSC3952, version 1.7 of the interface)
    if set(body) - {"msgtype", "body", "m.relates_to", "m.mentions"} or body["msgtype"] != "m.notice" or not body["body"] or body["m.mentions"] != {}:
        return 400, {"errcode": "M_BAD_JSON"}
    relates = body.get("m.relates_to")
    if relates and (relates["rel_type"] != "m.thread" or relates["event_id"] not in events.values()
                    or relates["m.in_reply_to"]["event_id"] not in events.values()):
        return 400, {"errcode": "M_UNKNOWN"}
    return 200, {"event_id": events.setdefault(found[2], f"$event{len(events)}")}


def discord(kind, query, body):
    if kind == "html":
        return 200, "<html>busy</html>"
    if query.get("wait") != ["true"] or not 0 < len(body["content"]) <= 2000 or body["allowed_mentions"] != {"parse": []}:
        return 400, {"code": 50035}
    thread, name = query.get("thread_id"), body.get("thread_name")
    if kind == "text":
        return (400, {"code": 220003}) if thread or name else (200, {"id": "1", "channel_id": "2"})
    if (thread is None) == (name is None):
        return 400, {"code": 220001}
    if os.path.exists(folder + "/delete-threads"):
        os.remove(folder + "/delete-threads")
        deleted.update(threads)
    if thread and (thread[0] not in threads or thread[0] in deleted):
        return 404, {"code": 10003}
    if name:
        threads.append(f"77{len(threads)}")
    return 200, {"id": "5", "channel_id": thread[0] if thread else threads[-1]}


def teams(body):
    card = body["attachments"][0]
    content = card["content"]
    run = content["body"][0]["inlines"][0]
    right = (body["type"] == "message" and card["contentType"] == "application/vnd.microsoft.card.adaptive"
             and content["type"] == "AdaptiveCard" and content["body"][0]["type"] == "RichTextBlock"
             and run["type"] == "TextRun" and run["text"])
    return (202, "") if right else (400, "")


class Chat(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        headers = {k.lower(): v for k, v in self.headers.items()}
        path, _, query = self.path.partition("?")
        body = json.loads(raw)
        wait = None
        with lock:
            if path.startswith("/_matrix/"):
                status, answer = matrix(self.command, path, headers, body)
            elif path.startswith("/discord/"):
                status, answer = discord(path.split("/")[2], urllib.parse.parse_qs(query), body)
            elif path == "/teams":
                status, answer = teams(body)
            elif path == "/denied":
                status, answer = 403, ""
            elif path == "/removed":
                status, answer = 410, ""
            elif path == "/limited" and headers["webhook-id"] not in limited:
                limited.add(headers["webhook-id"])
                status, answer, wait = 429, "", "7"
            else:
                status, answer = 200 if body["text"] else 400, "ok"
            with open(folder + "/chat", "a") as log:
                log.write(json.dumps({"path": path, "query": query, "at": time.time(), "status": status, "body": body}) + "\n")
        text = (answer if isinstance(answer, str) else json.dumps(answer)).encode()
        self.send_response(status)
        if wait:
            self.send_header("Retry-After", wait)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_PUT = do_POST

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Chat)
server.daemon_threads = True
with open(folder + "/chat.part", "w") as file:
    file.write(str(server.server_port))
os.rename(folder + "/chat.part", folder + "/chat.port")
server.serve_forever()
