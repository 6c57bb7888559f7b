#!/usr/bin/env python3
"""The API's description against the API: every route is described, every answer of the daemon has its described form.

    openapi.py describe SERVER               the document: references, schemas, examples
    openapi.py replay  SERVER FACTS          every path with every argument, and every error, of a daemon with data
    openapi.py tokens  SERVER ADMIN_FILE     tokens that are made, listed and revoked, where they are asked for
    openapi.py limit   SERVER                429 of a daemon whose limit is 20 requests a minute
    openapi.py refuse  SERVER READ_TOKEN     401 without a token, 403 with one that may only read

Prints one TAP line a check, without the plan. FACTS is JSON: {"repo","branch","base","target","regression","job","alert","alert2",
"alert3","bisect","profile","cell","device","secret"}.
"""
import base64, hashlib, hmac, http.client, json, re, socket, sys, time, urllib.error, urllib.parse, urllib.request
import xml.etree.ElementTree

from jsonschema import Draft202012Validator

count = bad = 0


def check(good, name, detail=""):
    global count, bad
    count += 1
    bad += not good
    print(("ok" if good else "not ok"), count, "-", name)
    if not good:
        for line in str(detail).splitlines()[:12]:
            print("#", line[:600])
    return good


# ---- the document ---------------------------------------------------------------------------------------------------

METHODS = ("get", "post")
HOOK = ("post", "/api/v1/hooks/{repo}")  # a forge writes its address, and may add to it


def operations(document):
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                yield method, path, item[method]


def resolve(document, node):
    while isinstance(node, dict) and "$ref" in node:
        at = document
        for key in node["$ref"].removeprefix("#/").split("/"):
            at = at[key]
        node = at
    return node


def parameters(document, operation):
    return [resolve(document, p) for p in operation.get("parameters", [])]


def references(node):
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for value in node.values():
            yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


def strict(node):
    """The same schema, but a key that it does not name is a mistake: readers may ignore it, the description may not."""
    if isinstance(node, list):
        return [strict(v) for v in node]
    if not isinstance(node, dict):
        return node
    out = {k: strict(v) for k, v in node.items()}
    if isinstance(out.get("properties"), dict) and "required" in out and "additionalProperties" not in out:
        out["additionalProperties"] = False
    return out


def validator(document, schema):
    return Draft202012Validator({"components": strict(document["components"]), **strict(schema)})


def mistakes(document, schema, value):
    found = sorted(validator(document, schema).iter_errors(value), key=lambda e: list(e.path))
    return "\n".join("/".join(map(str, e.path)) + ": " + e.message[:300] for e in found)


def describe(server):
    """References, schemas and examples of the document."""
    document = json.loads(ask(server, "GET", "/api/v1/openapi.json").body)
    described = {(m, p): o for m, p, o in operations(document)}
    check(len(described) > 20, "the operations are read")
    ids = [o["operationId"] for o in described.values()]
    check(len(set(ids)) == len(ids), "every operation has a name of its own")
    wrong = [(m, p) for m, p, o in operations(document)
             if set(re.findall(r"{(\w+)}", p)) != {q["name"] for q in parameters(document, o) if q["in"] == "path"}]
    check(not wrong, "every part of a path is a parameter", wrong)
    check(all(o["tags"] and o["summary"] for _, _, o in operations(document)), "every operation has its place and says what it does")
    used = set(references(document))
    parts = {f"#/components/{kind}/{name}" for kind in ("schemas", "parameters", "responses", "headers") for name in document["components"][kind]}
    check(used == parts, "every part is used, and there", used ^ parts)
    try:
        for schema in document["components"]["schemas"].values():
            Draft202012Validator.check_schema(schema)
        check(True, "schemas are JSON Schema 2020-12")
    except Exception as e:
        check(False, "schemas are JSON Schema 2020-12", e)
    wrong = []
    for _, path, operation in operations(document):
        body = operation.get("requestBody", {}).get("content", {}).get("application/json")
        if body and "example" in body:
            wrong += [path + " " + m for m in mistakes(document, body["schema"], body["example"]).splitlines()]
    for name, answer in document["components"]["responses"].items():
        for part in answer.get("content", {}).values():
            if "example" in part:
                wrong += [name + " " + m for m in mistakes(document, part["schema"], part["example"]).splitlines()]
    check(not wrong, "examples fit their schemas", "\n".join(wrong))


# ---- requests -------------------------------------------------------------------------------------------------------


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body
        self.type = (headers.get("Content-Type") or "").split(";")[0]


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args):
        return None


opener = urllib.request.build_opener(NoRedirect)


