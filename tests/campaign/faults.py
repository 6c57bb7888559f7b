#!/usr/bin/env python3
"""faults.py FOLDER: one call of a program fails, each in turn: memory, reads, writes, files, descriptors; once or from
then on.

FOLDER is made by test_faults.sh. Calls are counted in a run without a fault, so that the list of trials has each of
them; a run of the whole list takes hours, each run continues it. A command of `flopwatch` prints the same, or ends
with one clear line; afterwards it works. The daemon answers a request or refuses it with the reason, stays or ends
with a line, and does its work when the fault is over.
"""
import collections
import itertools
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

from campaign import Campaign, Daemon, until

FAULTS = {
    "memory": ("ENOMEM-once", "ENOMEM"),
    "descriptor": ("EMFILE-once", "EMFILE"),
    "open": ("EIO-once", "ENOSPC"),
    "read": ("EIO-once", "EINTR-once", "SHORT-once", "SHORT"),
    "write": ("ENOSPC-once", "EIO", "EINTR-once", "SHORT-once", "SHORT"),
    "fsync": ("EIO-once",),
    "rename": ("ENOSPC-once",),
    "mkdir": ("ENOSPC-once",),
    "unlink": ("EIO-once",),
}
NEVER, START = 100000000, "help"
COMMAND_S, ATTEMPTS = 30, 5
FIGURE = re.compile(rb"waiting .*| *\d+ [a-z]+ ago| *\b(?:just )?now\b| *\d+|in the future| {2,}")
OPEN = "SELECT 1 FROM job WHERE state IN ('queued', 'assigned', 'building', 'checking', 'measuring')"
ONE_LINE = re.compile(rb"(flopwatch(d|-git|-send|-worker)?: .+|out of memory: \d+ bytes)\n")
DAEMON_EVERY = 8  # trials
# A command that prints several lists names one that it could not get.
UNKNOWN = rb"WARNING .+ (is|are) unknown: .+"
# These print what they find as a table; a fault is a row of it, with the reason.
TABLES = {"doctor": rb"(warn|fail)N.+", "try": rb".*N(no time|interrupted|full)\b.*"}


def count(seen):
    return collections.Counter(seen.read_bytes().decode().split("\0")[:-1]) if seen.exists() else {}


class Cases:
    """The trials of one command or operation, made when first needed; their order has all kinds of faults from its beginning."""

    def __init__(self, attacked, what):
        self.attacked, self.what, self.plans = attacked, what, None

    def nth(self, n):
        if self.plans is None:
            counts, rng, kinds = self.attacked.counts(self.what), random.Random(1), []
            begin = self.attacked.n_common(self.what)
            for name, faults in FAULTS.items():
                for fault in faults:
                    calls = list(range(begin.get(name, 0) + 1, counts.get(name, 0) + 1))
                    rng.shuffle(calls)
                    kinds.append([f"{name} {call} {fault}" for call in calls])
            self.plans = [plan for row in itertools.zip_longest(*kinds) for plan in row if plan]
        return self.plans[n % len(self.plans)] if self.plans else None


