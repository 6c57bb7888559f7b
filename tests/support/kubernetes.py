#!/usr/bin/env python3
"""kubernetes.py FOLDER - a small server of the paths of Kubernetes that `kubectl create`, `get`, `delete` and `exec` use for pods.

Pods are processes of this machine with a TMPDIR of their own; `exec` uses SPDY/3.1, which every kubectl speaks. It writes its
port to FOLDER/port, requests to FOLDER/requests, and a kubeconfig to FOLDER/config. It speaks plain HTTP, over which kubectl sends
no token, so it checks none. Faults are files in FOLDER:
  unschedulable  new pods wait             badimage  the image of new pods cannot be pulled
  expired        requests are answered 401 away      connections are closed without an answer
  forbidden      its lines, as "create pods/exec", are refused rights; their requests are answered 403
  rejected       its text is the reason why the server rejects every new pod
POST /fake/evict?reason=R&message=M ends all running pods. The server ends with its pods at SIGTERM.
"""
import json, os, signal, socket, struct, subprocess, sys, threading, zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

folder = sys.argv[1]
lock = threading.RLock()
pods = {}  # name: {"object": ..., "processes": [...]}

WORDS = """options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow
authorization cache-control connection content-base content-encoding content-language content-length content-location content-md5
content-range content-type date etag expect expires from host if-match if-modified-since if-none-match if-range
if-unmodified-since last-modified location max-forwards pragma proxy-authenticate proxy-authorization range referer retry-after
server te trailer transfer-encoding upgrade user-agent vary via warning www-authenticate method get status 200_OK version HTTP/1.1
url public set-cookie keep-alive origin""".split()
TEXT = ("100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
        "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden"
        "404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable"
        "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT"
        "chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,text/javascript,"
        "publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.")
# the dictionary of SPDY/3, section 2.6.10.1
DICTIONARY = b"".join(struct.pack(">I", len(w)) + w.replace("_", " ").encode() for w in WORDS) + TEXT.encode()
assert zlib.adler32(DICTIONARY) == 0xE3C6A7C2


def has(name):
    return os.path.exists(os.path.join(folder, name))


def end_processes(pod):
    for p in pod["processes"]:
        try:
            os.killpg(p.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def set_state(pod, phase, state, **more):
    pod["object"]["status"] = {"phase": phase, "containerStatuses": [{"name": "worker", "state": state}], **more}


def environment(pod):
    name = pod["object"]["metadata"]["name"]
    tmp = os.path.join(folder, "pods", name)
    os.makedirs(tmp, exist_ok=True)
    return {**os.environ, "TMPDIR": tmp, "FLOPWATCH_NODE": "node-1", "FLOPWATCH_SIM_DEVICES": "0"}


def schedule(pod):
    """Start what may start; called at every request."""
    if pod["object"]["status"]["phase"] != "Pending":
        return
    if has("unschedulable"):
        pod["object"]["status"] = {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
            "reason": "Unschedulable", "message": "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."}]}
    elif has("badimage"):
        set_state(pod, "Pending", {"waiting": {"reason": "ErrImagePull", "message": "manifest unknown"}})
    else:
        command = pod["object"]["spec"]["containers"][0]["command"]
        main = subprocess.Popen(command, env=environment(pod), stdin=subprocess.DEVNULL, start_new_session=True)
        pod["processes"].append(main)
        set_state(pod, "Running", {"running": {}})
        threading.Thread(target=watch, args=(pod, main), daemon=True).start()


def watch(pod, main):
    status = main.wait()
    with lock:
        end_processes(pod)
        if pod["object"]["status"]["phase"] == "Running":
            reason = {"reason": "Completed" if status == 0 else "Error", "exitCode": status}
            set_state(pod, "Succeeded" if status == 0 else "Failed", {"terminated": reason})


def status_of(code, reason, message):
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "reason": reason, "message": message,
            "code": code}


