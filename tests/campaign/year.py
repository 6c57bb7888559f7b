#!/usr/bin/env python3
"""year.py FOLDER: a daemon that works for a year, in less than an hour.

FOLDER is made by test_year.sh. A trial is a simulated week; week 1 begins on 4 January 2027. libfaketime moves all
clocks of the daemon forward to the next event; while jobs run, time passes at its real speed. Events are pushes to two
repositories (one in twenty loses a known percentage), nights, steps of the wall clock, rotation of the log, backups and
restores, upgrades and downgrades, SIGTERM and SIGKILL. In the first four weeks and in the second half of the year
nothing restarts the daemon, so that its memory is that of one process.

After each event every push was judged once, as expected. After each week the checks of year_checks.py hold, and a daemon
without libfaketime has the same verdicts. FOLDER/year.json stores what was expected, so that a later call continues after
the last week in the same FOLDER; FOLDER/weeks.jsonl has the figures of each week.
"""
import collections
import datetime
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import year_checks as checks
from campaign import Campaign, Daemon, until
from year_checks import ANY, CLOCK, DAY, HOUR, count, process_ns

EPOCH = datetime.datetime(2027, 1, 4, tzinfo=datetime.timezone.utc).timestamp()
WEEK = 7 * DAY
IS_LONG = "CAMPAIGN_SECONDS" in os.environ  # otherwise the slice in `make test`
OPEN = "('queued','assigned','building','checking','measuring')"
N_OPEN = (f"SELECT (SELECT count(*) FROM job WHERE state IN {OPEN}) + "
          "(SELECT count(*) FROM bisect WHERE state IN ('listing', 'measuring'))")
BRANCHES = [f"team/b{n:02d}" for n in range(1, 20)]  # and main
LOSSES = 1.04, 1.06, 1.10, 1.30
CELLS = {"one": 1, "two": 2, "three": 5, "four": 20}  # of repository lines, with their times in ms
SEED, SEED_STEP = 6, 0x9e3779b97f4a7c15  # of device sim: SEED + job * SEED_STEP (daemon/flopwatchd/session/slot.c)
SAME = ["unchanged", "identical", "undecided"]
LEAP = 3 * HOUR
GROWTH_KB, GROWTH_DESCRIPTORS = 24 << 10 if IS_LONG else 8 << 10, 3


class Time:
    """The daemon's clocks: all are ahead of the machine's, and the wall clock may also be set."""

    def __init__(self, folder):
        self.folder, self.ahead = folder, 0.0

    def write(self, name, text):
        part = self.folder / (name + ".part")
        part.write_text(text + "\n")
        part.rename(self.folder / name)

    def now(self):
        return time.time() + self.ahead

    def go_to(self, when):
        """Never back. Timers that are due run before this returns, if the daemon is idle."""
        self.ahead = max(self.ahead, when - time.time())
        self.write("clock", f"+{self.ahead:.3f}")
        time.sleep(0.06)

    def leap(self, seconds):
        self.go_to(self.now() + seconds)

    def set(self, by):
        self.write("set", str(int(by)))


class Repository:
    """`level`: the time of upstream's calls against those of the first commit. A branch has a factor on that."""

    def __init__(self, folder, name, state):
        self.folder, self.name = folder, name
        self.state = state.setdefault(name, {"level": 1.0, "n": 0, "broken": None})

    def git(self, when, *words):
        date = f"{int(when)} +0000"
        env = dict(os.environ, GIT_AUTHOR_DATE=date, GIT_COMMITTER_DATE=date)
        return subprocess.run(["git", "-C", self.folder / self.name, *words], check=True, capture_output=True, text=True,
                              env=env).stdout.strip()

    def write(self, factor, rng):
        if self.name == "kernels":
            (self.folder / "kernels/kernels/factor").write_text(f"{factor * (1 + self.state['n'] * 1e-7):.9f}\n")
            return
        rows = [{"cell": cell, "ms": [round(ms * factor * rng.gauss(1, 0.001), 6) for _ in range(5)]}
                for cell, ms in CELLS.items()]
        (self.folder / "lines/bench.sh").write_text("".join(f"echo '{json.dumps(row)}'\n" for row in rows))

    def push(self, branch, factor, rng, when):
        """A commit on the upstream branch, or a new one on top of it; returns its hash."""
        self.state["n"] += 1
        self.git(when, "checkout", "-q", "main")
        if branch != "main":
            self.git(when, "checkout", "-q", "-B", branch)
        self.write(self.state["level"] * factor, rng)
        self.git(when, "commit", "-q", "-a", "-m", f"change {self.state['n']}")
        self.git(when, "push", "-q", "--force", "origin", f"HEAD:refs/heads/{branch}")
        if branch == "main":
            self.state["level"] *= factor
            self.state["broken"] = factor if factor > 1.01 else None
        return self.git(when, "rev-parse", "HEAD")