class Commands:
    """Each verb of `flopwatch --help` against a daemon with data."""

    def __init__(self, folder, daemon):
        self.folder, self.daemon, self.expected, self.common = folder, daemon, {}, None
        for name, ms in (("rows", 1.5), ("other", 1.6)):
            (folder / f"{name}.json").write_text(f'{{"cell":"a","ms":[{ms}]}}\n{{"cell":"b","ms":[2.5]}}\n')
        main = subprocess.run(["git", "-C", folder / "lines", "rev-parse", "main"], check=True, capture_output=True,
            text=True).stdout.strip()
        self.words = {
            "status": "", "servers": "", "compare": "rows.json other.json out.csv", "submit": "main --json", "wait": "main", "open": "J1",
            "bisect": "main slow",
            "profile": "A1", "why": "A1", "import": f"rows.json --commit {main} --format flopwatch",
            "export": "C2 exported", "suite": "import none",
            "reproduce": "C2", "history": "one", "jobs": "", "log": "J1", "cancel": "J1", "retry": "J1", "alerts": "",
            "notifications": "", "redeliver": "1", "approve": "", "audit": "", "ci": main, "notify": "test none",
            "devices": "", "pause": "sim-0", "resume": "sim-0", "judge": "--again C2", "calibrate": "show", "peer": "",
            "init": "empty", "try": "lines",
            "doctor": "", "backup": "copy.db", "token": "list", "config": "check c.yml", "completion": "bash",
            START: "compare",
        }
        listed = re.findall(r"^  ([a-z]+)  ", subprocess.run([folder / "bin/flopwatch", "--help"], capture_output=True,
            text=True).stdout, re.M)
        self.missing = sorted(set(listed) - set(self.words) - {"watch"})

    def run(self, verb, plan=None, counts=False):
        """Status, output and errors; status None: it did not end. Output is what it prints and the file that it writes.
        `counts`: its calls are listed, each by a write."""
        for name in ("out.csv", "copy.db"):
            (self.folder / name).unlink(missing_ok=True)
        (self.folder / "seen").unlink(missing_ok=True)
        env = {k: v for k, v in self.daemon.env.items() if k not in ("AT_CALL", "AT_CALL_SEEN")}
        if plan:
            env.update(AT_CALL=plan, LD_PRELOAD=str(self.folder / "at_call.so"))
        if counts:
            env["AT_CALL_SEEN"] = str(self.folder / "seen")
        try:
            port = (self.folder / "state/port").read_text().strip()  # changes with each start
            done = subprocess.run([self.folder / "bin/flopwatch", "--server", f"http://127.0.0.1:{port}", verb,
                *self.words[verb].split()], env=env,
                                  capture_output=True, stdin=subprocess.DEVNULL, timeout=COMMAND_S, cwd=self.folder)
        except subprocess.TimeoutExpired:
            return None, b"", b""
        out = done.stdout + (b"".join(p.read_bytes() for p in [self.folder / "out.csv"] if p.exists()))
        return done.returncode, FIGURE.sub(b"N", out), done.stderr

    def counts(self, verb):
        """Calls of a run without a fault, by name."""
        self.run(verb)  # it may change what the next one prints
        self.expected[verb] = self.run(verb)
        if self.expected[verb][0] is None:
            sys.exit(f"flopwatch {verb} does not end")
        self.run(verb, f"all {NEVER} EIO", counts=True)
        return count(self.folder / "seen")

    def n_common(self, verb):
        """Calls, by name, with which each command begins, and which fail in START alone: nearly all are allocations of libcurl."""
        if verb == START:
            return {}
        if self.common is None:
            self.common = self.counts(START)
        return self.common

    def judge(self, verb, plan, wanted):
        """Faults of one run with a failed call; `wanted`: of one without."""
        status, out, errors = self.run(verb, plan)
        if status is None:
            return [f"it does not end in {COMMAND_S} s"]
        if (status, out) == wanted[:2]:
            return []
        if plan.startswith(("memory", "descriptor")) and b"is it running" in out + errors:
            return [f"it blames the daemon: {out[-200:]!r}; {errors[-200:]!r}"]
        rows = set(out.splitlines()) - set(wanted[1].splitlines())
        if any(re.fullmatch(TABLES.get(verb, UNKNOWN), row) for row in rows):
            return []
        if status == 0 or (status == wanted[0] and not errors):
            at = next((i for i, (a, b) in enumerate(zip(out, wanted[1])) if a != b), min(len(out), len(wanted[1])))
            return [f"status {status} with another output: {out[max(at - 60, 0):at + 120]!r} instead of "
                    f"{wanted[1][max(at - 60, 0):at + 120]!r}; {errors[-200:]!r}"]
        if status < 0 and not (status == -signal.SIGABRT and errors.startswith(b"out of memory: ")):
            return [f"killed by signal {-status}: {errors[-300:]!r}"]
        if not ONE_LINE.search(errors):
            return [f"status {status} without a line: {errors[-300:]!r}, {out[-100:]!r}"]
        return []

    def faults(self, verb, plan):
        faults = self.judge(verb, plan, self.expected[verb])
        for _ in range(ATTEMPTS if faults else 0):  # what it prints depends on what happened since, and on jobs that run
            until(lambda: not self.daemon.rows(OPEN))
            self.expected[verb] = self.run(verb)
            faults = self.judge(verb, plan, self.expected[verb])
            if not faults or self.run(verb)[:2] == self.expected[verb][:2]:
                break
        wanted = self.expected[verb]
        again = self.run(verb) if faults else wanted
        if verb == "pause":
            self.daemon.request("POST", "/api/v1/devices/sim-0/resume", {})
        if again[0] != wanted[0]:
            faults.append(f"the next one: status {again[0]} instead of {wanted[0]}: {again[2][-200:]!r}")
        return faults


