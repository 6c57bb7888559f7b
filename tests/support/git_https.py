#!/usr/bin/env python3
"""A git server over https that asks for a password, for tests: git http-backend behind a small server.

  git_https.py FOLDER CERT KEY PORT_FILE LOG [USER:PASSWORD | --redirect URL]

Serves the repositories in FOLDER, or sends every request to URL. The port is written into PORT_FILE, and each request into LOG as a line:
its method, its path and the Authorization that it carries ("-" none).
"""
import base64
import http.server
import os
import socketserver
import ssl
import subprocess
import sys

folder, cert, key, port_file, log_file = sys.argv[1:6]
redirect = sys.argv[7] if len(sys.argv) > 7 else ""
wanted = "" if redirect else "Basic " + base64.b64encode(sys.argv[6].encode()).decode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def body(self):
        if self.headers.get("Transfer-Encoding", "") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        data = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            data += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return data

    def answer(self, status, headers, data):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def serve(self):
        given = self.headers.get("Authorization", "-")
        data = self.body()
        with open(log_file, "a") as log:
            log.write(f"{self.command} {self.path} {given}\n")
        if redirect:
            return self.answer(301, [("Location", redirect + self.path)], b"")
        if given != wanted:
            return self.answer(401, [("WWW-Authenticate", 'Basic realm="git"')], b"")
        path, _, query = self.path.partition("?")
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": folder,
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_COUNT": "2",
            "GIT_CONFIG_KEY_0": "http.receivepack",
            "GIT_CONFIG_VALUE_0": "true",
            "GIT_CONFIG_KEY_1": "safe.directory",
            "GIT_CONFIG_VALUE_1": "*",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(data)),
            "REMOTE_USER": "user",
        }
        out = subprocess.run(["git", "http-backend"], input=data, env=environment, stdout=subprocess.PIPE, check=False).stdout
        head, _, content = out.partition(b"\r\n\r\n")
        headers = [tuple(line.decode().split(": ", 1)) for line in head.split(b"\r\n") if line]
        status = next((int(value.split()[0]) for name, value in headers if name == "Status"), 200)
        return self.answer(status, [pair for pair in headers if pair[0] != "Status"], content)

    do_GET = do_POST = serve


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(cert, key)
server = Server(("127.0.0.1", 0), Handler)
server.socket = context.wrap_socket(server.socket, server_side=True)
with open(port_file + ".new", "w") as out:
    out.write(str(server.server_port))
os.rename(port_file + ".new", port_file)
server.serve_forever()
