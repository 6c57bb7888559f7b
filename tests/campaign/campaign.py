"""campaign.py - the trials of one part of the reliability campaign, and the daemon that they attack.

Environment: CAMPAIGN_FIRST, the number of the first trial, which seeds it (1); CAMPAIGN_SECONDS, after which no
further trial begins; without it, a part makes as many trials as its slice in `make test` has, on any machine;
CAMPAIGN_TRIALS, numbers of trials to repeat instead, with spaces between. The end prints one line, `campaign NAME tried
survived failed`; the exit status is 1 if a trial failed or none was made.
"""
import atexit
import json
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
PATIENCE_S = 120


class Campaign:
    def __init__(self, name, slice_trials):
        self.name, self.tried, self.failed, self.stopped = name, 0, 0, False
        self.first = int(os.environ.get("CAMPAIGN_FIRST") or 1)
        self.last, self.seconds = self.first + slice_trials - 1, float(os.environ.get("CAMPAIGN_SECONDS") or 0)
        self.end = time.monotonic() + self.seconds
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.stop)

    def stop(self, *_):
        self.stopped = True

    def trials(self):
        """Numbers and random generators, at least one, until the time is over; a number has the same generator in each run."""
        repeated = os.environ.get("CAMPAIGN_TRIALS", "").split()
        for n in map(int, repeated):
            yield n, random.Random(f"{self.name} {n}")
        n = self.first
        while not repeated and (n == self.first or self.goes_on(n)) and not self.stopped:
            yield n, random.Random(f"{self.name} {n}")
            n += 1

    def goes_on(self, n):
        return time.monotonic() < self.end if self.seconds else n <= self.last

    def count(self, what, faults, n=None):
        """One trial; it failed if there are faults, a sentence each. `n`: its number, if others were counted in between."""
        self.tried += 1
        self.failed += bool(faults)
        for fault in faults:
            print(f"# {self.name} {n or self.first + self.tried - 1}: {what}: {fault}"[:1000], flush=True)

    def finish(self):
        print("campaign", self.name, self.tried, self.tried - self.failed, self.failed, flush=True)
        sys.exit(bool(self.failed or not self.tried))


def until(condition, seconds=PATIENCE_S):
    """The first true value of the condition; the last false one after `seconds`. Pauses grow: a condition may cost much."""
    end, pause = time.monotonic() + seconds, 0.01
    while not (value := condition()) and time.monotonic() < end:
        time.sleep(pause)
        pause = min(pause * 1.5, 0.2)
    return value


class Daemon:
    """flopwatchd of FOLDER/bin with FOLDER/c.yml, as daemon.sh writes them; `env` is added to its environment."""

    def __init__(self, folder, env=None):
        self.folder, self.process, self.reader = pathlib.Path(folder), None, None
        self.env = dict(os.environ, **(env or {}))
        self.log = self.folder / "log"
        atexit.register(self.kill)

    @property
    def database(self):
        return self.folder / "state/flopwatch.db"

    def launch(self):
        (self.folder / "state/port").unlink(missing_ok=True)
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([self.folder / "bin/flopwatchd", "--config", self.folder / "c.yml"], env=self.env,
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder)

    def start(self):
        """Whether it answers; a killed daemon (by its plan) does not."""
        self.launch()
        return until(lambda: self.process.poll() is not None or self.is_up()) and self.process.poll() is None

    def is_up(self):
        return self.request("GET", "/healthz", timeout=5)[0] == 200

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def end(self, number):
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_S)

    def last_lines(self, n=3):
        return " | ".join(self.log.read_text(errors="replace").splitlines()[-n:])

    def request(self, method, path, body=None, headers=None, timeout=20):
        """Status and body; (0, reason) without an answer."""
        data = None if body is None else json.dumps(body).encode()
        try:
            port = (self.folder / "state/port").read_text().strip()
            request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data, method=method,
                                             headers={"Content-Type": "application/json", **(headers or {})})
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read()
        except (OSError, ValueError) as error:  # ValueError: half of a response
            return 0, str(error).encode()
        except Exception as error:  # http.client has its own base class
            return 0, repr(error).encode()

    def open_reader(self):
        """One connection for all later calls of rows(): to open one costs a hundred times a small query. Not for a daemon
        that is killed, whose successor would not recover a database that somebody has open, and only for one thread."""
        self.reader = sqlite3.connect(f"file:{self.database}?mode=ro", uri=True, timeout=30)

    def rows(self, text, *values):
        if self.reader:
            return self.reader.execute(text, values).fetchall()
        with sqlite3.connect(f"file:{self.database}?mode=ro", uri=True, timeout=30) as db:
            found = db.execute(text, values).fetchall()
        db.close()
        return found

    def integrity(self):
        return self.rows("PRAGMA integrity_check") == [("ok",)] and not self.rows("PRAGMA foreign_key_check")
