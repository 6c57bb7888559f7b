"""The Python client against a daemon. Usage: client.py SERVER REPO SLOWER_COMMIT BASE_COMMIT; prints TAP without the plan."""
import gzip
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import flopwatch_client
from flopwatch_client import Client, Denied, FlopwatchError, NotFound, Refused, TimedOut, Unreachable

server, repo, slower, base = sys.argv[1:5]
count = 0


def check(good, name, note=""):
    global count
    count += 1
    print(f"{'ok' if good else 'not ok'} {count} - {name}" + ("" if good else f"\n# {note}"))


def raised(kind, call):
    """The error of a call, None if it is of another kind."""
    try:
        call()
    except FlopwatchError as error:
        return error if type(error) is kind else None
    return None


class Counting(Client):
    """A client that records its requests."""

    def __init__(self, *args, **more):
        super().__init__(*args, **more)
        self.sent = []

    def _send(self, method, address, body):
        answer = super()._send(method, address, body)
        self.sent.append((method, address, answer[0], answer[1]))
        return answer


os.environ.pop("FLOPWATCH_TOKEN", None)
client = Counting(server)

# ---- lists
check([row["name"] for row in client.repos()] == [repo], "repositories", client.repos())
check([row["name"] for row in client.branches(repo)] == ["main", "side"], "branches", client.branches(repo))
check([row["sha"] for row in client.commits(slower[:10])] == [slower], "a commit by its first digits", client.commits(slower[:10]))
whole = client.comparisons(repo)
flopwatch_client.PAGE_ROWS = 1
client.sent.clear()
again = client.comparisons(repo)
check(len(whole) >= 3 and again == whole and len(client.sent) == len(whole), "a list in pages of one row is the same list", client.sent)
client.sent.clear()
check(client.comparisons(repo, limit=2) == whole[:2] and len(client.sent) == 2, "a limit ends it", client.sent)
check(client.comparisons(repo, limit=0) == [], "a limit of 0 requests nothing")
flopwatch_client.PAGE_ROWS = 500
check({row["verdict"] for row in client.comparisons(repo, verdict="regression")} == {"regression"}, "a filter")
client.sent.clear()
first, second = client.comparisons(repo, limit=2), client.comparisons(repo, limit=2)
check(first == second and [s[2] for s in client.sent] == [304, 304] or [s[2] for s in client.sent] == [200, 304], "an unchanged list is not sent again",
      client.sent)
check(any(s[3].get("Content-Encoding") == "gzip" for s in client.sent), "answers are compressed", client.sent)

for name in ("devices", "workers", "tokens", "samples", "peers", "calibration", "audit"):
    check(len(client.rows(name)) == len(client.get(name)["items"]), f"the list of {name}")
check(len(client.rows("workers", limit=1)) == 1, "a limit ends a list without pages")

# ---- comparisons and cells
row = client.compare(base, slower, repo)
cells = client.comparison_cells(row)
check(row["verdict"] == "regression" and len(cells) > 0 and cells == client.comparison_cells(row["id"]), "two commits and their cells", row["verdict"])
check(client.verdict(slower, repo)["verdict"] == "regression", "the verdict of a commit")
names = client.cells(repo)
check(cells[0]["cell"] in names, "names of cells", names)
check(any(alert["state"] == "open" for alert in client.alerts(repo=repo)), "alerts")
check(client.alert(client.alerts()[0]["id"])["id"] == client.alerts()[0]["id"], "one alert")

# ---- history
points = client.history(names[0], repo=repo)
flopwatch_client.HISTORY_POINTS = 2
check(len(points) >= 2 and client.history(names[0], repo=repo) == points, "a history in pages is the same history", points)
check(client.history(names[0], repo=repo, limit=1) == points[:1], "its newest point")
flopwatch_client.HISTORY_POINTS = 10000

# ---- jobs
job = client.submit(repo, slower, base=base, quick=True)
check(job["target"] == slower and job["quick"], "a job is requested", job)
check(client.job(job["id"])["id"] == job["id"] and job["id"] in [row["id"] for row in client.jobs(repo=repo)], "and is in the list")
late = raised(TimedOut, lambda: client.wait(job, timeout=0))
check(late is not None and f"J{job['id']} is still " in str(late), "a wait without time ends", late)
ended = client.wait(job, timeout=120, poll=0.2)
check(ended["state"] == "done" and ended["comparison"], "a job is awaited", ended)
check(client.wait_verdict(slower, repo, timeout=120, poll=0.2)["final"], "a verdict is awaited")

