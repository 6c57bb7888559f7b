#!/usr/bin/env python3
"""clients.py FOLDER: a thousand slow clients of one kind, and an honest one.

FOLDER is made by test_clients.sh. Kinds: slow headers, slow bodies, slow readers of a large answer, streams of events. In
a trial the clients connect from 40 loopback addresses, move a few bytes at random moments, and connect again when the
daemon closes them. The honest client sends a request on a new connection every 20 ms: 99 % are answered within 20 ms, or
three times what the same requests took before, if the machine was busy; in `make test`, where the machine is busy, each
is answered. The daemon's resident memory stays below 150 MB, and afterwards its descriptors are as many as before.
"""
import os
import pathlib
import signal
import socket
import sys
import time

from campaign import Campaign, Daemon, until

CLIENTS, ADDRESSES, PAUSE_S, LIMIT_S, LIMIT_KB, PACE = 1000, 40, 0.02, 0.02, 150 * 1024, 3


class Server:
    def __init__(self, folder):
        self.daemon = Daemon(folder)
        if not self.daemon.start() or not until(lambda: self.daemon.rows("SELECT 1 FROM comparison")):
            sys.exit(f"the daemon does not start: {self.daemon.last_lines()}")
        self.port = int((folder / "state/port").read_text())
        self.process = pathlib.Path("/proc", str(self.daemon.process.pid))
        self.large = max((f"/api/v1/comparisons/1{suffix}" for suffix in ("", ".csv", ".md")),
            key=lambda path: len(self.daemon.request("GET", path)[1]))
        self.large_bytes = len(self.daemon.request("GET", self.large)[1])

    def resident_kb(self):
        text = (self.process / "status").read_text()
        return int(text.split("VmRSS:")[1].split()[0])

    def descriptors(self):
        return len(list((self.process / "fd").iterdir()))

    def request(self, path="/healthz"):
        """Seconds until the whole answer; None without one."""
        began = time.monotonic()
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=30) as s:
                s.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nConnection: close\r\n\r\n".encode())
                text = b""
                while part := s.recv(65536):
                    text += part
        except OSError:
            return None
        return time.monotonic() - began if text.startswith(b"HTTP/1.1 200") else None


class Client:
    """One slow connection, which is made again when the daemon ends it."""

    def __init__(self, server, rng, kind, n):
        self.server, self.rng, self.kind, self.address = server, rng, kind, f"127.0.{n % ADDRESSES}.2"
        self.socket, self.waits = None, 0
        self.connect()

    def connect(self):
        host = f"Host: 127.0.0.1:{self.server.port}\r\n"
        body = "Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n{"
        first = {"headers": "GET / HTTP/1.1\r\n" + host, "bodies": "POST /api/v1/imports HTTP/1.1\r\n" + host + body,
            "streams": f"GET /api/v1/events HTTP/1.1\r\n{host}\r\n",
            "readers": f"GET {self.server.large} HTTP/1.1\r\n{host}\r\n"}
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.setblocking(False)
        self.socket.bind((self.address, 0))
        self.socket.connect_ex(("127.0.0.1", self.server.port))
        self.pending = first[self.kind].encode()

    def step(self):
        """A few bytes; a new connection if this one has ended."""
        try:
            if self.pending:
                self.pending = self.pending[self.socket.send(self.pending):]
            elif self.kind == "headers":
                self.socket.send(b"X: y\r\n" if self.rng.random() < 0.5 else b"X")
            elif self.kind == "bodies":
                self.socket.send(b" ")
            if self.kind in ("readers", "streams") and self.rng.random() < 0.3:
                if not self.socket.recv(64):
                    raise ConnectionResetError
        except BlockingIOError:
            pass
        except OSError:
            self.socket.close()
            self.connect()


def percentile(times, share):
    return sorted(times)[min(int(len(times) * share), len(times) - 1)]


def measure(server, seconds, meanwhile):
    """Seconds of each answer, the number of requests without one, and the largest resident memory."""
    times, refused, resident, end = [], 0, 0, time.monotonic() + seconds
    while time.monotonic() < end:
        took = server.request()
        if took is None:
            refused += 1
        else:
            times.append(took)
        resident = max(resident, server.resident_kb())
        meanwhile()
        time.sleep(PAUSE_S)
    return times, refused, resident


def faults(server, rng, kind, seconds):
    alone, _, _ = measure(server, min(seconds / 3, 5), lambda: None)
    before = server.descriptors()
    clients = []

    def step():
        for client in rng.sample(clients, len(clients) // 100):  # each one every two seconds
            client.step()

    while len(clients) < CLIENTS:
        clients.append(Client(server, rng, kind, len(clients)))
    for client in clients:
        client.step()
    measure(server, seconds / 2, step)  # until the daemon has accepted or refused them
    times, refused, resident = measure(server, seconds, step)
    for client in clients:
        client.socket.close()
    found, limit = [], max(LIMIT_S, PACE * percentile(alone, 0.99))
    if refused:
        found.append(f"{refused} of {refused + len(times)} honest requests have no answer")
    if not times:
        found.append("no honest request is answered")
    elif "CAMPAIGN_SECONDS" in os.environ and percentile(times, 0.99) > limit:
        found.append(f"p99 of {len(times)} honest requests is {percentile(times, 0.99) * 1e3:.1f} ms, "
            f"alone {percentile(alone, 0.99) * 1e3:.1f} ms")
    if resident > LIMIT_KB:
        found.append(f"{resident // 1024} MB are resident")
    if not until(lambda: server.descriptors() <= before + 2, 90):
        found.append(f"{server.descriptors()} descriptors, {before} before")
    print(f"# {kind}: p99 {percentile(times or [0], 0.99) * 1e3:.1f} ms, alone {percentile(alone, 0.99) * 1e3:.1f} ms, "
        f"{len(times)} requests, {resident // 1024} MB, answers of {server.large_bytes >> 10} KiB", flush=True)
    return found


def main():
    folder = pathlib.Path(sys.argv[1])
    campaign, server = Campaign("clients", 8), Server(folder)
    kinds = ["headers", "bodies", "readers", "streams"]
    for n, rng in campaign.trials():
        kind = kinds[n % len(kinds)]
        campaign.count(f"slow {kind}", faults(server, rng, kind, 3))
    if server.daemon.end(signal.SIGTERM) != 0:
        campaign.count("the end", [f"flopwatchd ends with {server.daemon.process.returncode}"])
    campaign.finish()


main()
