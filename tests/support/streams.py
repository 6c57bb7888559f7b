#!/usr/bin/env python3
"""Many readers of events and many slow clients against a real daemon, with real sockets. TAP lines without the plan.

    streams.py SERVER NEWEST [CA_FILE]    NEWEST: id of the newest event, with at least 20 kept ones before it; CA_FILE: of an https:// SERVER
"""
import http.client, json, re, select, socket, ssl, sys, threading, time

scheme, server = sys.argv[1].split("://")
newest = int(sys.argv[2])
host, port = server.split(":")
trust = ssl.create_default_context(cafile=sys.argv[3]) if scheme == "https" else None
# a request, or the first message of a handshake, whose end is missing
unfinished = b"\x16\x03\x01\x40\x00\x01\x00\x3f\xfc\x03\x03" if trust else f"GET / HTTP/1.1\r\nHost: {server}\r\n".encode()
count = bad = 0


def check(good, name, detail=""):
    global count, bad
    count += 1
    bad += not good
    print("ok" if good else "not ok", count, "-", name)
    if not good:
        print("#", str(detail)[:600])


def ask(path, method="GET", body=None):
    c = http.client.HTTPSConnection(host, int(port), timeout=20, context=trust) if trust else http.client.HTTPConnection(host, int(port), timeout=20)
    c.request(method, path, body, {"Content-Type": "application/json"} if body else {})
    r = c.getresponse()
    answer = r.status, r.read()
    c.close()
    return answer


def stream(last=None, receive_bytes=0):
    s = socket.socket()
    if receive_bytes:  # before it connects, which announces the window
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    s.connect((host, int(port)))
    if trust:
        s = trust.wrap_socket(s, server_hostname=host)
    s.sendall(f"GET /api/v1/events HTTP/1.1\r\nHost: {server}\r\n".encode() + (f"Last-Event-ID: {last}\r\n".encode() if last is not None else b"") + b"\r\n")
    return s


def read_until(s, words, seconds=20):
    """Data of the socket until it contains `words`."""
    got, until = b"", time.monotonic() + seconds
    while words not in got and time.monotonic() < until:
        if (trust and s.pending()) or select.select([s], [], [], 0.2)[0]:
            piece = s.recv(65536)
            if not piece:
                break
            got += piece
    return got


def ids(text):
    return [int(i) for i in re.findall(rb"^id: (\d+)\r?$", text, re.M)]


def happen():
    """An event that all readers get."""
    ask("/api/v1/devices/sim-0/pause", "POST", "{}")
    ask("/api/v1/devices/sim-0/resume", "POST", "{}")


# ---- where a reader continues
with stream(newest - 10) as s:
    got = read_until(s, b"id: %d\n" % newest)
    check(ids(got) == list(range(newest - 9, newest + 1)), "who comes back gets what he missed, in order, once", ids(got))
    check(b"resync" not in got, "and need not read everything again")
for last, name in ((0, "long before what is kept"), (newest + 1000, "of another database")):
    with stream(last) as s:
        got = read_until(s, b"resync")
        check(b"event: resync" in got and ids(got) == [newest], f"who has an id {name} has to read everything again", got[-300:])

# ---- a hundred at once, some of which do not read
readers = [stream() for _ in range(100)]
slow = [stream(newest - 15, 1024) for _ in range(10)]
for s in readers:
    read_until(s, b"retry: 3000")
happen()
received = [ids(read_until(s, b"event: device.state", 20)) for s in readers]
check(all(t for t in received), "a hundred readers receive it, and ten that do not read keep nobody waiting", sum(1 for t in received if not t))
check(ask("/healthz")[0] == 200, "others are answered meanwhile")
for s in readers[:50]:
    s.close()
happen()
received = [read_until(s, b'"state":"ok"', 20) for s in readers[50:]]
check(all(b"device.state" in t for t in received), "half of them gone, the others receive it")
got = read_until(slow[0], b"id: %d\n" % (newest + 1))
check(ids(got)[:15] == list(range(newest - 14, newest + 1)), "a slow reader reads on later and misses nothing", ids(got))
for s in readers[50:] + slow:
    s.close()

# ---- clients that never finish their request: more than there are slots
drips, stop = [], threading.Event()


def drip():
    while not stop.wait(0.2):
        for s in drips:
            try:
                s.sendall(b"X-A: b\r\n")
            except OSError:
                pass


for i in range(1100):
    s = socket.socket()
    s.setblocking(False)
    try:
        s.connect((host, int(port)))
    except BlockingIOError:
        pass
    drips.append(s)
time.sleep(0.2)
for s in drips:
    try:
        s.sendall(unfinished)
    except OSError:
        pass
thread = threading.Thread(target=drip)
thread.start()
answers = []
for _ in range(20):
    try:
        answers.append(ask("/healthz")[0])
    except OSError as e:
        answers.append(str(e))
check(answers == [200] * 20, "clients that drip, more than there are places, starve nobody", answers)


def has_ended(s):
    try:
        return s.recv(10) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


held, last = drips, time.monotonic() + 60
while len(drips) - len(held) <= 200 and time.monotonic() < last:
    held = [s for s in held if not has_ended(s)]
    time.sleep(0.1)
stop.set()
thread.join()
check(len(drips) - len(held) > 200, "because they have a deadline", len(drips) - len(held))
for s in drips:
    s.close()
check(json.loads(ask("/api/v1/devices")[1])["items"] != [], "and then everything is as before")
sys.exit(bad > 0)