class Operations:
    """What a daemon does: start, push to verdict, write, delivery, backup, reload, stop."""

    def __init__(self, folder, daemon):
        self.folder, self.daemon, self.n = folder, daemon, 0
        self.plan, self.seen = folder / "plan", folder / "daemon.seen"
        self.operations = {"start": self.start, "write": self.write, "push": self.push, "backup": self.backup,
            "reload": self.reload, "stop": self.stop}

    def arm(self, text):
        part = self.plan.with_name("plan.part")
        part.write_text(text + "\n")
        part.rename(self.plan)

    def disarm(self):
        self.arm("none 1 EIO")

    def counts(self, operation):
        self.seen.unlink(missing_ok=True)
        self.daemon.end(signal.SIGTERM)
        self.disarm()
        if not self.daemon.start():
            sys.exit(f"the daemon does not start: {self.daemon.last_lines()}")
        if faults := self.operations[operation](f"all {NEVER} EIO"):
            sys.exit(f"{operation} without a fault: {faults}")
        return count(self.seen)

    def n_common(self, _):
        return {}

    def recovered(self, is_end=False):
        """Faults after the fault is over: the daemon works, or it has ended with a line and starts again."""
        self.disarm()
        faults = []
        if not until(lambda: self.daemon.process.poll() is not None or self.daemon.is_up(),
            20) or self.daemon.process.poll() is not None:
            status, said = self.daemon.process.poll(), self.daemon.last_lines(6)
            if status is None:
                faults.append(f"it does not answer any more: {said}")
                self.daemon.kill()
            elif status not in ((0, 1) if is_end else (1, 2, 3)) and not (status == -signal.SIGABRT
                and "out of memory: " in said):
                faults.append(f"it ended with {status}: {said}")
            elif status and "flopwatchd: " not in said and "out of memory: " not in said and "ev=" not in said:
                faults.append(f"it ended with {status} without a line: {said}")
            if not self.daemon.start():
                return faults + [f"it does not start again: {self.daemon.last_lines()}"]
        if not self.daemon.integrity():
            faults.append("the database is damaged")
        return faults

    def start(self, plan):
        self.daemon.end(signal.SIGTERM)
        self.arm(plan)
        self.daemon.launch()
        until(lambda: self.daemon.process.poll() is not None or self.daemon.is_up(), 20)
        return self.recovered()

    def stop(self, plan):
        self.arm(plan)
        self.daemon.process.send_signal(signal.SIGTERM)
        try:
            self.daemon.process.wait(30)
        except subprocess.TimeoutExpired:
            return ["it does not end in 30 s"] + self.recovered()
        return self.recovered(is_end=True)

    def write(self, plan):
        self.n += 1
        name = f"written-{time.monotonic_ns()}"
        main = subprocess.run(["git", "-C", self.folder / "lines", "rev-parse", "main"], check=True, capture_output=True,
            text=True).stdout.strip()
        body = {"repo": "lines", "commit": main, "name": name, "rows": [{"cell": "a", "ms": 1.5}]}
        self.arm(plan)
        status, text = self.daemon.request("POST", "/api/v1/imports", body, {"Idempotency-Key": name})
        faults = self.recovered()
        stored = self.daemon.rows("SELECT count(*) FROM job WHERE kind = 'import' AND suite = ?", name)[0][0]
        if status in (200, 201) and stored != 1:
            faults.append(f"answered {status} with {stored} rows")
        elif status not in (0, 200, 201, 500, 503):
            faults.append(f"answered {status}: {text[:200]!r}")
        elif status in (500, 503) and b'"detail"' not in text and b'"title"' not in text:
            faults.append(f"answered {status} without a reason: {text[:200]!r}")
        again, text = self.daemon.request("POST", "/api/v1/imports", body, {"Idempotency-Key": name})
        stored = self.daemon.rows("SELECT count(*) FROM job WHERE kind = 'import' AND suite = ?", name)[0][0]
        if again not in (200, 201) or stored != 1:
            faults.append(f"answered {status}, then {again} with {stored} rows: {text[:200]!r}")
        return faults

    def push(self, plan):
        self.n += 1
        git = lambda *words: subprocess.run(["git", "-C", self.folder / "lines", *words], check=True, capture_output=True,
            text=True).stdout.strip()
        git("checkout", "-q", "-B", f"f{self.n}", "main")
        with open(self.folder / "lines/bench.sh", "a") as file:
            file.write(f"# {time.monotonic_ns()}\n")
        git("commit", "-q", "-a", "-m", f"push {self.n}")
        sha = git("rev-parse", "HEAD")
        self.arm(plan)
        git("push", "-q", "--force", "origin", f"HEAD:refs/heads/f{self.n}")
        ended = lambda: self.daemon.rows("""SELECT state, state_why FROM job
            WHERE target_sha = ? AND kind = 'compare' AND state IN ('done', 'failed')""", sha)
        until(lambda: self.daemon.process.poll() is not None or ended(), 6)
        faults = self.recovered()
        if not until(ended, 60):
            faults.append(f"not judged: {self.daemon.rows('SELECT state, state_why FROM job WHERE target_sha = ?', sha)}")
        elif ended()[0][0] != "done" or self.daemon.rows("SELECT count(*) FROM comparison WHERE target_sha = ?",
            sha)[0][0] != 1:
            faults.append(f"judged {ended()}")
        return faults

    def backup(self, plan):
        self.arm(plan)
        status, text = self.daemon.request("POST", "/api/v1/backup", {})
        faults = self.recovered()
        if status == 200 and not text.startswith(b"SQLite format 3"):
            faults.append(f"a backup that is none: {text[:100]!r}")
        elif status not in (0, 200, 500, 503):
            faults.append(f"answered {status}: {text[:200]!r}")
        again = until(lambda: self.daemon.request("POST", "/api/v1/backup", {})[0] == 200, 20)
        return faults if again else faults + ["no backup when the fault is over"]

    def reload(self, plan):
        self.arm(plan)
        self.daemon.process.send_signal(signal.SIGHUP)
        time.sleep(0.3)
        return self.recovered()

    def faults(self, operation, plan):
        return self.operations[operation](plan)


