"""Branches, comparisons, histories and alerts of a flopwatch daemon. README.md next to this package has an example."""
import collections
import datetime
import gzip
import http.client
import json
import os
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
import zlib

__all__ = ["Client", "Denied", "FlopwatchError", "NotFound", "Refused", "Rows", "TimedOut", "Unreachable"]

PAGE_ROWS = 500
HISTORY_POINTS = 10000  # the most that one answer has
CACHED_ANSWERS = 64
PAGED = ("alerts", "audit", "bisects", "branches", "comparisons", "history", "jobs", "notifications", "profiles")  # take `limit`
ENDED = ("done", "failed", "cancelled", "superseded", "target_missing")


class FlopwatchError(Exception):
    """Any failure of this package."""


class Unreachable(FlopwatchError):
    """The daemon did not answer, or something else answered."""


class TimedOut(FlopwatchError):
    """A wait ended before its event."""


class Refused(FlopwatchError):
    """The daemon refused a request: `status` of HTTP, and `detail`, which states why and what to do."""

    def __init__(self, status, title, detail, where):
        super().__init__(f"{where}: {detail or title} (status {status})")
        self.status, self.title, self.detail = status, title, detail


class NotFound(Refused):
    """There is no such object."""


class Denied(Refused):
    """The token is missing, wrong, expired or insufficient."""


class Rows(list):
    """A list of dicts."""

    def frame(self):
        """A pandas.DataFrame of the rows; columns that end in `_at` are times in UTC. Raises FlopwatchError without pandas."""
        try:
            import pandas
        except ImportError as error:
            raise FlopwatchError("frame() needs pandas: pip install pandas, or apt install python3-pandas") from error
        table = pandas.DataFrame.from_records(list(self))
        for name in table.columns:
            if str(name).endswith("_at"):
                table[name] = pandas.to_datetime(table[name], utc=True)
        return table


class _Redirects(urllib.request.HTTPRedirectHandler):
    """The API redirects only browsers; a token must not follow a redirection to another server."""

    def redirect_request(self, *_):
        return None


