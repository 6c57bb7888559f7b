#!/usr/bin/env python3
"""kill.py FOLDER: end programs of a working daemon by SIGKILL, at random moments and before or after random system
calls.

FOLDER is made by test_kill.sh. Pushes, POST requests and deliveries run all the time; an oracle stores what was
acknowledged. After each kill of the daemon no process is left, it starts, its database is sound, and each
acknowledged POST has its rows once. In between, when no job is open, each acknowledged push and job was judged once,
each alert and message exists once, and no file is left over.
"""
import collections
import ctypes
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

from campaign import Campaign, Daemon, until
from supervise import PR_SET_CHILD_SUBREAPER, command_of, descendants, processes

OPEN = "('queued','assigned','building','checking','measuring')"
PROGRAMS = "flopwatch-worker", "flopwatch-runner", "flopwatch-git", "flopwatch-send"
CALLS = {"any": 9, "write": 8, "fsync": 6, "open": 8, "rename": 4, "unlink": 4}  # name: power of 2 of the last one that is chosen
SETTLE_EVERY = 16
STRAY_FILE = re.compile(r"\.(part|new|tmp|lock)$|(^|/)(trial|job)[-/]")  # the folders of a daemon without open jobs have none


class Oracle:
    """What was acknowledged. One thread pushes, one posts; both wait while `paused` is set, or while many jobs are open."""

    def __init__(self, daemon):
        self.daemon, self.folder = daemon, daemon.folder
        self.pushed, self.posted, self.faults = {}, {}, []
        self.paused, self.ended, self.busy = threading.Event(), threading.Event(), [0, 0]
        self.threads = [threading.Thread(target=self.work, args=(n, step)) for n, step in enumerate((self.push, self.post))]
        for thread in self.threads:
            thread.start()

    def work(self, index, step):
        n = 0
        while not self.ended.is_set():
            if self.paused.is_set() or self.n_open() > 4:
                time.sleep(0.1)
                continue
            self.busy[index] = 1
            n += 1
            try:
                step(n)
            except Exception as error:  # a thread that ends would test nothing any more
                self.faults.append(f"the oracle's {step.__name__} ended: {error!r}")
                return
            finally:
                self.busy[index] = 0
            time.sleep(0.15)

    def n_open(self):
        try:
            return self.daemon.rows(f"SELECT count(*) FROM job WHERE state IN {OPEN}")[0][0]
        except Exception:  # the database is new, or being recovered
            return 99

    def git(self, repo, *words):
        return subprocess.run(["git", "-C", self.folder / repo, *words], check=True, capture_output=True,
            text=True).stdout.strip()

    def push(self, n):
        """A new branch, in every fourth case slower than main."""
        repo = "kernels" if n % 4 == 0 else "lines"
        slow = 1.3 if n % 8 in (3, 4) else 1.0
        self.git(repo, "checkout", "-q", "-B", f"b{n}", "main")
        if repo == "kernels":
            (self.folder / "kernels/kernels/factor").write_text(f"{slow + n * 1e-6:.6f}\n")
        else:
            (self.folder / "lines/bench.sh").write_text(
                "".join(f'echo \'{{"cell":"{cell}","ms":[{slow},{slow},{slow}]}}\'\n' for cell in ("one", "two")) + f"# {n}\n")
        self.git(repo, "commit", "-q", "-a", "-m", f"push {n}")
        self.git(repo, "push", "-q", "origin", f"HEAD:refs/heads/b{n}")
        self.pushed[self.git(repo, "rev-parse", "HEAD")] = repo, slow > 1

    def post(self, n):
        """A request that is repeated with its key until it is acknowledged."""
        key = f"{os.getpid()}-{n}"
        main = self.git("lines", "rev-parse", "main")
        path, body = "jobs", {"repo": "lines", "target": main, "base": main}
        if n % 2:
            path, body = "imports", {"repo": "lines", "commit": main, "name": f"imported-{key}"}
            body["rows"] = [{"cell": "a", "ms": 1.5}]
        while not self.ended.is_set():
            status, text = self.daemon.request("POST", "/api/v1/" + path, body, {"Idempotency-Key": key})
            if status in (200, 201):
                self.posted[key] = path, body, re.search(rb'"(?:job|id|comparison)":(\d+)', text)[1].decode(), text
                return
            if status not in (0, 503):
                self.faults.append(f"POST {path} was answered {status}: {text[:200]!r}")
                return
            time.sleep(0.2)

    def end(self):
        self.ended.set()
        for thread in self.threads:
            thread.join()


def ours():
    """Processes of the daemon and of what it started: flopwatch runs neither git nor this script."""
    return [p for p in descendants() if not re.match(r"(/usr/lib/git-core/)?git|.*campaign/kill\.py", command_of(p))]