class Spdy:
    """One upgraded connection: the four streams of an exec."""

    def __init__(self, reader, writer):
        self.reader, self.writer, self.lock = reader, writer, threading.Lock()
        self.unpack, self.pack = zlib.decompressobj(zdict=DICTIONARY), zlib.compressobj(zdict=DICTIONARY)
        self.streams = {}  # type: id

    def send(self, head, body=b""):
        with self.lock:
            self.writer.write(head + body)
            self.writer.flush()

    def data(self, stream, body, fin=False):
        for at in range(0, len(body) or 1, 1 << 20):
            part = body[at:at + (1 << 20)]
            self.send(struct.pack(">II", stream, (int(fin) << 24) | len(part)), part)

    def read(self, n):
        body = self.reader.read(n)
        if len(body) < n:
            raise EOFError
        return body

    def frame(self):
        """Returns ("data", stream, fin, bytes) or ("control", type, None, bytes); answers what needs an answer."""
        first, second = struct.unpack(">II", self.read(8))
        body = self.read(second & 0xFFFFFF)
        if not first >> 31:
            return "data", first, bool(second >> 24 & 1), body
        kind = first & 0xFFFF
        if kind == 1:  # SYN_STREAM
            stream = struct.unpack(">I", body[:4])[0]
            block, headers, at = self.unpack.decompress(body[10:]), {}, 4
            for _ in range(struct.unpack(">I", block[:4])[0]):
                pair = []
                for _ in range(2):
                    n = struct.unpack(">I", block[at:at + 4])[0]
                    pair.append(block[at + 4:at + 4 + n].decode())
                    at += 4 + n
                headers[pair[0].lower()] = pair[1]
            self.streams[headers["streamtype"]] = stream
            reply = self.pack.compress(struct.pack(">I", 0)) + self.pack.flush(zlib.Z_SYNC_FLUSH)
            self.send(struct.pack(">III", 0x80030002, 4 + len(reply), stream), reply)
        elif kind == 6:  # PING
            self.send(struct.pack(">II", 0x80030006, 4), body)
        return "control", kind, None, body