class Year:
    def __init__(self, folder):
        self.folder, self.file = folder, folder / "year.json"
        self.time = Time(folder)
        self.daemon = Daemon(folder, {
            "LD_PRELOAD": os.environ["YEAR_PRELOAD"], "FAKETIME_TIMESTAMP_FILE": str(folder / "clock"),
            "FAKETIME_NO_CACHE": "1", "NO_FAKE_STAT": "1", "CLOCK_SET": str(folder / "set"), "TZ": "UTC"})
        self.unfaked = Daemon(folder / "unfaked")
        self.state = {"week": 0, "ahead": 0.0, "pushes": {}, "stored": {}, "reported": [], "tree": "first", "compared": 0,
                      "n": {}}
        if self.file.exists():
            self.state = json.loads(self.file.read_text())
        self.time.ahead = self.state["ahead"]
        self.pushes, self.n = self.state["pushes"], collections.Counter(self.state["n"])
        self.repos = [Repository(folder, name, self.state) for name in ("lines", "kernels")]
        self.faults, self.backup, self.idle_rate = [], None, 0.0

    def save(self):
        self.state.update(ahead=self.time.ahead, n=self.n)
        part = self.file.with_suffix(".part")
        part.write_text(json.dumps(self.state))
        part.rename(self.file)

    # ---- the daemon ----

    def start(self):
        """From the present package, a folder of programs."""
        part = self.folder / "bin.part"
        part.unlink(missing_ok=True)
        part.symlink_to(self.state["tree"])
        part.rename(self.folder / "bin")
        if not self.daemon.start():
            raise RuntimeError(f"the daemon does not start: {self.daemon.last_lines()}")

    def stop(self, number=signal.SIGTERM):
        status = self.daemon.end(number)
        if number == signal.SIGTERM and status != 0:
            self.faults.append(f"SIGTERM ends flopwatchd with {status}: {self.daemon.last_lines()}")

    def count(self, text, *values):
        return count(self.daemon, text, *values)

    def settle(self):
        """Wait until every push has a job and nothing is open; what waits for its next attempt gets time."""
        new = [sha for sha, push in self.pushes.items() if push["state"] == "new"]
        seen = (f"SELECT count(DISTINCT target_sha) FROM job WHERE kind = 'compare' AND origin = 'push' "
                f"AND target_sha IN ({','.join('?' * len(new))})")
        if not until(lambda: self.count(seen, *new) == len(new)):
            self.faults.append("a push has no job")
        for _ in range(100):
            if not until(lambda: self.count(N_OPEN) == 0):
                found = self.daemon.rows(f"SELECT id, kind, state, state_why FROM job WHERE state IN {OPEN} LIMIT 5")
                self.faults.append(f"jobs do not end: {found}")
                break
            again = self.count("SELECT count(*) FROM job WHERE again_at IS NOT NULL")
            if not again and until(lambda: self.count("SELECT count(*) FROM outbox WHERE state = 'waiting'") == 0, 0.5):
                break
            self.time.leap(700 if again else 70)
        else:
            found = self.daemon.rows("SELECT id, target, attempts, last_error FROM outbox WHERE state = 'waiting' LIMIT 3")
            self.faults.append(f"messages are not sent: {found}")
        for sha in new:
            self.check_push(sha, self.pushes[sha])

    def check_push(self, sha, push):
        what = f"push {sha[:10]} of {push['repo']}, times {push['factor']:.3f},"
        jobs = self.daemon.rows(
            "SELECT state, state_why FROM job WHERE target_sha = ? AND kind = 'compare' AND origin = 'push'", sha)
        found = self.daemon.rows(
            "SELECT c.id, c.verdict, c.n_cells, c.n_regressions, c.worst_pct FROM comparison c JOIN job j ON j.id = c.job "
            "WHERE c.target_sha = ? AND j.kind = 'compare' AND j.origin IN ('push', 'again') ORDER BY c.id", sha)
        push["state"] = "judged"
        n_wanted = 2 if found and found[0][1] == "undecided" else 1  # such a push is measured again, once
        if [state for state, _ in jobs] != ["done"] or not 1 <= len(found) <= n_wanted:
            self.faults.append(f"{what} has jobs {jobs} and comparisons {found}")
            return
        push["comparison"], verdict, cells, lost, worst = found[-1]
        self.n[verdict] += 1
        if verdict not in push["verdict"]:
            self.faults.append(f"{what} is {verdict} with {worst} %, instead of {push['verdict']}")
        elif push["factor"] > 1.01 and (lost != cells or abs(worst - (1 / push["factor"] - 1) * 100) > 1.5):
            self.faults.append(f"{what} lost {worst} % in {lost} of {cells} cells")

    # ---- events ----

    def push_one(self, repo, branch, factor, rng):
        sha = repo.push(branch, factor, rng, self.time.now())
        wanted = ["regression"] if factor > 1.01 else ["improvement"] if factor < 0.99 else SAME
        self.pushes[sha] = {"repo": repo.name, "branch": branch, "factor": factor, "verdict": wanted, "state": "new",
                            "at": self.time.now()}
        self.n["pushes"] += 1
        self.n["losses"] += factor > 1.01

    def push(self, rng, is_loss=False):
        """One or two pushes. Upstream's loss is repaired by the next push of its repository."""
        repos = rng.choice((self.repos[:1], self.repos[:1], self.repos[:1], self.repos[1:], self.repos))
        for repo in repos:
            if repo.state["broken"]:
                self.push_one(repo, "main", 1 / repo.state["broken"], rng)
                continue
            branch = "main" if rng.random() < 0.2 else rng.choice(BRANCHES)
            self.push_one(repo, branch, rng.choice(LOSSES) if is_loss else 1.0, rng)
            is_loss = False

    def push_loss(self, rng):
        self.push(rng, True)

    def night(self, _):
        """Seconds pass until nothing more is queued."""
        for _ in range(40):
            self.time.leap(2)
            self.time.leap(2)
            if not self.count(N_OPEN):
                return
            self.settle()
        self.faults.append("the night's jobs do not end")

    def set_clock(self, rng):
        self.time.set(rng.choice((0, -1, 1)) * rng.randrange(10, CLOCK))
        self.n["clock steps"] += 1

    def rotate(self, _):
        """As copytruncate of logrotate does."""
        shutil.copy(self.daemon.log, self.folder / "log.1")
        os.truncate(self.daemon.log, 0)

    def end(self, rng):
        """While a push is at work."""
        self.push(rng)
        time.sleep(rng.random() * 0.5)
        self.stop(rng.choice((signal.SIGTERM, signal.SIGKILL, signal.SIGKILL)))
        self.time.leap(rng.choice((0, 60, 300)))
        self.start()
        self.n["restarts"] += 1

    def change_version(self, _):
        self.stop()
        self.state["tree"] = "second" if self.state["tree"] == "first" else "first"
        self.start()
        version = subprocess.check_output([self.folder / "bin/flopwatchd", "--version"], text=True).split()[-1]
        status, page = self.daemon.request("GET", "/settings")
        if status != 200 or f"<dd>{version}".encode() not in page:
            self.faults.append(f"/settings has another version than {version}: {status}")
        self.n["versions"] += 1

    def back_up(self, _):
        place = self.folder / "backup"
        server = "http://127.0.0.1:" + (self.folder / "state/port").read_text().strip()
        made = subprocess.run([self.folder / "bin/flopwatch", "--server", server, "--quiet", "backup", place / "flopwatch.db"],
                              capture_output=True, text=True)
        if made.returncode:
            self.faults.append(f"backup: {made.stderr}")
            return
        with sqlite3.connect(place / "flopwatch.db") as db:
            if db.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
                self.faults.append("the backup is damaged")
        db.close()
        self.backup = {sha for sha, push in self.pushes.items() if push["state"] == "judged"}
        self.n["backups"] += 1

    def restore(self, rng):
        """Pushes since the backup are measured again, if their commit is still the tip of its branch."""
        if self.backup is None:  # it has failed, which is a fault already
            return
        self.stop(rng.choice((signal.SIGTERM, signal.SIGKILL)))
        for path in (self.folder / "state").glob("flopwatch.db*"):
            path.unlink()
        shutil.copy(self.folder / "backup/flopwatch.db", self.daemon.database)
        if rng.random() < 0.5:  # otherwise the archive is newer than the database
            for path in (self.folder / "backup/samples").glob("*.zst"):
                shutil.copy(path, self.folder / "state/samples")
        newest = {(push["repo"], push["branch"]): sha for sha, push in self.pushes.items()}
        for sha, push in self.pushes.items():
            if sha in self.backup or push["state"] == "lost":
                continue
            push["state"] = "new" if newest[push["repo"], push["branch"]] == sha else "lost"
            if push["branch"] == "main":  # it may be measured against an older commit
                push["verdict"], push["factor"] = ANY, 1.0
        self.state["stored"].clear()
        self.state["restored"] = self.time.now()
        self.start()
        self.n["restores"] += 1

    # ---- a week ----

    def plan(self, rng, week):
        """(second of the week, event), in order."""
        losses, pushes, nights = (2, 31, 7) if IS_LONG else (1, 3, 1)
        names = ["push_loss"] * losses + ["push"] * pushes + ["set_clock"] * (2 if IS_LONG else 1) + ["rotate"]
        events = [(day * DAY + HOUR, "night") for day in range(nights)]
        backup = rng.uniform(0, WEEK * 0.8)
        if not IS_LONG or 4 < (week - 1) % 52 + 1 <= 26:
            names += ["end", "end", "change_version"] if IS_LONG else ["end", "change_version"]
            if week % 3 == 2:
                events += [(backup + rng.uniform(0, WEEK * 0.15), "restore")]
        return sorted(events + [(backup, "back_up")] + [(rng.uniform(0, WEEK * 0.95), name) for name in names])

    def pass_until(self, when):
        """In leaps, each of which lets timers run; none while a job is open, as if the machine slept."""
        while self.time.now() < when:
            until(lambda: self.count(N_OPEN) == 0)
            self.time.go_to(min(when, self.time.now() + LEAP))

    def live(self, rng, week):
        start = EPOCH + (week - 1) * WEEK
        for second, name in self.plan(rng, week):
            self.pass_until(start + second)
            getattr(self, name)(rng)
            self.settle()
        self.time.set(0)
        for repo in self.repos:
            if repo.state["broken"]:
                self.push_one(repo, "main", 1 / repo.state["broken"], rng)
                self.settle()
        self.pass_until(start + WEEK)
        self.settle()

    def wake(self, week):
        self.time.set(0)
        self.time.go_to(EPOCH + (week - 1) * WEEK)
        self.start()
        self.settle()
        began = process_ns(self.daemon.process.pid), time.monotonic()
        time.sleep(1)  # of idle time, a sample
        self.idle_rate = (process_ns(self.daemon.process.pid) - began[0]) / 1e9 / (time.monotonic() - began[1])

    def run_week(self, rng, week):
        self.faults = []
        if not self.daemon.process:
            self.wake(week)
        first = self.state.setdefault("first", week)
        pid, cpu, began, n = self.daemon.process.pid, process_ns(self.daemon.process.pid), time.monotonic(), self.n["pushes"]
        self.live(rng, week)
        n, wall, is_same = self.n["pushes"] - n, time.monotonic() - began, pid == self.daemon.process.pid
        row = {"week": week, "month": checks.month_of(self.time.now() - DAY), "pushes": n, "wall_s": round(wall, 1)}
        if is_same:
            row["cpu_ms_a_push"] = round(((process_ns(pid) - cpu) / 1e6 - wall * self.idle_rate * 1e3) / max(n, 1), 2)
        self.faults += checks.check_archive(self.daemon, self.time.now()) + checks.check_deleted(self.daemon, self.time.now())
        self.faults += checks.check_alerts(self.daemon, self.pushes, self.state["reported"]) + checks.check_jobs(self.daemon)
        self.faults += checks.check_nights(self.daemon, self.pushes, self.state.get("restored", 0), self.time.now())
        self.faults += checks.check_stored(self.daemon, self.state["stored"])
        self.faults += checks.check_months(self.daemon, EPOCH + (first - 1) * WEEK, self.time.now())
        self.compare_unfaked(rng)
        row |= {"is_same_process": is_same, "resident_kb": checks.resident_kb(self.daemon.process.pid),
                "descriptors": checks.descriptors(self.daemon.process.pid), **checks.sizes(self.daemon)}
        self.check_growth(row)
        if week % 4 == 0 or not IS_LONG:
            row["page_us"], faults = checks.page_costs(self.daemon)
            self.faults += faults
        with open(self.folder / "weeks.jsonl", "a") as file:
            file.write(json.dumps(row) + "\n")
        self.state["week"] = week
        self.save()
        return self.faults

    def check_growth(self, row):
        """Against the end of the fourth week, or of the first one of the slice."""
        if row["week"] <= self.state["first"] + (3 if IS_LONG else 0):
            self.state["grown"] = row
            return
        then = self.state.setdefault("grown", row)
        for name, more in (("resident_kb", GROWTH_KB), ("descriptors", GROWTH_DESCRIPTORS)):
            if row[name] > then[name] + more:
                self.faults.append(f"{name} is {row[name]}, {then[name]} after week {then['week']}")

    # ---- the same pushes, with the machine's clocks ----

    def compare_unfaked(self, rng):
        """A push of this week that gained or lost, and any other."""
        since, self.state["compared"] = self.state["compared"], self.time.now()
        of_week = [sha for sha, push in self.pushes.items()
                   if push["state"] == "judged" and "comparison" in push and push["at"] > since]
        changed = [sha for sha in of_week if self.pushes[sha]["factor"] != 1.0]
        for sha in changed[:1] + rng.sample(of_week, min(1, len(of_week))):
            job, base = self.daemon.rows("SELECT job, base_sha FROM comparison WHERE id = ?", self.pushes[sha]["comparison"])[0]
            self.judge_unfaked(sha, self.pushes[sha]["repo"], job, base)

    def judge_unfaked(self, sha, repo, job, base):
        """The seed of its job, and so its times, are those of the daemon with libfaketime."""
        daemon = self.unfaked
        if not daemon.database.exists():  # it measures upstream once, which does not move there
            daemon.start()
            until(lambda: daemon.rows("SELECT count(*) FROM job WHERE state = 'done'") == [(2,)])
            daemon.end(signal.SIGTERM)
        number = count(daemon, "SELECT max(id) FROM job") + 1
        daemon.env["FLOPWATCH_SIM_SEED"] = str((SEED + (job - number) * SEED_STEP) % 2 ** 64)
        daemon.start()
        status, answer = daemon.request("POST", "/api/v1/jobs", {"repo": repo, "target": sha, "base": base})
        until(lambda: daemon.rows("SELECT 1 FROM job WHERE id = ? AND state IN ('done', 'failed')", number), 60)
        cells = ("SELECT c.verdict, l.key, l.verdict, l.decided_pct FROM comparison c JOIN cell l ON l.comparison = c.id "
                 "WHERE c.job = ? ORDER BY l.key")
        faked, unfaked = self.daemon.rows(cells, job), daemon.rows(cells, number)
        daemon.end(signal.SIGTERM)
        self.n["compared"] += 1
        self.n["compared, equal to the last digit"] += faked == unfaked
        if [row[:3] for row in faked] != [row[:3] for row in unfaked]:
            self.faults.append(f"push {sha[:10]}: {faked}, without libfaketime {unfaked} ({status} {answer[:200]!r})")


def main():
    folder = pathlib.Path(sys.argv[1])
    campaign, year = Campaign("year", 2), Year(folder)
    if year.state["week"]:
        campaign.first, campaign.last = year.state["week"] + 1, year.state["week"] + 2
    print("# first", campaign.first)  # of the row that run.sh writes
    for n, rng in campaign.trials():
        try:
            campaign.count(f"week {n}", year.run_week(rng, n))
        except (RuntimeError, OSError, sqlite3.Error, subprocess.SubprocessError) as error:  # RuntimeError: it does not start
            campaign.count(f"week {n}", year.faults + [f"{error} {getattr(error, 'stderr', None) or ''}"])
            break
        if year.daemon.process.poll() is not None:
            break
    if year.daemon.process and year.daemon.end(signal.SIGTERM) != 0:
        campaign.count("the end", [f"flopwatchd ends with {year.daemon.process.returncode}"])
    print("#", ", ".join(f"{n} {name}" for name, n in year.n.items()))
    campaign.finish()


main()
