#!/usr/bin/env python3
"""power.py FOLDER: build what a power cut leaves of a working daemon's files, for each sync of a day's work, and use it.

FOLDER is made by test_power.sh. journal.c records all changes of state_dir and of a backup. At a cut each file has
what was synced last, and of every later write an arbitrary part: sectors of 512 bytes, the last of them torn. A
folder has an arbitrary beginning of its later changes of names. Each such state must have a sound database with every
acknowledged request, and archives that can be read; a daemon starts with some. Also proves that it detects faults:
without the syncs of the write-ahead log, acknowledged requests are missing.
"""
import collections
import json
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

from campaign import Campaign, Daemon, until

SECTOR = 512
START_EVERY, FIRST_START_EVERY = 50, 5  # a daemon starts with every nth state; with more of those before the first acknowledged request
Record = collections.namedtuple("Record", "kind offset length data path end")


def read_journal(path):
    text, at, records = path.read_bytes(), 0, []
    while at < len(text):
        line_end = text.index(b"\n", at)
        kind, offset, length, size, name = text[at:line_end].decode().split(" ", 4)
        at = line_end + 1 + int(size)
        records.append(Record(kind, int(offset), int(length), text[line_end + 1:at], name, at))
    return records


class File:
    def __init__(self):
        self.durable, self.pending = bytearray(), []

    def sync(self):
        for change in self.pending:
            apply(self.durable, change)
        self.pending = []


def apply(content, change):
    offset, data = change
    if data is None:
        del content[offset:]
        content.extend(bytes(offset - len(content)))
        return
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    content[offset:offset + len(data)] = data


class Disk:
    """Files by the names that the processes see, and the names that are durable."""

    def __init__(self, unsynced=None):
        self.names, self.durable_names, self.renames = {}, {}, []
        self.unsynced = unsynced  # ending of the files whose syncs are ignored

    def play(self, r):
        if r.kind == "write" and r.path in self.names:  # else it was unlinked: no name leads to it
            self.names[r.path].pending.append((r.offset, r.data))
        elif r.kind == "truncate" and r.path in self.names:
            self.names[r.path].pending.append((r.offset, None))
        elif r.kind == "create" and r.path not in self.names:
            self.names[r.path] = File()
            self.renames.append(("add", r.path, self.names[r.path]))
        elif r.kind == "mkdir":
            self.renames.append(("add", r.path, None))
        elif r.kind == "unlink":
            if self.names.pop(r.path, None):
                self.renames.append(("remove", r.path, None))
        elif r.kind == "rename" and r.path in self.names:
            to = r.data.decode()
            self.names[to] = self.names.pop(r.path)
            self.renames.append(("rename", r.path, to))
        elif r.kind == "sync":
            if r.path in self.names:
                if not (self.unsynced and r.path.endswith(self.unsynced)):
                    self.names[r.path].sync()
            else:  # a folder
                self.sync_folder(r.path)

    @staticmethod
    def change_names(names, change):
        kind, path, what = change
        if kind == "add":
            names[path] = what
        elif kind == "remove":
            names.pop(path, None)
        elif path in names:
            names[what] = names.pop(path)

    def sync_folder(self, folder):
        kept = []
        for change in self.renames:
            if os.path.dirname(change[1]) == folder.rstrip("/"):
                self.change_names(self.durable_names, change)
            else:
                kept.append(change)
        self.renames = kept

    def cut(self, rng, to):
        """Write what a cut leaves into the folder `to`."""
        shutil.rmtree(to, ignore_errors=True)
        names = dict(self.durable_names)
        for change in self.renames[:rng.randint(0, len(self.renames))]:
            self.change_names(names, change)
        keep = rng.choice((0.0, 1.0, rng.random(), rng.random()))
        for name, file in names.items():
            if file is None or not all(above.as_posix() in names for above in list(pathlib.PurePath(name).parents)[:-2]):
                continue  # a folder, or a file of a folder that is missing
            content = bytearray(file.durable)
            for offset, data in file.pending:
                if data is None:
                    if rng.random() < keep:
                        apply(content, (offset, None))
                    continue
                for at in range(0, len(data), SECTOR):
                    sector = data[at:at + SECTOR]
                    if rng.random() >= keep:
                        continue
                    if rng.random() < 0.02:  # torn: the rest is old
                        sector = sector[:rng.randrange(len(sector))]
                    apply(content, (offset + at, sector))
            path = to / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