def main():
    folder = pathlib.Path(sys.argv[1])
    campaign = Campaign("faults", 120)
    daemon = Daemon(folder, {"AT_CALL": f"@{folder}/plan", "AT_CALL_SEEN": str(folder / "daemon.seen"),
        "LD_PRELOAD": str(folder / "at_call.so")})
    operations = Operations(folder, daemon)
    operations.disarm()
    if not daemon.start():
        sys.exit(f"the daemon does not start: {daemon.last_lines()}")
    if not until(lambda: daemon.rows("SELECT count(*) FROM comparison")[0][0] >= 2, 60):
        sys.exit("the first pushes are not judged")
    commands = Commands(folder, daemon)
    if commands.missing:
        campaign.count("flopwatch --help", [f"verbs without a case: {commands.missing}"])
    commands.expected["jobs"] = commands.run("jobs")
    commands.run("retry")  # a job runs meanwhile
    campaign.count("jobs, without a fault", commands.faults("jobs", f"open {NEVER} EIO-once"))
    cases = [[Cases(commands, verb) for verb in commands.words], [Cases(operations, name) for name in operations.operations]]
    for n, _ in campaign.trials():
        # a trial of the daemon may wait for two minutes, so the slice of `make test` has those of commands alone
        which = n % DAEMON_EVERY == 0 and not os.environ.keys().isdisjoint({"CAMPAIGN_SECONDS", "CAMPAIGN_TRIALS"})
        group, k = cases[which], n // DAEMON_EVERY if which else n - n // DAEMON_EVERY
        case = group[k % len(group)]
        if plan := case.nth(k // len(group)):
            campaign.count(f"{case.what}, {plan}", case.attacked.faults(case.what, plan), n)
    campaign.finish()


if __name__ == "__main__":
    main()
