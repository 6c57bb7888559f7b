#!/usr/bin/env python3
"""access.py FOLDER: every operation of the API's description and every page, by each credential, from each origin.

FOLDER is made by test_access.sh here. The description names the scope that an operation needs; a refused request
changes no row.
"""
import http.client
import itertools
import json
import pathlib
import random
import re
import signal
import sys

from campaign import Campaign, Daemon

SCOPES = ["open", "read", "trigger", "admin"]
PAGES = ["/", "/comparisons", "/jobs", "/jobs/1", "/alerts", "/alerts/1", "/bisects", "/devices", "/peers", "/notifications",
    "/help", "/search?q=main",
         "/alerts.atom", "/comparisons.atom", "/history", "/branches", "/heat", "/compare"]
TABLES = ["job", "alert", "alert_event", "bisect", "token", "session", "profile", "comparison", "cell", "outbox",
          "idempotency_key", "webhook_seen"]
TABLES_WITHOUT_ROWID = ["pull_approval"]


class Server:
    def __init__(self, folder):
        self.folder, self.daemon = folder, Daemon(folder)
        if not self.daemon.start():
            sys.exit(f"the daemon does not start: {self.daemon.last_lines()}")
        self.port = int((folder / "state/port").read_text())
        self.host = f"127.0.0.1:{self.port}"
        found = [f"(SELECT count(*) || ' ' || coalesce(max(rowid), 0) FROM {table})" for table in TABLES]
        found += [f"(SELECT count(*) FROM {table})" for table in TABLES_WITHOUT_ROWID]
        found += [f"(SELECT group_concat(state) FROM {table})" for table in ("device", "alert")]
        self.counts = f"SELECT {', '.join(found)}"

    def ask(self, method, path, headers=None, body=None):
        """Status, headers and the beginning of the body: a stream of events does not end."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body, {"Content-Type": "application/json", **(headers or {})})
            answer = connection.getresponse()
            is_stream = (answer.getheader("Content-Type") or "").startswith("text/event-stream")
            return answer.status, dict(answer.getheaders()), b"" if is_stream else answer.read(1 << 20)
        except (OSError, http.client.HTTPException) as error:
            return 0, {}, repr(error).encode()
        finally:
            connection.close()

    def rows(self):
        return self.daemon.rows(self.counts)

    def credentials(self):
        """Name: (scope, or "" for none, headers)."""
        admin = (self.folder / "state/admin.token").read_text().strip()
        bearer = lambda token: {"Authorization": "Bearer " + token}
        made = {"admin.token": ("admin", bearer(admin))}
        for scope in SCOPES[1:]:
            status, _, text = self.ask("POST", "/api/v1/tokens", bearer(admin),
                json.dumps({"name": "of-" + scope, "scope": scope}))
            token = json.loads(text)["token"]
            made[scope] = scope, bearer(token)
            made[scope + " session"] = scope, {"Cookie": self.log_in(token)}
            ended = self.log_in(token)
            self.ask("POST", "/logout", {"Cookie": ended})
            made[scope + " session that ended"] = "", {"Cookie": ended}
            made[scope + " token as a session"] = "", {"Cookie": "flopwatch_session=" + token}
            made[scope + " session as a token"] = "", bearer(self.log_in(token).split("=")[1])
            made[scope + " token cut"] = "", bearer(token[:-1])
            made[scope + " token, longer"] = "", bearer(token + "0")
            made[scope + " token in capitals"] = "", bearer(token.upper())
            made[scope + " token without Bearer"] = "", {"Authorization": token}
            made[scope + " token as a password"] = "", {"Authorization": "Basic " + token}
            made[scope + " hidden by another"] = "", {**bearer("fwt_00"), "Cookie": made[scope + " session"][1]["Cookie"]}
        status, _, text = self.ask("POST", "/api/v1/tokens", bearer(admin), json.dumps({"name": "revoked", "scope": "admin"}))
        revoked = json.loads(text)["token"]
        session = self.log_in(revoked)
        self.ask("POST", "/api/v1/tokens/revoked/revoke", bearer(admin))
        made["revoked"] = "", bearer(revoked)
        made["session of a revoked token"] = "", {"Cookie": session}
        made["none"] = "", {}
        made["an empty one"] = "", bearer("")
        made["an SQL one"] = "", bearer("' OR 1=1 --")
        return made

    def log_in(self, token):
        _, headers, _ = self.ask("POST", "/login", {"Content-Type": "application/x-www-form-urlencoded"},
            f"token={token}&next=/")
        return headers["Set-Cookie"].split(";")[0]

    def origins(self):
        """Name: (whether it is another site, headers)."""
        own = "http://" + self.host
        return {
            "no origin": (False, {}), "own": (False, {"Origin": own}),
                "own by fetch": (False, {"Origin": own, "Sec-Fetch-Site": "same-origin"}),
            "typed": (False, {"Sec-Fetch-Site": "none"}), "another": (True, {"Origin": "https://evil.example"}),
            "null": (True, {"Origin": "null"}),
            "another port": (True, {"Origin": "http://127.0.0.1:1"}),
            "own as a beginning": (True, {"Origin": own + ".evil.example"}),
            "own as a user": (True, {"Origin": "http://" + self.host + "@evil.example"}),
            "another scheme": (True, {"Origin": "ftp://" + self.host}),
            "same site": (True, {"Sec-Fetch-Site": "same-site"}), "cross-site": (True, {"Sec-Fetch-Site": "cross-site"}),
            "own, but cross-site": (True, {"Origin": own, "Sec-Fetch-Site": "cross-site"}), "empty": (True, {"Origin": ""}),
            "an unknown site": (True, {"Sec-Fetch-Site": "weird"}),
        }


def operations(server, admin):
    """(method, path, scope, body): also other methods of the same paths, for which no scope is enough."""
    document = json.loads(server.ask("GET", "/api/v1/openapi.json", admin)[2])
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if method not in ("get", "post"):
                continue
            scope = operation["security"][0]["bearer"][0] if operation["security"] else "open"
            body = None
            if method == "post":
                content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
                body = json.dumps(content.get("example", {}))
            yield method.upper(), re.sub(r"{uuid}", "sim-0",
                re.sub(r"{repo}", "lines", re.sub(r"{(id|month|file|sha|name|number)}", "1", path))), scope, body
    for page in PAGES:
        yield "GET", page, "page", None
    yield "GET", "/settings", "admin page", None


def faults(server, operation, credential, origin):
    method, path, scope, body = operation
    has, credential_headers = credential
    is_foreign, origin_headers = origin
    needs = SCOPES.index("read" if scope == "page" else scope.replace(" page", ""))
    before = server.rows()
    status, headers, text = server.ask(method, path, {**credential_headers, **origin_headers}, body)
    refused = None
    if is_foreign and method == "POST":
        refused = (403,)
    elif needs and not has:
        refused = (303,) if "page" in scope else (401,)
    elif needs and SCOPES.index(has) < needs:
        refused = (403,)
    if refused is None:
        # a hook has its own secret, and paths here may name nothing
        if status in (0, 401, 403, 500, 501, 502) and not path.startswith("/api/v1/hooks/"):
            return [f"{status}, which it may: {text[:200]!r}"]
        return []
    found = []
    if status not in refused:
        found.append(f"{status} instead of {refused}: {text[:200]!r}")
    if server.rows() != before:  # the daemon also writes by itself, but not each time
        before = server.rows()
        server.ask(method, path, {**credential_headers, **origin_headers}, body)
        if server.rows() != before:
            found.append("a refused request changed rows")
    if status == 401 and "WWW-Authenticate" not in headers:
        found.append("401 without WWW-Authenticate")
    if status == 303 and not headers.get("Location", "").startswith("/login"):
        found.append(f"leads to {headers.get('Location')}")
    return found


def main():
    folder = pathlib.Path(sys.argv[1])
    campaign, server = Campaign("access", 250), Server(folder)
    server.daemon.open_reader()
    credentials, origins = server.credentials(), server.origins()
    listed = list(operations(server, credentials["admin.token"][1]))
    if len(listed) < 60:
        sys.exit(f"the description has only {len(listed)} operations")
    cases = list(itertools.product(listed, credentials, origins))
    random.Random(1).shuffle(cases)
    print(f"# {len(listed)} operations, {len(credentials)} credentials, {len(origins)} origins: {len(cases)} trials are all",
        flush=True)
    for n, _ in campaign.trials():
        operation, credential, origin = cases[n % len(cases)]
        campaign.count(f"{operation[0]} {operation[1]} ({operation[2]}), {credential}, {origin}",
                       faults(server, operation, credentials[credential], origins[origin]))
    if server.daemon.end(signal.SIGTERM) != 0:
        campaign.count("the end", [f"flopwatchd ends with {server.daemon.process.returncode}"])
    campaign.finish()


main()