class Day:
    """A day's work of a daemon: acknowledged requests as (end of the journal, query, values, wanted)."""

    def __init__(self, folder, seconds):
        self.folder, self.journal, self.acknowledged = folder, folder / "journal", []
        self.daemon = Daemon(folder, {"JOURNAL": f"{self.journal} {folder}/disk/", "LD_PRELOAD": str(folder / "journal.so")})
        if not self.daemon.start():
            sys.exit(f"the daemon does not start: {self.daemon.last_lines()}")
        self.end, n = time.monotonic() + seconds, 0
        while time.monotonic() < self.end or n < 12:
            n += 1
            self.work(n)
        until(lambda: not self.daemon.rows("""SELECT 1 FROM job
            WHERE state IN ('queued','assigned','building','checking','measuring')"""))
        self.daemon.end(signal.SIGTERM)
        self.records = read_journal(self.journal)

    def acknowledge(self, query, *values, wanted=1):
        self.acknowledged.append((self.journal.stat().st_size, query, values, wanted))

    def git(self, *words):
        return subprocess.run(["git", "-C", self.folder / "lines", *words], check=True, capture_output=True,
            text=True).stdout.strip()

    def post(self, path, body=None):
        status, text = self.daemon.request("POST", "/api/v1/" + path, body or {})
        if status not in (200, 201):
            sys.exit(f"POST {path}: {status} {text[:300]!r}")
        return json.loads(text) if path != "backup" else {}

    def work(self, n):
        ms = 1.3 if n % 3 == 2 else 1.0
        self.git("checkout", "-q", "-B", f"b{n}", "main")
        (self.folder / "lines/bench.sh").write_text(f'echo \'{{"cell":"one","ms":[{ms},{ms},{ms}]}}\'\n# {n}\n')
        self.git("commit", "-q", "-a", "-m", f"push {n}")
        self.git("push", "-q", "origin", f"HEAD:refs/heads/b{n}")
        sha, main = self.git("rev-parse", "HEAD"), self.git("rev-parse", "main")
        name = f"imported-{n}"
        self.post("imports", {"repo": "lines", "commit": main, "name": name, "rows": [{"cell": "a", "ms": 1.5 + n}]})
        self.acknowledge("SELECT count(*) FROM job WHERE kind = 'import' AND suite = ?", name)
        job = self.post("jobs", {"repo": "lines", "target": main, "base": main})["id"]
        self.acknowledge("SELECT count(*) FROM job WHERE id = ?", job)
        judged = until(lambda: self.daemon.rows("SELECT id FROM comparison WHERE target_sha = ?", sha))
        # the API shows only what is committed and synced
        self.daemon.request("GET", f"/api/v1/comparisons/{judged[0][0]}")
        self.acknowledge("SELECT count(*) FROM comparison WHERE target_sha = ? AND kind = 'compare'", sha)
        for (alert,) in self.daemon.rows("SELECT id FROM alert WHERE state = 'open'"):
            self.post(f"alerts/{alert}/acknowledge", {"reason": f"seen {n}"})
            self.acknowledge("SELECT count(*) FROM alert_event WHERE alert = ? AND state = 'acknowledged'", alert)
        if n % 4 == 0:  # archives finished comparisons
            before = self.daemon.rows("SELECT count(*) FROM archived")[0][0]
            self.daemon.process.send_signal(signal.SIGHUP)
            until(lambda: self.daemon.rows("SELECT count(*) FROM archived")[0][0] > before, 5)
        if n % 5 == 0:
            self.post("backup")
        if n % 6 == 0:
            self.daemon.end(signal.SIGKILL if n % 12 == 0 else signal.SIGTERM)
            if not self.daemon.start():
                sys.exit(f"the daemon does not start again: {self.daemon.last_lines()}")
        if n % 7 == 0:
            (self.folder / "disk/backup").mkdir(exist_ok=True)
            copy = self.folder / f"disk/backup/{n}.db"
            subprocess.run([self.folder / "bin/flopwatchd", "--backup", self.daemon.database, copy], check=True,
                env=self.daemon.env,
                           stdout=subprocess.DEVNULL)
            self.acknowledge(None, copy.name)