class Client:
    """
    A daemon. `server`: its address (default: FLOPWATCH_SERVER, else http://127.0.0.1:8451); `token` (default:
    FLOPWATCH_TOKEN, "" none); `timeout` of a request in seconds; `retries` of a request that is refused for now; `ca_file`:
    certificates that are trusted instead of the system's for https:// (default: FLOPWATCH_CA_FILE).
    """

    def __init__(self, server=None, token=None, timeout=60, retries=3, ca_file=None):
        self.server = (server or os.environ.get("FLOPWATCH_SERVER") or "http://127.0.0.1:8451").rstrip("/")
        self.token = os.environ.get("FLOPWATCH_TOKEN", "") if token is None else token
        self.timeout, self.retries = timeout, retries
        ca_file = ca_file or os.environ.get("FLOPWATCH_CA_FILE") or None
        if not self.server.startswith("https://"):
            ca_file = None
        try:
            trust = ssl.create_default_context(cafile=ca_file)
        except OSError as error:  # also ssl.SSLError
            raise FlopwatchError(f"cannot read the certificates in {ca_file}: {error}") from error
        self._opener = urllib.request.build_opener(_Redirects, urllib.request.HTTPSHandler(context=trust))
        self._known = collections.OrderedDict()  # address: (ETag, answer)
        try:
            is_address = urllib.parse.urlsplit(self.server).scheme in ("http", "https")
        except ValueError:
            is_address = False
        if not is_address:
            raise FlopwatchError(f"{self.server} is not the address of a daemon; e.g. http://127.0.0.1:8451")
        if not self.token.isascii() or not self.token.isprintable():
            raise FlopwatchError("the token has characters that no token has, such as an end of line; remove them")

    # ---- requests ----

    def _send(self, method, address, body):
        """One request: status, headers and body."""
        headers = {"Accept": "application/json, application/problem+json", "Accept-Encoding": "gzip"}
        if self.token:
            headers["Authorization"] = "Bearer " + self.token
        if body is not None:
            headers["Content-Type"] = "application/json"
        if method == "GET" and address in self._known:
            headers["If-None-Match"] = self._known[address][0]
        data = None if method == "GET" else json.dumps(body if body is not None else {}).encode()
        request = urllib.request.Request(self.server + address, data, headers, method=method)
        try:
            try:
                answer = self._opener.open(request, timeout=self.timeout)
            except urllib.error.HTTPError as error:
                answer = error
            with answer:
                text = answer.read()
            if answer.headers.get("Content-Encoding") == "gzip":
                text = gzip.decompress(text)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise Unreachable(f"{self.server}{address} is not the API of flopwatch: its gzip is invalid: {error}") from error
        except ValueError as error:
            raise FlopwatchError(f"cannot request {self.server}{address}: {error}") from error
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            if isinstance(reason, ssl.SSLCertVerificationError):
                raise Unreachable(
                    f"the certificate of {self.server} is not trusted: {reason.verify_message}; for a private authority "
                    "pass ca_file, or set FLOPWATCH_CA_FILE") from error
            raise Unreachable(f"{self.server} does not answer: {reason}; is flopwatchd running there?") from error
        return answer.status, answer.headers, text

    def _ask(self, method, path, query=None, body=None, end=None):
        """An answer's object. Repeats a request that is refused for now, not after `end`; raises Refused for others."""
        pairs = [(k, ("1" if v else "0") if isinstance(v, bool) else v) for k, v in (query or {}).items() if v is not None]
        address = "/api/v1/" + path + ("?" + urllib.parse.urlencode(pairs) if pairs else "")
        for attempt in range(self.retries + 1):
            status, headers, text = self._send(method, address, body)
            if status not in (429, 503) or attempt == self.retries:
                break
            wait = headers.get("Retry-After", "")
            wait = int(wait) if wait.isdigit() else 5
            if end is not None and time.monotonic() + wait > end:
                break
            time.sleep(wait)
        if status == 304:
            self._known.move_to_end(address)
            return json.loads(self._known[address][1])
        try:
            answer = json.loads(text)
        except ValueError as error:
            raise Unreachable(f"{self.server}{address} is not the API of flopwatch: status {status}, no JSON") from error
        if status >= 300:
            kind = NotFound if status == 404 else Denied if status in (401, 403) else Refused
            known = answer if isinstance(answer, dict) else {}
            raise kind(status, known.get("title", ""), known.get("detail", ""), f"{method} {self.server}{address}")
        if method == "GET" and headers.get("ETag"):
            self._known[address] = (headers["ETag"], text)
            while len(self._known) > CACHED_ANSWERS:
                self._known.popitem(last=False)
        return answer

    def get(self, path, **query):
        """The object at /api/v1/PATH; an argument that is None is not sent."""
        return self._ask("GET", path, query)

    def post(self, path, body=None):
        """Send an object to /api/v1/PATH; the answer's object."""
        return self._ask("POST", path, body=body if body is not None else {})

    def each(self, path, **query):
        """Each row of a list, page by page; `limit`: at most so many rows."""
        limit = query.pop("limit", None)
        left = limit
        while left is None or left > 0:
            size = {"limit": PAGE_ROWS if left is None else min(left, PAGE_ROWS)} if path in PAGED else {}
            page = self._ask("GET", path, {**query, **size})
            for row in page["items"]:
                if left is not None:
                    if left == 0:
                        return
                    left -= 1
                yield row
            if not page.get("next_cursor"):
                return
            query["cursor"] = page["next_cursor"]

    def rows(self, path, **query):
        """All rows of a list, as Rows."""
        return Rows(self.each(path, **query))

    # ---- repositories ----

    def repos(self):
        return self.rows("repos")

    def branches(self, repo=None, branch=None, limit=None):
        """Branches with tip, verdict and job, by repository and name."""
        return self.rows("branches", repo=repo, branch=branch, limit=limit)

    def commits(self, prefix):
        """Commits whose hash begins with `prefix`, four digits or more."""
        return Rows(self.get("commits/" + _segment(prefix))["commits"])

    def verdict(self, commit, repo=None, branch=None):
        """Verdict of a commit: the worst over its suites; `final` is False while measurements are missing."""
        return self.get(f"commits/{_segment(commit)}/verdict", repo=repo, branch=branch)

    # ---- comparisons ----

    def comparisons(self, repo=None, branch=None, verdict=None, since=None, until=None, limit=None):
        """Finished comparisons, newest first. `since` and `until`: a time, a day or an age such as 7d."""
        return self.rows("comparisons", repo=repo, branch=branch, verdict=verdict, since=since, until=until, limit=limit)

    def comparison(self, number):
        """One comparison with its cells."""
        return self.get("comparisons/" + _segment(number))

    def compare(self, base, target, repo, suite=None):
        """The newest comparison of two commits or branches; NotFound if they were not compared."""
        return self.get("compare", repo=repo, base=base, target=target, suite=suite)

    def comparison_cells(self, comparison):
        """The cells of a comparison, given by its number or as the dict of comparison() or compare()."""
        if not isinstance(comparison, dict) or "cells" not in comparison:
            comparison = self.comparison(comparison["id"] if isinstance(comparison, dict) else comparison)
        return Rows(comparison["cells"])

    # ---- history ----

    def cells(self, repo=None):
        """Names of the cells of a repository's newest comparisons."""
        return [row["cell"] for row in self.each("cells", repo=repo)]

    def history(self, cell, repo=None, branch=None, device=None, metric=None, since=None, until=None, limit=None):
        """Points of a cell over the commits of a branch (default: the upstream branch), newest first."""
        points, seen = Rows(), set()
        while limit is None or len(points) < limit:
            page = self.get("history", cell=cell, repo=repo, branch=branch, device=device, metric=metric, since=since,
                            until=until, limit=HISTORY_POINTS)["items"]
            new = [point for point in page if (point["comparison"], point["device"]) not in seen]
            points += new
            seen.update((point["comparison"], point["device"]) for point in new)
            if len(page) < HISTORY_POINTS or not new:
                break
            until = _after(page[-1]["finished_at"])  # the next answer repeats the points of this millisecond
        return Rows(points[:limit])

    # ---- alerts ----

    def alerts(self, state=None, repo=None, since=None, until=None, limit=None):
        """Alerts, newest first; `state`: open, acknowledged, accepted, resolved or invalid."""
        return self.rows("alerts", state=state, repo=repo, since=since, until=until, limit=limit)

    def alert(self, number):
        return self.get("alerts/" + _segment(number))

    # ---- jobs ----

    def jobs(self, state=None, repo=None, since=None, until=None, limit=None):
        """Jobs, newest first; `state`: one of its states, or open."""
        return self.rows("jobs", state=state, repo=repo, since=since, until=until, limit=limit)

    def job(self, number):
        return self.get("jobs/" + _segment(number))

    def submit(self, repo, target, **request):
        """Request a job (scope trigger): base, suite, device, cells, quick and the other keys of POST /api/v1/jobs."""
        return self.job(self.post("jobs", {"repo": repo, "target": target, **request})["id"])

    def wait(self, job, timeout=None, poll=2.0):
        """
        Wait until a job, a number or a dict, has ended; the job. `timeout` and `poll` in seconds; TimedOut after
        `timeout` (None: never). A job may end without a result: see its `state`.
        """
        number = job["id"] if isinstance(job, dict) else job
        return self._await("jobs/" + _segment(number), {}, lambda row: row["state"] in ENDED, timeout, poll,
                           lambda row: f"J{number} is still {row['state']}")

    def wait_verdict(self, commit, repo=None, branch=None, timeout=None, poll=2.0):
        """Wait until the verdict of a commit is final; the verdict. As wait()."""
        return self._await(f"commits/{_segment(commit)}/verdict", {"repo": repo, "branch": branch}, lambda row: row["final"],
                           timeout, poll,
                           lambda row: f"the verdict of {commit} is not final: waits for {', '.join(row['unfinished']) or 'its plan'}")

    def _await(self, path, query, is_over, timeout, poll, describe):
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            try:
                row = self._ask("GET", path, query, end=end)
            except Refused as error:
                if end is None or error.status not in (429, 503):
                    raise
                raise TimedOut(f"the daemon refuses requests for longer than {timeout:g} s: {error}") from error
            if is_over(row):
                return row
            if end is not None and time.monotonic() >= end:
                raise TimedOut(f"{describe(row)} after {timeout:g} s")
            time.sleep(poll if end is None else max(0.0, min(poll, end - time.monotonic())))


def _after(moment):
    """The next millisecond of a time of the API."""
    at = datetime.datetime.strptime(moment, "%Y-%m-%dT%H:%M:%S.%fZ") + datetime.timedelta(milliseconds=1)
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"


def _segment(text):
    return urllib.parse.quote(str(text), safe="")