def reap(daemon):
    """Adopted processes that have ended; other children are waited for where they are started."""
    for pid, (parent, state) in processes().items():
        try:
            name = pathlib.Path(f"/proc/{pid}/comm").read_text().strip() if parent == os.getpid() and state == b"Z" else "git"
            if pid != daemon.process.pid and not name.startswith("git"):
                os.waitpid(pid, os.WNOHANG)
        except OSError:
            pass


def named(program):
    return [p for p in descendants() if pathlib.PurePath(command_of(p).split(" ")[0]).name == program]


def kill_daemon(daemon, rng, plan):
    how = rng.choice(("moment", "call", "call"))
    if how == "moment":
        time.sleep(rng.random() / 2)
        daemon.end(signal.SIGKILL)
        return "flopwatchd killed"
    name, when = rng.choice(list(CALLS)), rng.choice(("KILL", "AFTER"))
    n = int(2 ** rng.uniform(0, CALLS[name]))
    what = f"flopwatchd killed {'before' if when == 'KILL' else 'after'} {name} {n}"
    if rng.random() < 0.3:  # from its start on
        daemon.end(signal.SIGKILL)
        plan.write_text(f"{name} {n} {when}\n")
        daemon.launch()
        what += " from its start"
    else:
        part = plan.with_name("plan.part")
        part.write_text(f"{name} {n} {when}\n")
        part.rename(plan)
    try:
        daemon.process.wait(3)
    except subprocess.TimeoutExpired:  # it made fewer calls
        daemon.end(signal.SIGKILL)
    plan.unlink(missing_ok=True)
    return what


def kill_child(daemon, rng):
    program = rng.choice(PROGRAMS)
    name, when = rng.choice(list(CALLS)), rng.choice(("KILL", "AFTER"))
    n = int(2 ** rng.uniform(0, 6 if program == "flopwatch-worker" else 4))
    order = daemon.folder / f"order.{program}"
    if program in ("flopwatch-worker", "flopwatch-runner") and rng.random() < 0.5:
        until(lambda: named(program), 4)
        time.sleep(rng.random() / 4)
        kill_all(named(program))
        return f"{program} killed"
    order.with_suffix(".part").write_text(f"{name} {n} {when}\n")
    order.with_suffix(".part").rename(order)
    if program == "flopwatch-worker":  # the next one takes the order
        kill_all(named(program))
    until(lambda: not order.exists(), 4)
    order.unlink(missing_ok=True)
    return f"{program} killed {'before' if when == 'KILL' else 'after'} {name} {n}"