def faults_of(state, day, end):
    """What is wrong with the files of a cut when the journal ended at `end`."""
    faults, path = [], state / "state/flopwatch.db"
    due = [a for a in day.acknowledged if a[0] <= end]
    if not path.exists():
        return ["no database"] if due else []
    try:
        db = sqlite3.connect(path)
        if db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0] == 0 and not due:
            return []
        found = db.execute("PRAGMA integrity_check").fetchall()
        if found != [("ok",)]:
            faults.append(f"the database is damaged: {found[:2]}")
        if db.execute("PRAGMA foreign_key_check").fetchall():
            faults.append("a row refers to a missing one")
        for _, query, values, wanted in due:
            if query and db.execute(query, values).fetchone()[0] != wanted:
                faults.append(f"missing: {query} {values}")
        for month, length in archived(db):
            file = state / f"state/samples/{month}.zst"
            if not file.exists() or file.stat().st_size < length:
                faults.append(f"the archive of {month} has {file.stat().st_size if file.exists() else 'no'} of {length} bytes")
        db.close()
    except sqlite3.Error as error:
        faults.append(f"the database: {error}")
    for _, query, values, _ in due:
        if not query:
            faults += faults_of_backup(state / "backup" / values[0])
    return faults


def archived(db):
    return db.execute("SELECT month, max(frame_offset + bytes) FROM archived GROUP BY month").fetchall()


def faults_of_backup(path):
    if not path.exists():
        return [f"the backup {path.name} is missing"]
    db = sqlite3.connect(path)
    try:
        ok = db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    except sqlite3.Error as error:
        return [f"the backup {path.name}: {error}"]
    finally:
        db.close()
    return [] if ok else [f"the backup {path.name} is damaged"]


def start_with(folder, state):
    """A daemon with the files of a cut: it answers, and can read its archives."""
    config = (folder / "c.yml").read_text().replace(f"state_dir: {folder}/disk/state", f"state_dir: {state}/state")
    after = folder / "after"
    after.mkdir(exist_ok=True)
    (after / "c.yml").write_text(config)
    for name, to in (("bin", folder / "bin"), ("state", state / "state")):
        (after / name).unlink(missing_ok=True)
        (after / name).symlink_to(to)
    daemon = Daemon(after)
    if not daemon.start():
        return [f"the daemon does not start: {daemon.last_lines()}"]
    status, text = daemon.request("GET", "/api/v1/samples")
    faults = [f"samples: {status} {text[:300]!r}"] if status != 200 or b'"damaged"' in text else []
    if daemon.end(signal.SIGTERM) != 0:
        faults.append(f"the daemon ends with {daemon.process.returncode}")
    return faults


def cuts(records, disk, trials):
    """Before and after each sync, again and again while there are trials: number, generator, disk, length of the journal."""
    points = [i for k, r in enumerate(records) if r.kind == "sync" for i in (k, k + 1)] or [len(records)]
    while True:
        state, at = disk(), 0
        for point in points:
            while at < point:
                state.play(records[at])
                at += 1
            trial = next(trials, None)
            if trial is None:
                return
            yield *trial, state, records[at - 1].end if at else 0


def main():
    folder = pathlib.Path(sys.argv[1])
    campaign = Campaign("power", 80)
    day = Day(folder, min(campaign.seconds / 10, 60) if campaign.seconds else 6)
    state = folder / "cut"
    # without syncs of the log its rows are missing: the states of cuts are no copies of the files
    lost = 0
    rng_trials = ((n, random.Random(n)) for n in range(1, 2000))
    for n, rng, disk, end in cuts(day.records, lambda: Disk("-wal"), rng_trials):
        disk.cut(rng, state)
        lost = len(faults_of(state, day, end))
        if lost:
            break
    if not lost:
        campaign.count("without syncs of the log", ["nothing is missing: the cuts cut nothing"])
    for n, rng, disk, end in cuts(day.records, Disk, campaign.trials()):
        disk.cut(rng, state)
        faults = faults_of(state, day, end)
        every = START_EVERY if end >= day.acknowledged[0][0] else FIRST_START_EVERY
        if n % every == 0 and not faults and (state / "state").exists():
            faults = start_with(folder, state)
        campaign.count(f"byte {end} of the journal", faults)
    syncs = sum(r.kind == "sync" for r in day.records)
    print(f"# {len(day.records)} changes, {syncs} syncs, {len(day.acknowledged)} acknowledged")
    campaign.finish()


main()