# ---- errors
error = raised(NotFound, lambda: client.job(999999))
check(error is not None and error.status == 404 and "J999999" in error.detail and server in str(error), "what is not there", error)
error = raised(Refused, lambda: client.comparisons(repo, since="asleep"))
check(error is not None and error.status == 400 and "since" in error.detail, "a wrong argument", error)
error = raised(Unreachable, lambda: Client("http://127.0.0.1:9", timeout=5).repos())
check(error is not None and "127.0.0.1:9" in str(error), "nobody answers", error)
check(raised(FlopwatchError, lambda: Client("ftp://nowhere")) is not None, "no address")
check(raised(FlopwatchError, lambda: Client("http://[::1")) is not None, "half an address")
check(raised(FlopwatchError, lambda: Client(server, token="secret\n")) is not None, "a token with an end of line")
check(raised(FlopwatchError, lambda: Client(server).get("jobs/\u00e4")) is not None, "a path that is none")
check(client.job(f"J{job['id']}")["id"] == job["id"], "a job as J and its number")
check(isinstance(raised(NotFound, lambda: client.job("nothing")), FlopwatchError), "no number of a job")
# limits count this client by the address that a proxy would add
limited = Client(server, retries=0)
limited._opener.addheaders = [("X-Forwarded-For", "192.0.2.5")]
error = None
for _ in range(40):
    error = error or raised(Refused, limited.repos)
check(error is not None and error.status == 429, "a client with too many requests", error)


class Other(BaseHTTPRequestHandler):
    """Refuses for a second, then answers; other addresses: no JSON, a redirection, a token needed."""

    busy = 0

    def do_GET(self):
        kind = self.path.split("/")[-1]
        if kind == "busy":
            Other.busy += 1
            self.reply(200 if Other.busy > 2 else 503, b'{"x": 1}', {"Retry-After": "1"})
        elif kind == "full":
            self.reply(429, b"{}", {"Retry-After": "60"})
        elif kind in ("cut", "torn"):
            self.reply(200, gzip.compress(b"{}")[:-4] if kind == "cut" else b"no gzip", {"Content-Encoding": "gzip"})
        elif kind == "moved":
            self.reply(302, b"{}", {"Location": "/api/v1/busy"})
        elif kind == "token":
            known = self.headers.get("Authorization") == "Bearer secret"
            self.reply(200 if known else 401, b'{"x": 2}' if known else b'{"title": "t", "detail": "send a token"}', {})
        else:
            self.reply(200, b"<html>", {})

    def reply(self, status, body, headers):
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


other = HTTPServer(("127.0.0.1", 0), Other)
threading.Thread(target=other.serve_forever, daemon=True).start()
where = f"http://127.0.0.1:{other.server_port}"
begin = time.monotonic()
check(Client(where).get("busy") == {"x": 1} and 2 <= time.monotonic() - begin < 20, "a refusal for now is repeated after its time")
check(raised(Refused, lambda: Client(where).get("moved")) is not None, "a redirection is not followed")
error = raised(Unreachable, lambda: Client(where).get("page"))
check(error is not None and "not the API" in str(error), "something else answers", error)
for kind in ("cut", "torn"):
    error = raised(Unreachable, lambda: Client(where).get(kind))
    check(error is not None and "gzip" in str(error), f"a compressed answer that is {kind}", error)
begin = time.monotonic()
error = raised(TimedOut, lambda: Client(where).wait("full", timeout=1))
check(error is not None and time.monotonic() - begin < 20, "a wait does not exceed its time by that of a refusal", error)
error = raised(Denied, lambda: Client(where).get("token"))
check(error is not None and error.detail == "send a token", "a token is missing", error)
check(Client(where, token="secret").get("token") == {"x": 2}, "the token of the argument")
os.environ["FLOPWATCH_TOKEN"], os.environ["FLOPWATCH_SERVER"] = "secret", where
check(Client().get("token") == {"x": 2}, "token and server of the environment")
check(raised(Denied, lambda: Client(token="").get("token")) is not None, "an empty token is none")

# ---- data frames
table = points.frame()
check(len(table) == len(points) and str(table["finished_at"].dtype) == "datetime64[ns, UTC]" and table["median_ms"].dtype == float,
      "a history as a data frame", table.dtypes)
check(whole.frame().groupby("verdict").size()["regression"] >= 1, "comparisons as a data frame")
check(flopwatch_client.Rows().frame().empty, "an empty data frame")
