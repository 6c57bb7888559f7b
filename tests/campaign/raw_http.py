#!/usr/bin/env python3
"""raw_http.py FOLDER: requests as bytes: mutated, with two meanings, too large, and slow.

FOLDER is made by test_http.sh here. Each is answered with a status that is no failure of the daemon, or its
connection is closed in time; a request that is hidden in another one is not executed; honest clients are answered
meanwhile; at the end the daemon has as many descriptors as before.
"""
import itertools
import json
import os
import pathlib
import random
import re
import selectors
import signal
import socket
import sys
import time

from campaign import Campaign, Daemon, until

CLOSE_S, QUIET_S = 90, 0.5  # the daemon waits 10 s for a request, and 60 s for the next one
OPEN, BATCH, SLOW_EVERY = 256, 2048, 8  # connections at once, trials between two checks, batches between two slow clients
PIECES = [b"\r\n", b"\n", b"\r", b"\0", b" ", b"\t", b":", b"%00", b"%", b"%2f..", b"..", b"//", b"?", b"&" * 40, b"\xff\xfe",
    b"\x0b", b";", b"HTTP/1.1", b"HTTP/9.9",
          b"Content-Length: 5\r\n", b"Content-Length: 99999999999999999999\r\n", b"Content-Length: -1\r\n",
          b"Transfer-Encoding: chunked\r\n", b"Host: evil.example\r\n",
          b"Host: \r\n", b"Expect: 100-continue\r\n", b"Connection: Upgrade\r\nUpgrade: h2c\r\n", b"Range: bytes=9-1\r\n",
          b"Range: bytes=" + b"0-1," * 500 + b"\r\n",
          b"If-None-Match: *\r\n", b"Accept: " + b"a/b," * 300 + b"\r\n", b"Cookie: " + b"a=b; " * 500 + b"\r\n",
          b"X: " + b"y" * 9000 + b"\r\n", b"a=b&" * 600,
          b"Accept-Encoding: gzip;q=nan\r\n", b"Last-Event-ID: -1\r\n", b"Idempotency-Key: " + b"k" * 200 + b"\r\n",
          b"Origin: null\r\n"]


class Target:
    def __init__(self, folder):
        self.daemon = Daemon(folder)
        if not self.daemon.start():
            sys.exit(f"the daemon does not start: {self.daemon.last_lines()}")
        self.port = int((folder / "state/port").read_text())
        self.host = f"127.0.0.1:{self.port}".encode()
        tips = until(lambda: self.daemon.rows("SELECT commit_sha FROM branch_tip"))
        self.main = tips[0][0]

    def head(self, method, path, *more):
        return b"\r\n".join([method + b" " + path + b" HTTP/1.1", b"Host: " + self.host, *more]) + b"\r\n\r\n"

    def requests(self):
        form, boundary = b"token=fwt_1&next=/", b"b0undary"
        body = json.dumps({"repo": "lines", "commit": self.main, "name": "raw", "rows": [{"cell": "a", "ms": 1.5}]}).encode()
        file = b'"; filename="x.json"\r\n\r\n{"cell":"a","ms":[1]}\r\n'
        parts = b"".join(b"--" + boundary + b'\r\nContent-Disposition: form-data; name="' + name + file
                         for name in (b"base", b"target")) + b"--" + boundary + b"--\r\n"
        json_type = b"Content-Type: application/json"
        return [self.head(b"GET", path) for path in (b"/", b"/jobs?state=open&limit=5", b"/api/v1/openapi.json",
            b"/api/v1/comparisons/1", b"/history?cell=one",
                                                     b"/api/v1/branches?branch=a%25b", b"/static/style.css", b"/healthz",
                                                     b"/metrics", b"/search?q=x")] + \
            [self.head(b"HEAD", b"/alerts"), self.head(b"POST", b"/logout", b"Content-Length: 0")] + \
            [self.head(b"POST", path, kind, b"Content-Length: %d" % len(text)) + text
             for path, kind, text in ((b"/api/v1/imports", json_type, body),
                 (b"/api/v1/jobs", json_type, b'{"repo":"lines","target":"main","base":"nowhere"}'),
                                      (b"/login", b"Content-Type: application/x-www-form-urlencoded", form),
                                      (b"/api/v1/compare", b"Content-Type: multipart/form-data; boundary=" + boundary,
                                      parts))] + \
            [self.head(b"POST", b"/api/v1/imports", json_type,
                b"Transfer-Encoding: chunked") + b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)]

    def send(self, requests):
        """(key, answer) for each (key, bytes, whether the client sends no more), as they end: when the daemon closes, or is
        quiet after an answer; an answer of None: neither in time. OPEN of them are connected at once."""
        selector, connected, is_more, requests = selectors.DefaultSelector(), {}, True, iter(requests)
        while is_more or connected:
            while is_more and len(connected) < OPEN:
                if (following := next(requests, None)) is None:
                    is_more = False
                    break
                client = Client(self.port, *following)
                selector.register(client.socket, selectors.EVENT_READ | selectors.EVENT_WRITE, client)
                connected[client.key] = client
            for event, events in selector.select(0.05):
                event.data.move(selector, events)
            now = time.monotonic()
            for client in [client for client in connected.values() if client.has_ended(now)]:
                if client.is_open:
                    client.close(selector)
                del connected[client.key]
                yield client.key, None if client.is_late else client.answer

    def hidden(self, n):
        """A request that leaves a row of its number if it is executed."""
        body = json.dumps({"repo": "lines", "commit": self.main, "name": f"hidden-{n}",
            "rows": [{"cell": "a", "ms": 1.5}]}).encode()
        return self.head(b"POST", b"/api/v1/imports", b"Content-Type: application/json",
            b"Content-Length: %d" % len(body)) + body

    def executed(self):
        """Numbers of the trials whose hidden request was executed."""
        return {int(name[7:]) for name, in self.daemon.rows("SELECT suite FROM job WHERE suite GLOB 'hidden-*'")}

    def state(self):
        status = self.daemon.process.poll()
        return "the daemon runs" if status is None else f"the daemon ended with {status}: {self.daemon.last_lines()}"

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.daemon.process.pid}/fd"))