def announce(server, method, path, headers):
    connection = http.client.HTTPConnection(server.removeprefix("http://"), timeout=20)
    connection.putrequest(method.upper(), path)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    r = connection.getresponse()
    a = Answer(r.status, r.headers, r.read())
    connection.close()
    return a


def ask(server, method, path, body=None, headers=None):
    headers = dict(headers or {})
    if isinstance(body, (dict, list)):
        body = json.dumps(body).encode()
    if body is not None:
        headers.setdefault("Content-Type", "application/json")
    if "Content-Length" in headers:  # more than is sent: it has to be refused before
        return announce(server, method, path, headers)
    request = urllib.request.Request(server + path, method=method.upper(), headers=headers, data=body)
    try:
        with opener.open(request, timeout=20) as r:
            if r.headers.get("Content-Type", "").startswith("text/event-stream"):
                return Answer(r.status, r.headers, r.read1(200))
            return Answer(r.status, r.headers, r.read())
    except urllib.error.HTTPError as e:
        return Answer(e.code, e.headers, e.read())


class Replay:
    def __init__(self, server, document, headers=None):
        self.server, self.document, self.headers, self.seen = server, document, headers or {}, set()

    def expect(self, method, path, query="", status=200, body=None, headers=None, **segments):
        """One request; its status must be the expected and documented one, its body as described. Its JSON, or its text."""
        operation = self.document["paths"][path][method]
        target = path
        for name, value in segments.items():
            target = target.replace("{" + name + "}", urllib.parse.quote(str(value), safe=""))
        a = ask(self.server, method, target + ("?" + query if query else ""), body, {**self.headers, **(headers or {})})
        name = f"{method} {target}{'?' + query if query else ''} is {status}"
        described = resolve(self.document, operation["responses"].get(str(a.status)))
        self.seen.add((method, path, a.status))
        if a.status != status or described is None:
            check(False, name, f"{a.status}, described: {sorted(operation['responses'])}\n{a.body[:500]!r}")
            return None
        if "content" not in described:
            check(a.body == b"", name, a.body[:100])
            return None
        wrong, value = "", a.body.decode("utf-8", "replace")
        if a.type not in described["content"]:
            wrong = f"it is {a.type}"
        elif a.type.endswith("json"):
            value = json.loads(a.body)
            wrong = mistakes(self.document, described["content"][a.type]["schema"], value)
        for header in described.get("headers", {}):
            if header in ("ETag", "Location") and not a.headers.get(header):
                wrong += f"\nno {header}"
        if a.type == "image/svg+xml":
            try:
                picture = xml.etree.ElementTree.fromstring(a.body)
                wrong += "" if picture.tag == "{http://www.w3.org/2000/svg}svg" else picture.tag
            except xml.etree.ElementTree.ParseError as e:
                wrong += f"not XML: {e}"
        check(not wrong, name, wrong)
        if method == "get" and status == 200 and a.headers.get("ETag"):
            self.again(method, path, target, query, a.headers["ETag"])
        if method == "get" and status == 200:
            self.head(path, target, query, a)
            if (method, path, 406) not in self.seen:
                self.refuse(method, path, target, query, 406, "GET", {"Accept": "x-unknown/x-unknown"})
        if (method, path, 405) not in self.seen:
            b = self.refuse(method, path, target, "", 405, "DELETE", {})
            check(method.upper() in (b.headers["Allow"] or "").split(", "), f"Allow of {path} has {method}", b.headers["Allow"])
        return value

    def refuse(self, method, path, target, query, status, other, headers):
        """An operation's refusal of another method or format is the described one."""
        b = ask(self.server, other, target + ("?" + query if query else ""), headers={**self.headers, **headers})
        described = resolve(self.document, self.document["paths"][path][method]["responses"].get(str(status), {}))
        wrong = "" if b.status == status and described and b.type in described["content"] else f"{b.status} {b.type}"
        check(not wrong and not mistakes(self.document, PROBLEM, json.loads(b.body)) and all(h in b.headers for h in described.get("headers", {})),
              f"{other} {target} {headers.get('Accept', '')} is {status}, as described", f"{wrong} {b.headers}")
        self.seen.add((method, path, status))
        return b

    def again(self, method, path, target, query, etag):
        where = target + ("?" + query if query else "")
        for _ in range(20):
            b = ask(self.server, method, where, headers={**self.headers, "If-None-Match": etag})
            if b.status == 304:
                break
            etag = b.headers["ETag"]  # a time in it, or a job, went on
        self.seen.add((method, path, b.status))
        check(b.status == 304 and b.body == b"" and b.headers["ETag"] == etag, f"{target}?{query} is not sent twice", b.status)

    def head(self, path, target, query, a):
        where = target + ("?" + query if query else "")
        for _ in range(20):
            b = ask(self.server, "HEAD", where, headers=self.headers)
            same = b.status == a.status and b.body == b"" and b.headers["Content-Type"] == a.headers["Content-Type"]
            # values that are computed at each request change in between, and a job may continue
            same = same and (path == "/metrics" or b.headers["Content-Length"] == a.headers["Content-Length"])
            if same:
                break
            a = ask(self.server, "GET", where, headers=self.headers)
        check(same, f"head {target}?{query} is the same without a body", f"{b.status} {b.headers}")

    # ---- every GET with every argument ----

    def value_of(self, facts, parameter, schema):
        known = {"repo": facts["repo"], "branch": facts["branch"], "base": facts["base"], "target": facts["target"],
                 "cell": facts["cell"], "device": facts["device"], "limit": 1, "since": "2w", "until": "2999-01-01T00:00:00+01:00", "sha": facts["target"][:12], "suite": "tiny", "month": facts["month"]}
        if parameter["name"] in known:
            return [known[parameter["name"]]]
        if "enum" in schema:
            return schema["enum"]
        return ["1"]

    def gets(self, facts):
        ids = {"comparisons": facts["regression"], "jobs": facts["job"], "bisects": facts["bisect"], "alerts": facts["alert"], "profiles": facts["profile"],
               "repos": self.expect("post", "/api/v1/repos/{repo}/fetches", status=202, body={}, repo=facts["repo"])["fetch"]}
        for method, path, operation in operations(self.document):
            if method != "get":
                continue
            needed, optional, segments = {}, [], [{}]
            for p in parameters(self.document, operation):
                values = self.value_of(facts, p, resolve(self.document, p["schema"]))
                if p["in"] == "path":
                    if p["name"] == "id":
                        values = [ids[path.split("/")[3]]]
                    segments = [dict(s, **{p["name"]: v}) for s in segments for v in values]
                elif p["in"] == "query" and p.get("required"):
                    needed[p["name"]] = values[0]
                elif p["in"] == "query":
                    optional += [{p["name"]: v} for v in values]
            for s in segments:
                self.expect(method, path, urllib.parse.urlencode(needed), **s)
            for o in optional:
                extra = {"repo": facts["repo"]} if "branch" in o else {}
                self.expect(method, path, urllib.parse.urlencode({**needed, **extra, **o}), **segments[0])

    def pages(self, facts):
        """A list cut at every row is the same list, and its end is known."""
        for path, key in (("/api/v1/comparisons", "id"), ("/api/v1/jobs", "id"), ("/api/v1/alerts", "id"), ("/api/v1/bisects", "id"), ("/api/v1/profiles", "id"), ("/api/v1/branches", "name")):
            whole = json.loads(ask(self.server, "GET", path + "?limit=500").body)["items"]
            rows, query = [], "?limit=1"
            for _ in range(len(whole) + 2):
                a = ask(self.server, "GET", path + query)
                page = json.loads(a.body)
                rows += [r[key] for r in page["items"]]
                link = re.match(r'<([^>]+)>; rel="next"$', a.headers.get("Link") or "")
                if bool(link) != (page["next_cursor"] is not None) or not link:
                    break
                query = link[1].removeprefix(path)
            check(rows == [r[key] for r in whole] and page["next_cursor"] is None and page["items"] and not link,
                  f"{path}, row by row, is the same list and ends with its last row", rows)

    # ---- every error, and every POST ----

    def gets_refused(self, facts):
        nothing = {"id": 999999, "sha": "ffffffffffff", "uuid": "nobody", "name": "no-such-name", "repo": "nobody", "file": "nothing", "month": "1999-01"}
        for method, path, operation in operations(self.document):
            if method != "get":
                continue
            segments = {n: nothing[n] for n in re.findall(r"{(\w+)}", path)}
            needed, wrong = {}, []
            for p in parameters(self.document, operation):
                schema = resolve(self.document, p["schema"])
                if p["in"] != "query":
                    continue
                if p.get("required"):
                    needed[p["name"]] = self.value_of(facts, p, schema)[0]
                if "enum" in schema or schema.get("type") == "integer" or p["name"] in ("cursor", "since", "until"):
                    wrong.append((p["name"], "asleep"))
                if p["name"] == "until":
                    wrong += [(p["name"], "2026-02-30"), (p["name"], "7x")]
                if schema.get("type") == "integer":
                    wrong += [(p["name"], 0), (p["name"], schema["maximum"] + 1)]
            if segments and "404" in operation["responses"]:
                self.expect(method, path, urllib.parse.urlencode(needed), 404, **segments)
            for name, value in wrong:
                self.expect(method, path, urllib.parse.urlencode({**needed, name: value}), 400)
            for name in needed:
                self.expect(method, path, urllib.parse.urlencode({k: v for k, v in needed.items() if k != name}), 400)
        self.expect("get", "/api/v1/comparisons", "branch=main", 400)
        self.expect("get", "/api/v1/calibration", "device=nobody", 404)
        month = "/api/v1/samples/{month}.zst"
        whole, rest = (ask(self.server, "GET", month.replace("{month}", facts["month"]), headers=h) for h in ({}, {"Range": "bytes=70-"}))
        check(rest.body == whole.body[70:] and rest.headers["Content-Range"] == f"bytes 70-{len(whole.body) - 1}/{len(whole.body)}",
              "what a copy of a month lacks is sent alone", rest.headers)
        self.expect("get", month, status=206, headers={"Range": "bytes=70-"}, month=facts["month"])
        self.expect("get", month, status=416, headers={"Range": f"bytes={len(whole.body)}-"}, month=facts["month"])
        self.expect("get", "/api/v1/badge.svg", f"repo={facts['repo']}&branch=nobody", 404)

    def unknown(self, facts):
        """Every operation rejects unknown parameters: ignoring one would look like a filter."""
        for method, path, operation in operations(self.document):
            segments = {n: {"id": 1, "sha": facts["target"], "file": "compare_dense"}.get(n, "x") for n in re.findall(r"{(\w+)}", path)}
            query = {p["name"]: p for p in parameters(self.document, operation) if p["in"] == "query"}
            needed = {n: self.value_of(facts, p, resolve(self.document, p["schema"]))[0] for n, p in query.items() if p.get("required")}
            if (method, path) != HOOK:
                problem = self.expect(method, path, urllib.parse.urlencode({**needed, "colour": "red"}), 400, **segments)
                check(problem is not None and "no argument colour; " in problem["detail"] and all(n in problem["detail"] for n in query),
                      f"{method} {path} says which argument, and which there are", problem)
            if "repo" in query:
                self.expect(method, path, urllib.parse.urlencode({**needed, "repo": "nobody"}), 404, **segments)

    def index(self):
        """The index, which has two addresses, lists every readable route."""
        here = {v.split("?")[0] for v in json.loads(ask(self.server, "GET", "/api/v1/").body).values()}
        left = {p for m, p, _ in operations(self.document) if m == "get"} - here - {"/api/v1", "/api/v1/", "/healthz"}
        check(not left, "the index names everything that can be read", left)
        left = {p for p in here if p.startswith("/api/v1/")} - {p for _, p, _ in operations(self.document)}
        check(not left, "every address in the index is described", left)
        check(ask(self.server, "GET", "/api/v1").body == ask(self.server, "GET", "/api/v1/").body, "with and without its last slash")

    def malformed(self, facts):
        """Every operation rejects an unparsable address, and its description has this answer."""
        for method, path, _ in operations(self.document):
            segments = {n: {"id": 1, "sha": facts["target"], "repo": facts["repo"], "file": "compare_dense"}.get(n, "x") for n in re.findall(r"{(\w+)}", path)}
            self.expect(method, path, "a=%zz", 400, **segments)

    def once(self, path, body, facts, **segments):
        """A POST with an Idempotency-Key happens once."""
        key = {"Idempotency-Key": path.replace("/", "-")}
        first = self.expect("post", path, status=201, body=body, headers=key, **segments)
        check(first is not None and self.expect("post", path, status=201, body=body, headers=key, **segments) == first,
              f"post {path} with the same key is answered the same")
        self.expect("post", path, status=422, body={**(body or {}), "repo": "another"}, headers=key, **segments)
        self.expect("post", path, status=400, body=body, headers={"Idempotency-Key": "k" * 129}, **segments)
        return first

    def posts(self, facts):
        v1, repo = "/api/v1/", facts["repo"]
        for method, path, operation in operations(self.document):  # rejected by all of them in the same way
            if method != "post" or path == v1 + "hooks/{repo}":
                continue
            segments = {n: {"id": 999999}.get(n, "no-such-name") for n in re.findall(r"{(\w+)}", path)}
            if "404" in operation["responses"] and segments:
                body = {"commit": "0" * 40} if path.endswith("/approvals") else {"reason": "none"}
                self.expect("post", path, status=404, body=body, **segments)
            files = "multipart/form-data" in operation.get("requestBody", {}).get("content", {})
            if "requestBody" in operation:
                kind = "multipart/form-data; boundary=x" if files else "application/json"
                self.expect("post", path, status=400, body=b"{", headers={"Content-Type": kind}, **segments)
                self.expect("post", path, status=415, body=b"<a/>", headers={"Content-Type": "application/xml"}, **segments)
            if "413" in operation["responses"]:
                self.expect("post", path, status=413, headers={"Content-Length": str((300 if files else 2) << 20)}, **segments)
        pause, resume = (f"{v1}devices/{{uuid}}/{verb}" for verb in ("pause", "resume"))
        number = self.expect("post", v1 + "repos/{repo}/fetches", status=202, body={}, repo=repo)["fetch"]
        for given_by_none in (1, number + 1000, 1 << 52):
            self.expect("get", v1 + "repos/{repo}/fetches/{id}", status=404, repo=repo, id=given_by_none)
        self.expect("post", pause, body={}, uuid=facts["device"])  # a request for the present state changes nothing
        job = self.once(v1 + "jobs", {"repo": repo, "target": facts["target"], "base": facts["base"], "quick": True}, facts)
        self.expect("post", v1 + "jobs/{id}/cancel", body={}, id=job["id"])
        self.expect("post", v1 + "jobs", status=400, body={"repo": repo})
        self.expect("post", v1 + "jobs", status=400, body={"repo": repo, "target": facts["target"], "colour": "red"})
        self.expect("post", v1 + "jobs", status=404, body={"repo": "nobody", "target": facts["target"]})
        for name in ("b" * 1020, "ü" * 500, "b" * 2000):  # longer, once encoded, than any branch's key
            status = 404 if name == "b" * 1020 else 400
            self.expect("post", v1 + "jobs", status=status, body={"repo": repo, "target": name})
            self.expect("post", v1 + "bisects", status=status, body={"repo": repo, "good": name, "bad": facts["target"]})
            quoted = urllib.parse.urlencode({"repo": repo, "branch": name})
            for query in ("badge.svg", "branches", "comparisons", "history"):
                a = ask(self.server, "GET", f"{v1}{query}?{quoted}&cell=x")
                check(a.status in (200, 400, 404) and (a.status != 200 or json.loads(a.body).get("items", json.loads(a.body).get("points")) == []),
                      f"{query} of a branch with a name of {len(name)} is empty or refused", f"{a.status} {a.body[:200]}")
        self.expect("post", v1 + "jobs/{id}/cancel", status=409, body={}, id=facts["job"])
        other = self.once(v1 + "jobs/{id}/retry", {}, facts, id=facts["job"])
        self.expect("post", v1 + "jobs/{id}/retry", status=409, body={}, id=other["id"])
        self.expect("post", v1 + "jobs/{id}/cancel", body={}, id=other["id"])
        search = self.once(v1 + "bisects", {"repo": repo, "good": facts["base"], "bad": facts["target"]}, facts)
        self.expect("post", v1 + "bisects", status=400, body={"repo": repo})
        self.expect("post", v1 + "bisects", status=404, body={"repo": "nobody", "good": facts["base"], "bad": facts["target"]})
        self.expect("post", v1 + "bisects/{id}/cancel", body={}, id=search["id"])
        self.expect("post", v1 + "bisects/{id}/cancel", status=409, body={}, id=search["id"])
        self.once(v1 + "profiles", {"repo": repo, "base": facts["base"], "target": facts["target"], "cells": "*/forward"}, facts)
        self.expect("post", v1 + "profiles", body={"alert": facts["alert"]}, status=201)
        self.expect("post", v1 + "profiles", body={"comparison": facts["regression"], "cells": facts["cell"]}, status=201)
        self.expect("post", v1 + "profiles", body={"comparison": facts["regression"], "cells": "none"}, status=400)
        self.expect("post", v1 + "profiles", body={"comparison": 999999}, status=404)
        self.expect("post", v1 + "profiles", body={"alert": 1, "comparison": 1}, status=400)
        self.expect("post", v1 + "profiles", body={"repo": repo}, status=400)
        self.once(v1 + "calibrate", {"repo": repo, "runs": 1}, facts)
        self.expect("post", v1 + "calibrate", status=400, body={"repo": repo, "runs": 0})
        self.expect("post", v1 + "calibrate", status=404, body={"repo": "nobody"})
        self.expect("post", v1 + "calibration/forget", status=400, body={"repo": repo, "device": "cuda"})
        self.expect("post", v1 + "calibration/forget", status=404, body={"repo": "nobody"})
        self.expect("post", v1 + "calibration/forget", body={"repo": repo, "cells": "*/forward"})
        self.once(v1 + "peers", {"repo": repo, "target": facts["target"], "provider": "naive"}, facts)
        self.expect("post", v1 + "peers", status=400, body={"repo": repo, "provider": "no name"})
        self.expect("post", v1 + "peers", status=400, body={"repo": repo, "target": facts["target"]})
        self.expect("post", v1 + "peers", status=404, body={"repo": "nobody"})
        figures = {"repo": repo, "commit": facts["target"], "name": "elsewhere", "rows": [{"cell": "copy/forward", "ms": 0.25}]}
        self.once(v1 + "imports", figures, facts)
        self.expect("post", v1 + "imports", body=figures)
        self.expect("post", v1 + "imports", status=404, body={**figures, "repo": "nobody"})
        self.expect("post", v1 + "imports", status=201, body={**figures, "commit": facts["target"][:8] + 32 * "0"})
        self.expect("get", v1 + "commits/{sha}/verdict", status=409, sha=facts["target"][:8])
        self.expect("post", v1 + "comparisons/{id}/judge", body={}, id=facts["regression"])
        self.expect("post", v1 + "notifications/{id}/redeliver", body={}, id=1)
        self.expect("post", v1 + "receivers/{name}/test", body={}, name="nobody")
        self.expect("post", v1 + "receivers/{name}/test", body={}, name="no-such-name", status=404)
        change = lambda which, verb, status, **body: self.expect("post", f"{v1}alerts/{{id}}/{verb}", status=status, body=body, id=facts[which])
        change("alert", "acknowledge", 200)
        change("alert", "accept", 400)
        change("alert", "accept", 200, reason="meant")
        change("alert2", "resolve", 200, reason="over")
        change("alert3", "invalidate", 200, reason="noise")
        for verb in ("acknowledge", "accept", "resolve", "invalidate"):
            change("alert", verb, 409, reason="again")
            change("alert", verb, 400, reason=5)
        self.expect("post", v1 + "tokens", status=409, body={"name": "ci", "scope": "read"})  # its author is unknown here
        self.expect("post", v1 + "tokens", status=400, body={"name": "a b", "scope": "read"})
        self.expect("post", v1 + "tokens", status=400, body={"name": "d", "scope": "read"}, headers={"Idempotency-Key": "x"})
        self.expect("post", v1 + "backup", body={})
        self.posted_forms(facts)
        self.posted_files()
        self.hooks(facts)
        self.expect("post", resume, body={}, uuid=facts["device"])

    def posted_forms(self, facts):
        """A form is read and answered like JSON of the same keys, errors included."""
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        for method, path, operation in operations(self.document):
            if method != "post" or form["Content-Type"] not in operation.get("requestBody", {}).get("content", {}):
                continue
            segments = {n: facts["alert"] for n in re.findall(r"{(\w+)}", path)}
            fields = {"colour": "red"}
            as_json = self.expect("post", path, status=400, body=fields, **segments)
            as_form = self.expect("post", path, status=400, body=urllib.parse.urlencode(fields).encode(), headers=form, **segments)
            check(as_json is not None and as_json == as_form and "colour" in as_json["detail"], f"{path} refuses an unknown key alike", as_form)
            self.expect("post", path, status=400, body=b"repo=a&repo=b", headers=form, **segments)
            self.expect("post", path, status=400, body=b"repo=%zz", headers=form, **segments)
        v1, send = "/api/v1/", lambda fields: urllib.parse.urlencode(fields).encode()
        request = {"repo": facts["repo"], "target": facts["target"], "base": facts["base"], "quick": "true", "suite": ""}
        job = self.expect("post", v1 + "jobs", status=201, body=send(request), headers=form)
        if job:
            row = self.expect("get", v1 + "jobs/{id}", id=job["id"])
            check(row["quick"] and row["base"] == facts["base"], "a form's job is the one that was asked for", row)
            self.expect("post", v1 + "jobs/{id}/cancel", body=b"", headers=form, id=job["id"])
        jobs = self.expect("post", v1 + "calibrate", status=201, body=send({"repo": facts["repo"], "runs": "2"}), headers=form)
        check(jobs is not None and len(jobs["jobs"]) == 2, "a form's numbers are numbers", jobs)
        self.expect("post", v1 + "calibrate", status=400, body=send({"repo": facts["repo"], "runs": "two"}), headers=form)
        self.expect("post", v1 + "jobs", status=400, body=send({**request, "quick": "maybe"}), headers=form)
        self.expect("post", v1 + "imports", status=415, body=send({"repo": facts["repo"]}), headers=form)

    def posted_files(self):
        """Two files in a form are compared; a file that cannot be read is named."""
        def post(status, **fields):
            body = b"".join(b'--x\r\nContent-Disposition: form-data; name="%s"; filename="%s.csv"\r\n\r\n%s\r\n' % (n.encode(), n.encode(), v)
                            for n, v in fields.items()) + b"--x--\r\n"
            return self.expect("post", "/api/v1/compare", status=status, body=body, headers={"Content-Type": "multipart/form-data; boundary=x"})
        files = {"base": b"size,ours\n128,1\n256,2\n", "target": b"size,ours\n128,1.5\n256,\n", "format": b"triton", "unit": b"ms"}
        answer = post(200, **files)
        check(answer is not None and (answer["base"], answer["common"], answer["slower"]) == ("base.csv", 1, 1), "the files are compared", answer)
        problem = post(422, **{**files, "format": b"jmh", "unit": b""})
        check(problem is not None and "base.csv:1:4: " in problem["detail"], "and a mistake in a file has its position", problem)
        post(400, base=files["base"])
        post(400, **files, colour=b"red")

    def hooks(self, facts):
        path, body = "/api/v1/hooks/{repo}", b'{"ref":"refs/heads/main"}'
        signed = {"X-Hub-Signature-256": "sha256=" + hmac.new(facts["secret"].encode(), body, hashlib.sha256).hexdigest(),
                  "Content-Type": "application/json"}
        self.expect("post", path, status=404, body=body, repo="nobody")
        self.expect("post", path, status=401, body=body, repo=facts["repo"])
        at, name = str(int(time.time())), "d" * 300
        mac = hmac.new(facts["secret"].encode(), f"{name}.{at}.".encode() + body, hashlib.sha256).digest()
        standard = {"webhook-id": name, "webhook-timestamp": at, "webhook-signature": "v1," + base64.b64encode(mac).decode(),
                    "Content-Type": "application/json"}
        self.expect("post", path, status=400, body=body, headers=standard, repo=facts["repo"])
        self.expect("post", path, status=200, body=body, headers={**signed, "X-GitHub-Event": "ping"}, repo=facts["repo"])
        self.expect("post", path, status=202, body=body, headers={**signed, "X-GitHub-Delivery": "1"}, repo=facts["repo"])

    def forms(self, facts):
        """Methods and forms that an address does not have."""
        for method, path, status in (("POST", "/api/v1/repos", 405), ("GET", "/api/v1/backup", 405), ("DELETE", "/api/v1/jobs/1", 405),
                                     ("PUT", "/api/v1/jobs", 405), ("OPTIONS", "/api/v1/jobs", 405)):
            a = ask(self.server, method, path, b"" if method == "POST" else None)
            check(a.status == status and a.headers["Allow"] and not mistakes(self.document, PROBLEM, json.loads(a.body)),
                  f"{method} {path} is {status} and says what is allowed", f"{a.status} {a.headers} {a.body}")
        a = ask(self.server, "PUT", "/api/v1/jobs")
        check(a.headers["Allow"] == "GET, HEAD, POST", "Allow lists what is there", a.headers["Allow"])
        path = f"/api/v1/comparisons/{facts['regression']}"
        for accept, kind in (("*/*", "application/json"), ("text/csv", "text/csv"), ("text/markdown", "text/markdown"),
                             ("text/html;q=0.5, application/*", "application/json"), ("application/json;q=0, text/csv", "text/csv")):
            a = ask(self.server, "GET", path, headers={"Accept": accept})
            check(a.status == 200 and a.type == kind and "Accept" in (a.headers["Vary"] or ""), f"{path} as {accept} is {kind}", a.type)
        self.expect("get", "/api/v1/comparisons/{id}", status=406, headers={"Accept": "image/png"}, id=facts["regression"])
        self.expect("get", "/api/v1/profiles/{id}", status=406, headers={"Accept": "image/png"}, id=facts["profile"])
        self.expect("get", "/api/v1/report", status=406, headers={"Accept": "image/png"})
        for target in ("/api/v1/jobs", "/metrics"):
            a = ask(self.server, "GET", target, headers={"Accept": "image/png"})
            check(a.status == 406 and a.type == "application/problem+json", f"{target} as a picture is 406", a.status)

    def crowd(self):
        """Readers of events beyond the limit get an error, and slots are free again after them."""
        host, port = self.server.removeprefix("http://").split(":")
        sockets = []
        for _ in range(128):
            s = socket.create_connection((host, int(port)))
            s.sendall(f"GET /api/v1/events HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
            sockets.append(s)
        heads = [s.recv(300) for s in sockets]
        check(all(h.startswith(b"HTTP/1.1 200") for h in heads), "128 read events at once")
        self.expect("get", "/api/v1/events", status=503)
        for s in sockets:
            s.close()


PROBLEM = {"$ref": "#/components/schemas/problem"}

# Answers that a test cannot cause from outside.
ELSEWHERE = {("get", "/healthz", 503), ("post", "/api/v1/jobs", 503), ("post", "/api/v1/calibrate", 503), ("post", "/api/v1/peers", 503),
             ("post", "/api/v1/repos/{repo}/pulls/{number}/approvals", 200),  # test_pull_requests does
             ("post", "/api/v1/tokens", 201), ("post", "/api/v1/tokens/{name}/revoke", 200),  # `tokens` does
             ("post", "/api/v1/bisects", 503), ("post", "/api/v1/profiles", 409), ("post", "/api/v1/profiles", 503), ("post", "/api/v1/backup", 409), ("post", "/api/v1/backup", 503),
             ("post", "/api/v1/compare", 503)}  # test_compare_files.sh does


def replay(server, facts):
    document = json.loads(ask(server, "GET", "/api/v1/openapi.json").body)
    r = Replay(server, document)
    r.gets(facts)
    r.pages(facts)
    r.gets_refused(facts)
    r.malformed(facts)
    r.unknown(facts)
    r.index()
    r.posts(facts)
    r.forms(facts)
    r.crowd()
    left = [(m, p, int(s)) for m, p, o in operations(document) for s in o["responses"]
            if int(s) != 429 and (int(s) not in (401, 403) or not o["security"]) and (m, p, int(s)) not in r.seen | ELSEWHERE]
    check(not left, "every described answer was seen", left)


def tokens(server, admin):
    headers = {"Authorization": "Bearer " + admin}
    r = Replay(server, json.loads(ask(server, "GET", "/api/v1/openapi.json", headers=headers).body), headers)
    path = "/api/v1/tokens"
    token = r.expect("post", path, status=201, body={"name": "ci", "scope": "read"})
    check(token is not None and token["token"] not in str(ask(server, "GET", path, headers=headers).body), "a token is shown once")
    r.expect("get", path)
    r.expect("post", path, status=409, body={"name": "ci", "scope": "read"})
    r.expect("post", path + "/{name}/revoke", body={}, name="ci")
    r.expect("post", path + "/{name}/revoke", status=404, body={}, name="ci")


def limit(server):
    """Beyond the limit, each operation that has one answers 429 with the seconds to wait."""
    forwarded = {"X-Forwarded-For": "192.0.2.9"}
    document = json.loads(ask(server, "GET", "/api/v1/openapi.json").body)
    left = [int(ask(server, "GET", "/api/v1/jobs", headers=forwarded).headers["RateLimit-Remaining"]) for _ in range(20)]
    check(left == list(range(19, -1, -1)), "each request counts", left)
    for method, path, operation in operations(document):
        a = ask(server, method, re.sub(r"{\w+}", "1", path), {} if method == "post" else None, forwarded)
        described = resolve(document, operation["responses"].get("429"))
        if described is None:
            check(a.status != 429, f"{method} {path} has no limit", a.status)
        else:
            check(a.status == 429 and all(h in a.headers for h in described["headers"]) and not mistakes(document, PROBLEM, json.loads(a.body)),
                  f"{method} {path} beyond the limit is 429", f"{a.status} {a.headers}")
    check(all(ask(server, "GET", "/api/v1/jobs").status == 200 for _ in range(25)), "a program of this machine has no limit")


def refuse(server, token):
    document = json.loads(ask(server, "GET", "/api/v1/openapi.json", headers={"Authorization": "Bearer " + token}).body)
    for method, path, operation in operations(document):
        if not operation["security"]:
            continue
        target = re.sub(r"{\w+}", "1", path)
        body = {} if method == "post" else None
        a = ask(server, method, target, body)
        check(a.status == 401 and a.headers["WWW-Authenticate"] and not mistakes(document, PROBLEM, json.loads(a.body)),
              f"{method} {path} without a token is 401", a.status)
        if operation["security"][0]["bearer"][0] != "read":
            a = ask(server, method, target, body, {"Authorization": "Bearer " + token})
            check(a.status == 403 and not mistakes(document, PROBLEM, json.loads(a.body)), f"{method} {path} by a reader is 403", a.status)


def main():
    what, where, more = (sys.argv + [None])[1:4]
    if what == "describe":
        describe(where)
    elif what == "replay":
        replay(where, json.load(open(more)))
    elif what == "tokens":
        tokens(where, open(more).read().strip())
    elif what == "limit":
        limit(where)
    else:
        refuse(where, more)
    sys.exit(bad > 0)


main()
