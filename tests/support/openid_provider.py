#!/usr/bin/env python3
"""An OpenID provider for tests, which logs everybody in, and misbehaves on request.

  openid_provider.py FOLDER [CERT KEY]

FOLDER/mode names a fault ("fine": none), FOLDER/user is the JSON of the user's claims (sub, groups, ...). The provider writes
FOLDER/port and FOLDER/requests, a line for each request: its path, and what it did with it. `openssl` signs the tokens.
"""
import base64
import hashlib
import http.server
import json
import pathlib
import secrets
import ssl
import subprocess
import sys
import time
import urllib.parse

folder = pathlib.Path(sys.argv[1])
SECRET, CLIENT = "client-secret-of-tests", "flopwatch"
codes, refreshes = {}, {}
scheme = "https://localhost" if len(sys.argv) > 2 else "http://127.0.0.1"


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def openssl(*args, stdin=b""):
    return subprocess.run(["openssl", *args], input=stdin, capture_output=True, check=True).stdout


def make_keys():
    for name in "rsa", "other":
        openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", str(folder / f"{name}.pem"))
    openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", str(folder / "ec.pem"))


def rsa_jwk(name, kid):
    text = openssl("rsa", "-in", str(folder / f"{name}.pem"), "-noout", "-modulus").decode()
    modulus = bytes.fromhex(text.strip().split("=")[1])
    return {"kty": "RSA", "kid": kid, "use": "sig", "alg": "RS256", "n": b64(modulus), "e": "AQAB"}


def ec_jwk():
    point = openssl("pkey", "-in", str(folder / "ec.pem"), "-pubout", "-outform", "DER")[-64:]
    return {"kty": "EC", "kid": "e", "use": "sig", "crv": "P-256", "x": b64(point[:32]), "y": b64(point[32:])}


def integers_of_der(der):
    at, out = 2, b""
    for _ in range(2):
        size = der[at + 1]
        out += der[at + 2:at + 2 + size].lstrip(b"\0").rjust(32, b"\0")
        at += 2 + size
    return out