class Client:
    """One connection that sends bytes and reads what comes."""

    def __init__(self, port, key, data, sends_no_more):
        self.key, self.rest, self.sends_no_more = key, memoryview(data), sends_no_more
        self.answer, self.is_open, self.is_late = b"", True, False
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=CLOSE_S)
        self.socket.setblocking(False)
        self.began = self.heard = time.monotonic()

    def has_ended(self, now):
        self.is_late = self.is_open and now - self.began > CLOSE_S
        return self.is_late or not self.is_open or (self.answer and not self.rest and now - self.heard > QUIET_S)

    def close(self, selector):
        selector.unregister(self.socket)
        self.socket.close()
        self.is_open = False

    def move(self, selector, events):
        try:
            if events & selectors.EVENT_READ:
                got = self.socket.recv(65536)
                if not got:
                    raise ConnectionResetError
                self.answer += got
                self.heard = time.monotonic()
            if self.rest and events & selectors.EVENT_WRITE:
                self.rest = self.rest[self.socket.send(self.rest):]
            if events & selectors.EVENT_WRITE and not self.rest:
                if self.sends_no_more:
                    self.socket.shutdown(socket.SHUT_WR)
                selector.modify(self.socket, selectors.EVENT_READ, self)
        except BlockingIOError:
            pass
        except OSError:  # closed, possibly while it was sent to
            self.close(selector)


def mutated(rng, requests):
    data = bytearray(rng.choice(requests))
    for _ in range(rng.randint(1, 4)):
        at, how = rng.randrange(len(data) + 1), rng.randrange(6)
        if how == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif how == 1:
            data[at:at] = rng.choice(PIECES)
        elif how == 2:
            del data[at:at + rng.randint(1, 12)]
        elif how == 3:
            end = data.find(b"\r\n", at)
            data[end + 2 if end >= 0 else at:end + 2 if end >= 0 else at] = rng.choice(PIECES)  # as a header
        elif how == 4:
            lines = bytes(data).split(b"\r\n")
            lines.insert(rng.randrange(len(lines)), rng.choice(lines))
            data = bytearray(b"\r\n".join(lines))
        else:
            data[at:at] = bytes(data[at:at + rng.randint(1, 60)])
    return bytes(data)


def ambiguous(rng, target, n):
    """A request with two meanings of its length, in one of which the rest is another request."""
    hidden = target.hidden(n)
    size = b"%d" % len(hidden)
    chunked = b"0\r\n\r\n" + hidden
    head = rng.choice([
        [b"Content-Length: %d" % len(chunked), b"Transfer-Encoding: chunked"],
        [b"Transfer-Encoding: chunked", b"Content-Length: %d" % len(chunked)],
        [b"Content-Length: 0", b"Content-Length: " + size], [b"Content-Length: " + size, b"Content-Length: 0"],
        [b"Content-Length: 0, " + size],
        [b"Content-Length: +0", b"X: y"], [b"Content-Length: 0x0"], [b"Content-Length : 0"], [b"Content-Length: 00000 1"],
        [b"Content-Length:\t-0"],
        [b"Transfer-Encoding: xchunked"], [b"Transfer-Encoding: chunked, identity"],
        [b"Transfer-Encoding: identity", b"Content-Length: " + size],
        [b"Transfer-Encoding:\x0bchunked"], [b"Transfer-Encoding\t: chunked"], [b"Transfer-Encoding: \"chunked\""],
        [b"Transfer-Encoding:", b" chunked"],
        [b"Transfer-Encoding: chunked", b"Transfer-Encoding: identity"],
        [b"X: y\rTransfer-Encoding: chunked", b"Content-Length: " + size],
        [b"X: y\0Content-Length: 0", b"Content-Length: " + size], [b"Content-Length: " + size + b"\0" + b"9"],
    ])
    method, path = rng.choice([(b"POST", b"/api/v1/imports"), (b"GET", b"/healthz"), (b"POST", b"/logout")])
    is_chunked = any(b"chunked" in line for line in head)
    rest = rng.choice([hidden, chunked, b"\r\n" + hidden]) if is_chunked else hidden
    return target.head(method, path, b"Content-Type: application/json", *head) + rest