def kill_all(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def after_kill(daemon, posted):
    """Faults seen before and after the daemon starts again; `posted` was acknowledged before the kill."""
    faults = [] if until(lambda: not ours(), 20) else [f"processes are left: {[command_of(p) for p in ours()]}"]
    reap(daemon)
    if not daemon.start():
        return faults + [f"it does not start: {daemon.last_lines()}"]
    if not daemon.integrity():
        faults.append("the database is damaged")
    for key, (path, body, row, _) in posted.items():
        if path == "imports":
            n = daemon.rows("SELECT count(*) FROM job WHERE kind = 'import' AND suite = ?", body["name"])[0][0]
        else:
            n = daemon.rows("SELECT count(*) FROM job WHERE id = ?", int(row))[0][0]
        if n != 1:
            faults.append(f"the acknowledged POST {path} {key} has {n} rows")
    return faults


def settle(daemon, oracle, receiver):
    """Faults when nothing is open any more."""
    faults = []
    oracle.paused.set()
    until(lambda: not any(oracle.busy), 60)
    daemon.request("POST", "/api/v1/repos/lines/fetches", {})
    daemon.request("POST", "/api/v1/repos/kernels/fetches", {})
    seen = until(lambda: all(daemon.rows("SELECT 1 FROM job WHERE target_sha = ? AND kind = 'compare'", sha)
        for sha in oracle.pushed), 60)
    if not seen:
        faults.append("an acknowledged push has no job")
    bisects = "SELECT 1 FROM bisect WHERE state IN ('listing', 'measuring')"
    if not until(lambda: oracle.n_open() == 0 and not daemon.rows(bisects)):
        faults.append("jobs do not end: " + str(daemon.rows(f"SELECT id, state, state_why FROM job WHERE state IN {OPEN}"))[:400])
    until(lambda: not daemon.rows("SELECT 1 FROM outbox WHERE state = 'waiting'"), 90)
    for sha, (repo, is_slow) in oracle.pushed.items():
        jobs = daemon.rows("""SELECT id, state, state_why, attempt FROM job
            WHERE target_sha = ? AND kind = 'compare' AND origin = 'push'""", sha)
        judged = daemon.rows("SELECT verdict FROM comparison WHERE target_sha = ? AND kind = 'compare'", sha)
        if [j for j in jobs if j[3] >= 3 and "interrupted" in j[2]]:
            continue  # its worker was killed three times, which is said so
        if len(jobs) != 1 or jobs[0][1] != "done" or len(judged) != 1:
            faults.append(f"push {sha[:10]} of {repo}: jobs {jobs}, comparisons {judged}")
        elif (judged[0][0] == "regression") != is_slow and judged[0][0] not in ("undecided", "identical"):
            faults.append(f"push {sha[:10]} of {repo} is {judged[0][0]}")
    for key, (path, body, row, text) in oracle.posted.items():
        if path == "jobs":
            state = daemon.rows("""SELECT j.state, j.state_why, j.attempt, (SELECT count(*) FROM comparison c WHERE c.job = j.id)
                FROM job j WHERE j.id = ?""", int(row))
            if not state or (state[0][3] != 1 and state[0][2] < 3):
                faults.append(f"POST {path} {key}: {state} {text[:200]!r}")
    asked = len({row for path, _, row, _ in oracle.posted.values() if path == "jobs"})
    made = daemon.rows("SELECT count(*) FROM job WHERE kind = 'selfcheck' AND origin = 'api'")[0][0]
    if asked != made:
        faults.append(f"{asked} jobs were acknowledged, {made} exist")
    twice = daemon.rows("SELECT repo, target_sha, kind, count(*) FROM alert GROUP BY 1, 2, 3 HAVING count(*) > 1")
    if twice:
        faults.append(f"alerts exist twice: {twice}")
    twice = daemon.rows("SELECT payload, count(*) FROM outbox WHERE kind = 'webhook' GROUP BY payload HAVING count(*) > 1")
    if twice:
        faults.append(f"notifications were written twice: {twice}")
    faults += receiver.faults(daemon)
    faults += leftovers(daemon)
    if not daemon.integrity():
        faults.append("the database is damaged")
    faults += oracle.faults
    oracle.faults = []
    oracle.paused.clear()
    return faults


def leftovers(daemon):
    found = []
    for top in ("state", "cache"):
        base = daemon.folder / top
        for path in base.rglob("*"):
            name = path.relative_to(base).as_posix()
            if STRAY_FILE.search(name) or (top == "cache" and name.startswith("job/")):
                found.append(f"{top}/{name}")
    return [f"files are left over: {found[:10]}"] if found else []


class Receiver:
    """tests/support/receiver.py in FOLDER/r: every message arrives, and the repeated ones have the same id and content."""

    def __init__(self, folder):
        self.got = folder / "r/got"

    def faults(self, daemon):
        bodies = collections.defaultdict(set)
        if self.got.exists():
            for line in self.got.read_text().splitlines():
                message = json.loads(line)
                if "webhook-id" in message["headers"]:
                    bodies[message["headers"]["webhook-id"]].add(message["body"])
        faults = [f"message {name} arrived with {len(texts)} contents" for name, texts in bodies.items() if len(texts) > 1]
        for name, state in daemon.rows("SELECT message_id, state FROM outbox WHERE kind = 'webhook'"):
            if state == "sent" and name not in bodies:
                faults.append(f"message {name} is stored as sent and did not arrive")
            if state not in ("sent", "superseded"):
                faults.append(f"message {name} is {state}")
        stored = {name for (name,) in daemon.rows("SELECT message_id FROM outbox")}
        return faults + [f"message {name} is in no row" for name in bodies if name not in stored]


def main():
    folder = pathlib.Path(sys.argv[1])
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    campaign = Campaign("kill", 6)
    plan = folder / "plan"
    daemon = Daemon(folder, {"AT_CALL": f"@{plan}", "LD_PRELOAD": str(folder / "at_call.so")})
    if not daemon.start():
        sys.exit(f"the daemon does not start: {daemon.last_lines()}")
    oracle, receiver = Oracle(daemon), Receiver(folder)
    try:
        for n, rng in campaign.trials():
            until(lambda: oracle.n_open() < 99 and any(oracle.busy), 5)
            posted = dict(oracle.posted)
            if rng.random() < 0.6:
                what = kill_daemon(daemon, rng, plan)
                faults = after_kill(daemon, posted)
            else:
                what, faults = kill_child(daemon, rng), []
            if n % SETTLE_EVERY == 0:
                faults += settle(daemon, oracle, receiver)
            campaign.count(what, faults)
            if faults and daemon.process.poll() is not None:
                break
        faults = settle(daemon, oracle, receiver)
        campaign.count("the end", faults)
        if daemon.end(signal.SIGTERM) != 0:
            campaign.count("the end", [f"flopwatchd ends with {daemon.process.returncode}"])
        print(f"# {len(oracle.pushed)} pushes and {len(oracle.posted)} POST requests acknowledged")
    finally:
        oracle.end()
    campaign.finish()


main()