def sign(claims, mode):
    alg = {"es256": "ES256", "no signature": "none", "shared secret": "HS256"}.get(mode, "RS256")
    header = {"alg": alg, "kid": {"ES256": "e"}.get(alg, "r")}
    text = f"{b64(json.dumps(header).encode())}.{b64(json.dumps(claims).encode())}"
    key = {"es256": "ec", "wrong signature": "other"}.get(mode, "rsa")
    signature = openssl("dgst", "-sha256", "-sign", str(folder / f"{key}.pem"), stdin=text.encode())
    if alg == "ES256":
        signature = integers_of_der(signature)
    return text + "." + ("" if alg == "none" else b64(signature))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def note(self, text):
        with (folder / "requests").open("a") as file:
            file.write(f"{urllib.parse.urlsplit(self.path).path} {text}\n")

    def answer(self, status, body, headers=()):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
        self.note(status)

    def fault(self, place):
        """Answer with the fault that FOLDER/mode names for this place, as "token 500"."""
        where, _, what = self.mode.partition(" ")
        if where != place:
            return False
        if what == "garbage":
            self.answer(200, b"<html>not what you asked for")
        elif what == "redirect":
            self.answer(302, {}, [("Location", "http://169.254.169.254/latest/meta-data")])
        elif what == "silence":
            self.note("silence")
            time.sleep(40)
        elif what == "held":  # until FOLDER/go is there
            self.note("held")
            while not (folder / "go").exists():
                time.sleep(0.02)
            return False
        elif what == "endless":
            self.answer(200, b" " * (3 << 20))
        elif what == "refuses":
            self.answer(400, {"error": "invalid_grant"})
        elif where == "token" and what.endswith("_required"):
            self.answer(400, {"error": what})
        elif what.isdigit():
            self.answer(int(what), {"error": "server_error" if what == "500" else "access_denied"})
        else:
            return False
        return True

    def handle_one_request(self):
        self.mode = (folder / "mode").read_text().strip()
        super().handle_one_request()

    def base(self):
        return f"{scheme}:{self.server.server_address[1]}"

    def describe(self):
        base = self.base()
        out = {"issuer": base, "code_challenge_methods_supported": ["S256"]}
        for name, path in ("authorization_endpoint", "authorize"), ("token_endpoint", "token"), ("jwks_uri", "keys"), \
                ("userinfo_endpoint", "me"):
            out[name] = f"{base}/{path}"
        if self.mode == "another issuer":
            out["issuer"] = "https://id.example.org"
        if self.mode == "no endpoint":
            del out["token_endpoint"]
        if self.mode == "post":
            out["token_endpoint_auth_methods_supported"] = ["client_secret_post"]
        self.answer(200, out)

    def authorize(self, query):
        if query.get("code_challenge_method") != "S256" or query["client_id"] != CLIENT:
            return self.answer(400, {"error": "invalid_request"})
        code, back = secrets.token_urlsafe(), {}
        codes[code] = query
        back = {"code": code, "state": query["state"], "iss": self.base()}
        if self.mode == "denied":
            back = {"error": "access_denied", "state": query["state"]}
        if self.mode == "wrong state":
            back["state"] = "0" * 64
        if self.mode == "wrong iss":
            back["iss"] = "https://id.example.org"
        self.note("prompt " + query.get("prompt", "none"))
        return self.answer(303, {}, [("Location", query["redirect_uri"] + "?" + urllib.parse.urlencode(back))])

    def claims(self, nonce):
        user = json.loads((folder / "user").read_text())
        now = int(time.time())
        out = {"iss": self.base(), "aud": CLIENT, "sub": user["sub"], "iat": now, "exp": now + 300, **user}
        if nonce:
            out["nonce"] = nonce
        changed = {"wrong nonce": ("nonce", "0" * 64), "wrong aud": ("aud", "another"), "two aud": ("aud", [CLIENT, "another"]),
                   "wrong issuer": ("iss", "https://id.example.org"), "expired": ("exp", now - 3600),
                   "future": ("iat", now + 3600), "no user": ("sub", "")}
        if self.mode in changed:
            out[changed[self.mode][0]] = changed[self.mode][1]
        if self.mode in ("userinfo", "me other") or self.mode.startswith("me "):
            out.pop("groups", None)
        return out

    def is_client(self, form):
        if self.mode == "post":
            return form.get("client_id") == CLIENT and form.get("client_secret") == SECRET
        basic = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        return self.headers.get("Authorization") == "Basic " + basic

    def token(self, form):
        if not self.is_client(form):
            return self.answer(401, {"error": "invalid_client"})
        nonce = None
        if form["grant_type"] == "authorization_code":
            begun = codes.pop(form["code"], None)
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            if not begun or b64(digest) != begun["code_challenge"] or form["redirect_uri"] != begun["redirect_uri"]:
                return self.answer(400, {"error": "invalid_grant"})
            nonce = begun["nonce"]
        elif not refreshes.pop(form["refresh_token"], None):
            return self.answer(400, {"error": "invalid_grant"})
        out = {"access_token": "access-of-tests", "token_type": "Bearer", "id_token": sign(self.claims(nonce), self.mode)}
        if self.mode != "no refresh":
            out["refresh_token"] = "refresh-" + secrets.token_hex()
            refreshes[out["refresh_token"]] = True
        if self.mode == "not signed JSON":
            out["id_token"] = "a.b.c"
        if self.mode == "no ID token":
            del out["id_token"]
        if form["grant_type"] == "refresh_token" and self.mode in ("refresh without ID token", "me other", "me 403"):
            del out["id_token"]
        return self.answer(200, out)

    def userinfo(self):
        if self.headers.get("Authorization") != "Bearer access-of-tests":
            return self.answer(401, {})
        user = json.loads((folder / "user").read_text())
        if self.mode == "me other":
            user["sub"] = "another"
        return self.answer(200, user)

    def do_GET(self):
        parts = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(parts.query))
        if parts.path == "/.well-known/openid-configuration":
            self.fault("description") or self.describe()
        elif parts.path == "/authorize":
            self.authorize(query)
        elif parts.path == "/keys":
            keys = [ec_jwk()] if self.mode == "no key" else [rsa_jwk("rsa", "r"), ec_jwk()]
            self.fault("keys") or self.answer(200, {"keys": keys})
        elif parts.path == "/me":
            self.fault("me") or self.userinfo()
        else:
            self.answer(404, {})

    def do_POST(self):
        text = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        self.fault("token") or self.token(dict(urllib.parse.parse_qsl(text)))


make_keys()
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
if len(sys.argv) > 2:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*sys.argv[2:4])
    server.socket = tls.wrap_socket(server.socket, server_side=True)
(folder / "port.new").write_text(str(server.server_address[1]))
(folder / "port.new").rename(folder / "port")
server.serve_forever()