def large(rng, target, _):
    size = rng.choice([1 << 15, 1 << 17, 1 << 20, (1 << 20) + 1, 3 << 20])
    kind = rng.randrange(5)
    if kind == 0:
        return target.head(b"GET", b"/" + b"a" * size)
    if kind == 1:
        return target.head(b"GET", b"/", b"X: " + b"y" * size)
    if kind == 2:
        return target.head(b"GET", b"/", *[b"X%d: y" % i for i in range(min(size // 8, 40000))])
    if kind == 3:
        return target.head(b"POST", b"/api/v1/imports", b"Content-Type: application/json",
            b"Content-Length: %d" % size) + b"[" * size
    return target.head(b"POST", b"/api/v1/imports", b"Content-Type: application/json",
        b"Transfer-Encoding: chunked") + b"1\r\n[\r\n" * (size // 6)


STATUS = re.compile(rb"^HTTP/1\.[01] (\d{3}) ", re.M)


def make(rng, target, requests, n):
    """Kind and bytes of a trial, and whether its client sends no more afterwards. One in 16 stays connected, until the daemon
    has waited long enough for the rest of a request."""
    kind = rng.choice(["mutated"] * 10 + ["ambiguous"] * 5 + ["large"])
    data = mutated(rng, requests) if kind == "mutated" else {"ambiguous": ambiguous, "large": large}[kind](rng, target, n)
    return kind, data, rng.randrange(16) > 0


def faults_of(got):
    if got is None:
        return [f"open after {CLOSE_S} s"]
    statuses = [int(s) for s in STATUS.findall(got)]
    return [f"status {s}: {got[:300]!r}" for s in statuses if s >= 500 and s not in (501, 503, 505)]


def slow(rng, target):
    """Clients that send a byte now and then, or read nothing, next to an honest one."""
    open_ones = []
    for _ in range(30):
        connection = socket.create_connection(("127.0.0.1", target.port), timeout=CLOSE_S)
        connection.sendall(target.head(b"GET", b"/api/v1/openapi.json")[:rng.randrange(5, 40)])
        open_ones.append(connection)
    begin, found = time.monotonic(), []
    while open_ones and time.monotonic() - begin < CLOSE_S:
        for connection in list(open_ones):
            try:
                connection.send(b"x")
                connection.settimeout(0.01)
                if not connection.recv(4096):
                    raise OSError
            except TimeoutError:
                continue
            except OSError:
                open_ones.remove(connection)
                connection.close()
        if target.daemon.request("GET", "/healthz")[0] != 200:
            found.append("an honest client was not answered")
            break
        time.sleep(0.3)
    if open_ones:
        found.append(f"{len(open_ones)} slow clients are still connected after {CLOSE_S} s")
    for connection in open_ones:
        connection.close()
    return found


def main():
    folder = pathlib.Path(sys.argv[1])
    campaign, target = Campaign("http", 1200), Target(folder)
    requests, before = target.requests(), target.descriptors()
    for i, got in target.send((i, request, False) for i, request in enumerate(requests)):
        if not got or not re.match(rb"HTTP/1\.1 (2|3|404|403|400)", got):
            sys.exit(f"request {i} without a change: {got!r:.300}")
    target.daemon.open_reader()
    trials, known, batches = campaign.trials(), set(), 0
    while numbers := [n for n, _ in itertools.islice(trials, BATCH)]:
        made = lambda n: make(random.Random(f"http {n}"), target, requests, n)
        try:
            answers = dict(target.send((n, *made(n)[1:]) for n in numbers))
        except OSError as error:
            campaign.count(f"one of the trials to {numbers[-1]}", [f"no connection: {error}; {target.state()}"], numbers[0])
            break
        executed, batches = target.executed() - known, batches + 1
        known |= executed
        for n in numbers:
            found = faults_of(answers.get(n)) + ["the hidden request was executed"] * (n in executed)
            campaign.count("{} {:.400}".format(*map(str, made(n))) if found else "", found, n)
        if target.daemon.request("GET", "/healthz")[0] != 200:
            campaign.count("afterwards", [f"an honest client is not answered; {target.state()}"])
            break
        if batches % SLOW_EVERY == 1:
            campaign.count("slow clients", slow(random.Random(f"slow {batches}"), target))
    if not until(lambda: target.descriptors() <= before + 2, 60):
        campaign.count("the end", [f"{target.descriptors()} descriptors instead of {before}"])
    if target.daemon.process.poll() is None and target.daemon.end(signal.SIGTERM) != 0:
        campaign.count("the end", [f"flopwatchd ends with {target.daemon.process.returncode}"])
    campaign.finish()


main()