def run_exec(pod, command, spdy):
    while len(spdy.streams) < 4:
        spdy.frame()
    with lock:
        p = subprocess.Popen(command, env=environment(pod), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, start_new_session=True)
        pod["processes"].append(p)

    def pass_on(pipe, stream):
        while body := pipe.read1(1 << 16):
            spdy.data(stream, body)

    def take():
        try:
            while True:
                kind, stream, fin, body = spdy.frame()
                if kind == "data" and stream == spdy.streams["stdin"]:
                    p.stdin.write(body)
                    p.stdin.flush()
                    if fin:
                        p.stdin.close()
        except (EOFError, OSError, ValueError):
            pass
        try:
            p.stdin.close()  # the client is gone
        except OSError:
            pass

    threads = [threading.Thread(target=pass_on, args=(p.stdout, spdy.streams["stdout"])),
               threading.Thread(target=pass_on, args=(p.stderr, spdy.streams["stderr"]))]
    threading.Thread(target=take, daemon=True).start()
    for t in threads:
        t.start()
    code = p.wait()
    for t in threads:
        t.join()
    end = {"metadata": {}, "status": "Success"}
    if code:
        code = code if code > 0 else 128 - code
        end = {"metadata": {}, "status": "Failure", "reason": "NonZeroExitCode",
               "message": f"command terminated with non-zero exit code: {code}",
               "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]}}
    spdy.data(spdy.streams["error"], json.dumps(end).encode(), fin=True)
    for name in "stdout", "stderr":
        spdy.data(spdy.streams[name], b"", fin=True)


def is_forbidden(verb, resource, subresource=None):
    if not has("forbidden"):
        return False
    with open(os.path.join(folder, "forbidden")) as f:
        return " ".join([verb, "/".join(filter(None, [resource, subresource]))]) in f.read().splitlines()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, code, body):
        data = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def read_body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":  # as `kubectl create --raw` sends it
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def serve(self):
        body = self.read_body()
        to = urlsplit(self.path)
        query, words = parse_qs(to.query), to.path.strip("/").split("/")
        with open(os.path.join(folder, "requests"), "a") as f:
            print(self.command, self.path, file=f)
        if has("away") and words[0] != "fake":
            self.close_connection = True
            return
        if words[0] == "fake":
            self.evict(query)
        elif has("expired"):
            self.answer(401, status_of(401, "Unauthorized", "Unauthorized"))
        elif to.path == "/version":
            self.answer(200, {"major": "1", "minor": "27", "gitVersion": "v1.27.0"})
        elif to.path == "/api":
            self.answer(200, {"kind": "APIVersions", "versions": ["v1"]})
        elif to.path == "/apis":
            version = {"groupVersion": "authorization.k8s.io/v1", "version": "v1"}
            self.answer(200, {"kind": "APIGroupList", "apiVersion": "v1", "groups": [
                {"name": "authorization.k8s.io", "versions": [version], "preferredVersion": version}]})
        elif to.path == "/apis/authorization.k8s.io/v1":
            self.answer(200, {"kind": "APIResourceList", "groupVersion": "authorization.k8s.io/v1", "resources": [
                {"name": "selfsubjectaccessreviews", "singularName": "", "namespaced": False, "kind": "SelfSubjectAccessReview",
                 "verbs": ["create"]}]})
        elif to.path == "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews":
            review = json.loads(body)
            asked = review["spec"]["resourceAttributes"]
            review["status"] = {"allowed": not is_forbidden(asked["verb"], asked["resource"], asked.get("subresource"))}
            self.answer(201, review)
        elif to.path == "/api/v1":
            self.answer(200, {"kind": "APIResourceList", "groupVersion": "v1", "resources": [
                {"name": "pods", "singularName": "pod", "namespaced": True, "kind": "Pod", "shortNames": ["po"],
                 "verbs": ["create", "delete", "get", "list"]},
                {"name": "pods/exec", "singularName": "", "namespaced": True, "kind": "PodExecOptions",
                 "verbs": ["create", "get"]}]})
        elif words[:3] == ["api", "v1", "namespaces"] and words[4:5] == ["pods"]:
            self.serve_pods(words[5:], query, body)
        else:
            self.answer(404, status_of(404, "NotFound", "the server could not find the requested resource"))

    def evict(self, query):
        with lock:
            for pod in pods.values():
                set_state(pod, "Failed", {"terminated": {"reason": "Error", "exitCode": 137}}, reason=query["reason"][0],
                          message=query["message"][0])
                end_processes(pod)
        self.answer(200, {})

    def serve_pods(self, words, query, body):
        with lock:
            for pod in pods.values():
                schedule(pod)
            pod = pods.get(words[0]) if words else None
            if words and not pod:
                self.answer(404, status_of(404, "NotFound", f'pods "{words[0]}" not found'))
            elif words[1:] == ["exec"]:
                pass
            elif self.command == "DELETE" and is_forbidden("delete", "pods"):
                self.answer(403, status_of(403, "Forbidden", f'pods "{words[0]}" is forbidden: User "test" cannot delete pods'))
            elif not words and self.command == "POST":
                made = json.loads(body)
                if has("rejected"):
                    with open(os.path.join(folder, "rejected")) as f:
                        self.answer(403, status_of(403, "Forbidden", f.read().strip()))
                    return
                if query.get("dryRun") == ["All"]:
                    self.answer(201, made)
                    return
                made["status"] = {"phase": "Pending"}
                pods[made["metadata"]["name"]] = {"object": made, "processes": []}
                self.answer(201, made)
            elif not words:
                label = query.get("labelSelector", [""])[0].split("=")
                items = [p["object"] for p in pods.values()
                         if label == [""] or p["object"]["metadata"].get("labels", {}).get(label[0]) == label[-1]]
                self.answer(200, {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": items})
            elif self.command == "DELETE":
                end_processes(pods.pop(words[0]))
                self.answer(200, pod["object"])
            else:
                self.answer(200, pod["object"])
        if pod and words[1:] == ["exec"]:
            self.exec(pod, query["command"])

    def exec(self, pod, command):
        self.close_connection = True
        if "spdy/3.1" not in self.headers.get("Upgrade", "").lower():  # newer clients try websockets first
            self.answer(400, status_of(400, "BadRequest", "only SPDY/3.1 is spoken here"))
            return
        self.send_response(101)
        for header in ("Connection", "Upgrade"), ("Upgrade", "SPDY/3.1"), ("X-Stream-Protocol-Version", "v4.channel.k8s.io"):
            self.send_header(*header)
        self.end_headers()
        try:
            run_exec(pod, command, Spdy(self.rfile, self.wfile))
        except (EOFError, OSError):
            pass

    do_GET = do_POST = do_DELETE = serve


def stop(*_):
    for pod in pods.values():
        end_processes(pod)
    os._exit(0)


os.makedirs(os.path.join(folder, "pods"), exist_ok=True)
signal.signal(signal.SIGTERM, stop)
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
with open(os.path.join(folder, "config"), "w") as f:
    json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "test",
               "clusters": [{"name": "test", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}],
               "users": [{"name": "test", "user": {"token": "token-of-the-test"}}],
               "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}]}, f)
with open(os.path.join(folder, "port.new"), "w") as f:
    print(server.server_port, file=f)
os.rename(os.path.join(folder, "port.new"), os.path.join(folder, "port"))
server.serve_forever()
