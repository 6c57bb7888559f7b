#!/usr/bin/env python3
"""forge_check.py SCHEMAS COMMAND ARGUMENT...: what was sent to forges, and what the fake ones answered, against the schemas that the forges publish.

  exchanges [--of FORGE ROOT] FILE...  lines of JSON of support/forge.py; --of: of support/receiver.py, those whose path begins with ROOT
  events [--part] FILE...              lines of JSON {forge, event, headers, body}; --part: a body may lack members
  controls FILE...                     lines of JSON {name, wanted, right, wrong}: of the exchange or event `wrong` a deviation matches `wanted`
  table                                the operations and events, and where their schema comes from

SCHEMAS is what client/forge_schemas.mjs wrote. Prints a line for each deviation, and last the operations with the number of their requests and
the statuses of their answers. Exit status: 1 deviations, or nothing was checked.

A schema is read strictly: a member that it does not name is a deviation, in requests and answers, unless it says that others may follow.
"""
import collections
import json
import re
import sys
import urllib.parse

from jsonschema import Draft202012Validator, FormatChecker

formats = FormatChecker(formats=())
formats.checks("date-time")(lambda text: not isinstance(text, str) or re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", text) is not None)
formats.checks("uri")(lambda text: not isinstance(text, str) or re.match(r"https?://[\w.-]+(:\d+)?/|git://", text) is not None)
AUTHORIZATION = {"github": r"Bearer \S+", "gitea": r"(token|Bearer) \S+", "forgejo": r"(token|Bearer) \S+", "gitlab": None}
# Limits of a check run that only the descriptions of GitHub's schema state: the member's path, and how many characters or bytes it may have.
LIMITS = [(r"output/annotations/\d+/title$", len, 255), (r"output/annotations/\d+/(message|raw_details)$", lambda text: len(text.encode()), 65536)]
# GitLab documents these members of events; the types of its client lack them.
UNTYPED = {"gitlab note": ["object_attributes.action"]}


class Schemas:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.all = json.load(file)
        self.strict = {}

    def convert(self, schema, is_value, is_part):
        """The schema as JSON Schema 2020-12. is_value: it describes a whole value, so that members that it does not name are wrong."""
        if isinstance(schema, bool) or not isinstance(schema, dict):
            return schema
        out = {}
        for key, one in schema.items():
            if key in ("properties", "patternProperties"):
                out[key] = {name: self.convert(value, True, is_part) for name, value in one.items()}
            elif key in ("allOf", "anyOf", "oneOf"):
                # without required members several may fit
                out["anyOf" if is_part and key == "oneOf" else key] = [self.convert(value, False, is_part) for value in one]
            elif key == "items":
                out[key] = self.convert(one, True, is_part)
            elif key == "additionalProperties":
                if one is not True or "properties" not in schema:
                    out[key] = self.convert(one, True, is_part) or True  # jsonschema 4.10 knows no {} here
            elif key == "required" and is_part:
                continue
            elif key == "$ref":
                name = one.split("/", 2)[2]
                self.need(name, is_part)
                out[key] = "#/$defs/" + name.replace("~", "~0").replace("/", "~1").replace("'", "%27")
            elif key not in ("nullable", "discriminator", "deprecated", "xml", "externalDocs", "readOnly", "writeOnly") and not key.startswith("x-"):
                out[key] = one
        describes_object = any(key in schema for key in ("properties", "allOf", "anyOf", "oneOf", "$ref"))
        if is_value and describes_object and "additionalProperties" not in out:
            out["unevaluatedProperties"] = False
        return {"anyOf": [out, {"type": "null"}]} if schema.get("nullable") else out

    def need(self, name, is_part):
        known = self.strict.setdefault(is_part, {})
        if name not in known:
            known[name] = True  # it may refer to itself
            known[name] = self.convert(self.all["schemas"][name], False, is_part)

    def errors(self, schema, value, is_part=False):
        converted = self.convert(schema, True, is_part)
        validator = Draft202012Validator({**converted, "$defs": self.strict.get(is_part, {})}, format_checker=formats)
        return [f"{'/'.join(map(str, error.absolute_path)) or 'the body'}: {shorten(error)}" for error in sorted(validator.iter_errors(value), key=lambda e: list(map(str, e.absolute_path)))]


def shorten(error):
    text = error.message if len(error.message) < 300 else error.message[:140] + " ... " + error.message[-150:]
    inner = [f"{'/'.join(map(str, one.absolute_path))}: {one.message[-120:]}" for one in (error.context or [])]
    return text + (f" ({'; '.join(inner[:4])})" if inner else "")


def read_lines(names):
    for name in names:
        with open(name, encoding="utf-8") as file:
            yield from (json.loads(line) for line in file if line.endswith("\n"))  # a fake may be writing the last one


def pattern_of(path):
    return re.compile("/".join(r"([^/?#]+)" if part.startswith("{") else re.escape(part) for part in path.split("/")))


def find_operation(schemas, kind, method, path):
    found = [(one, pattern_of(one["path"]).fullmatch(path)) for one in schemas.all["operations"] if one["forge"] == kind and one["method"] == method]
    return next(((one, match.groups()) for one, match in found if match), (None, ()))


def typed(schema, text):
    """A parameter as the type that its schema has; the text itself if it is not of this type."""
    kind = schema.get("type")
    if kind in ("integer", "number") and re.fullmatch(r"-?\d+", text):
        return int(text)
    return {"true": True, "false": False}.get(text, text) if kind == "boolean" else text


def resolved(schemas, schema):
    return schemas.all["schemas"][schema["$ref"].split("/", 2)[2]] if "$ref" in schema else schema


def walk(value, path=""):
    yield path, value
    if isinstance(value, (dict, list)):
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield from walk(one, f"{path}/{key}" if path else str(key))


def check_request(schemas, kind, operation, groups, exchange, query):
    names = re.findall(r"\{([^}]*)\}", operation["path"])
    for name, text in zip(names, groups):
        schema = operation["params"].get(name, {"type": "string"})
        for error in schemas.errors(resolved(schemas, schema), typed(resolved(schemas, schema), urllib.parse.unquote(text))):
            yield f"{{{name}}} in the path: {error}"
    for name, texts in urllib.parse.parse_qs(query, keep_blank_values=True).items():
        schema = operation["query"].get(name)
        if schema is None:
            yield f"the operation has no parameter {name}"
        else:
            for error in schemas.errors(schema, typed(resolved(schemas, schema), texts[0])):
                yield f"parameter {name}: {error}"
    headers = {name.lower(): value for name, value in exchange["headers"].items()}
    wanted = AUTHORIZATION[kind]
    if exchange.get("status") != 401 and not (re.fullmatch(wanted, headers.get("authorization", "")) if wanted else headers.get("private-token")):
        yield f"the header {'Authorization' if wanted else 'PRIVATE-TOKEN'} is none of {kind}"
    if not headers.get("user-agent"):
        yield "the header User-Agent is missing, which GitHub requires"
    text = exchange["body"]
    if operation["body"] is None:
        if text:
            yield "the operation has no body"
        return
    if headers.get("content-type", "").split(";")[0] != "application/json":
        yield f"Content-Type is {headers.get('content-type')}"
    try:
        body = json.loads(text)
    except ValueError:
        yield "the body is no JSON"
        return
    yield from schemas.errors(operation["body"], body)
    if operation["forge"] == "github" and operation["name"].startswith("check run"):
        yield from check_run_errors(body)


def check_run_errors(body):
    """What only the descriptions of GitHub's schema state."""
    if body.get("status") == "completed" and "conclusion" not in body:
        yield "the body: a run that is completed has a 'conclusion'"
    if "output" in body and "title" not in body["output"]:
        yield "output: 'title' is a required property"
    for pattern, measure, limit in LIMITS:
        for path, value in walk(body):
            if re.match(pattern, path) and measure(value) > limit:
                yield f"{path}: {measure(value)} are more than {limit}"


def check_answer(schemas, operation, exchange):
    status, text = str(exchange["status"]), exchange["answer"]
    if exchange.get("fault"):
        return
    if status not in operation["answers"]:
        yield f"the operation has no answer {status}"
        return
    schema = operation["answers"][status]
    if schema is None:
        if text:
            yield f"an answer {status} has no body"
        return
    kind = exchange["answer_type"].split(";")[0]
    try:
        value = json.loads(text) if kind == "application/json" else text
    except ValueError:
        yield f"the answer {status} is no JSON"
        return
    if kind not in ("application/json", "text/plain"):
        yield f"Content-Type of the answer is {kind or 'missing'}"
    for error in schemas.errors(schema, value):
        yield f"answer {status}: {error}"
    # the schema of GitHub's errors requires nothing
    if status[0] in "45" and isinstance(value, dict) and not (value.get("message") or value.get("error")):
        yield f"answer {status}: an error without a message"


def exchange_deviations(schemas, exchange, kind="", root=""):
    """The operation, None if there is none, and the deviations."""
    url = urllib.parse.urlsplit(exchange["path"])
    forge, method = exchange.get("forge", kind), exchange["method"]
    operation, groups = find_operation(schemas, forge, method, url.path[len(root):])
    if not operation:
        return None, [f"{forge} has no such operation"]
    return operation, [*check_request(schemas, forge, operation, groups, exchange, url.query), *check_answer(schemas, operation, exchange)]


def check_exchanges(schemas, arguments):
    kind, root, counts, deviations = "", "", collections.defaultdict(collections.Counter), 0
    if arguments[0] == "--of":
        kind, root, arguments = arguments[1], arguments[2], arguments[3:]
    for exchange in read_lines(arguments):
        if root and not exchange["path"].startswith(root + "/"):
            continue
        operation, found = exchange_deviations(schemas, exchange, kind, root)
        if operation:
            counts[f"{exchange.get('forge', kind)} {operation['name']}"][exchange["status"]] += 1
        deviations += len(found)
        for one in found:
            print(f"{exchange.get('forge', kind)} {exchange['method']} {exchange['path']}: {one}")
    for name, statuses in sorted(counts.items()):
        print(f"# {name}: {', '.join(f'{n} x {status}' for status, n in sorted(statuses.items()))}")
    return deviations == 0 and bool(counts)


def drop(body, path):
    *way, last = path.split(".")
    for key in way:
        body = body.get(key) if isinstance(body, dict) else None
    if isinstance(body, dict):
        body.pop(last, None)


def event_deviations(schemas, event, is_part=False):
    body, name = event["body"], f"{event['forge']} {event['event']}"
    events = schemas.all["events"]
    schema = events.get(f"{name} {body.get('action', '')}") or events.get(name)
    if not schema:
        return ["there is no such event"]
    for path in UNTYPED.get(name, []):
        drop(body, path)
    have = {header.lower() for header in event.get("headers", {})}
    missing = [] if is_part else [f"the header {header} is missing" for header in schema["headers"] if header.lower() not in have]
    return schemas.errors(schema["schema"], body, is_part) + missing


def check_events(schemas, arguments):
    is_part, counts, deviations = arguments[0] == "--part", collections.Counter(), 0
    for event in read_lines(arguments[1:] if is_part else arguments):
        name = f"{event['forge']} {event['event']} {event['body'].get('action', '')}".strip()
        found = event_deviations(schemas, event, is_part)
        counts[name] += 1
        deviations += len(found)
        for one in found:
            print(f"{name}: {one}")
    for name, n in sorted(counts.items()):
        print(f"# {name}: {n}")
    return deviations == 0 and bool(counts)


def check_controls(schemas, arguments):
    """Each line has what is right and what is wrong; prints "ok NAME" or "not ok NAME: what was found"."""
    result = True
    for line in read_lines(arguments):
        find = event_deviations if "event" in line["wrong"] else lambda *all: exchange_deviations(*all)[1]
        right, wrong = find(schemas, line["right"]), find(schemas, line["wrong"])
        is_found = not right and any(re.search(line["wanted"], one) for one in wrong)
        result = result and is_found
        print(f"ok {line['name']}" if is_found else f"not ok {line['name']}: {right or wrong}")
    return result


def print_table(schemas, _):
    for one in schemas.all["operations"]:
        print(f"{one['forge']}\t{one['name']}\t{one['method']} {one['path']}\t{one['source']}\t{' '.join(sorted(one['answers']))}")
    for name, one in schemas.all["events"].items():
        print(f"{name.split()[0]}\tevent {' '.join(name.split()[1:])}\t\t{one['source']}")
    return True


commands = {"exchanges": check_exchanges, "events": check_events, "controls": check_controls, "table": print_table}
sys.exit(0 if commands[sys.argv[2]](Schemas(sys.argv[1]), sys.argv[3:]) else 1)
