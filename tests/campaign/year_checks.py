"""year_checks.py - what must be true of the daemon after each week of year.py. A check returns its faults, a sentence each."""
import calendar
import hashlib
import json
import os
import pathlib
import time

from campaign import until

HOUR, DAY = 3600, 86400
KEEP_SAMPLES, KEEP_ARCHIVE, KEEP_EVENTS, KEEP_SENT = 14 * DAY, 60 * DAY, 7 * DAY, 90 * DAY
JANITOR = 2 * HOUR  # it works every hour
CLOCK = 6 * HOUR    # the largest step of the wall clock
CALIBRATED = 10 * DAY  # at most: every 7 days, when nothing else is to do and by a clock that may be set
NIGHTS = 2 * DAY + 2 * CLOCK  # a commit that is the newest for so long is so for a whole night
ANY = ["regression", "improvement", "unchanged", "undecided"]

OPEN = "('queued','assigned','building','checking','measuring')"  # a night or a calibration may begin beside the checks
# Columns that no later push may change.
STORED = {
    "comparison": "id, job, target_sha, base_sha, verdict, n_cells, worst_pct, finished_at, etag",
    "cell": "id, comparison, key, verdict, decided_pct, samples, hex(point)",
    "sample": "cell, run, kind, n, call_order, d, q, d_raw",
    "run": "id, comparison, seed",
    "job": "id, target_sha, kind, state, state_why, attempt, started_at, ended_at",
    "job_log": "id, job, line",
    "alert": "id, kind, target_sha, opened_at",
}


def process_ns(pid):
    """Nanoseconds that the process has computed."""
    return sum(int(path.read_text().split()[0]) for path in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat"))


def resident_kb(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def bytes_below(folder):
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())


def month_of(when):
    return time.strftime("%Y-%m", time.gmtime(when))


def month_start(month):
    return calendar.timegm(time.strptime(month, "%Y-%m"))


def next_month(month):
    return month_of(month_start(month) + 32 * DAY)


def count(daemon, text, *values):
    return daemon.rows(text, *values)[0][0]


def check_alerts(daemon, pushes, reported):
    """Each push that lost something has one alert, no other push has one. `reported`: titles of alerts that were faults."""
    faults = []
    for what, columns, table in (("alerts exist", "repo, target_sha, kind, changed", "alert"),
                                 ("notifications were written", "payload, target", "outbox")):
        twice = daemon.rows(f"SELECT {columns}, count(*) AS n FROM {table} GROUP BY {columns} HAVING n > 1 LIMIT 3")
        faults += [f"{what} twice: {twice}"] if twice else []
    lost = {sha for sha, push in pushes.items() if push["factor"] > 1.01 and push["state"] == "judged"}
    alerts = [row for row in daemon.rows("SELECT target_sha, kind, title FROM alert")
              if pushes.get(row[0], {}).get("verdict") != ANY]
    other = [row for row in alerts if (row[0] not in lost or row[1] != "regression") and row[2] not in reported]
    reported += [row[2] for row in other]
    missing = sorted(lost - {row[0] for row in alerts})
    faults += [f"alerts of pushes that lost nothing: {other[:3]}"] if other else []
    return faults + ([f"pushes that lost something, without an alert: {missing[:3]}"] if missing else [])


def check_jobs(daemon):
    faults = []
    failed = daemon.rows("SELECT id, kind, state, state_why FROM job WHERE state NOT IN ('done', 'superseded') "
                         f"AND state NOT IN {OPEN}")
    if failed:
        faults.append(f"jobs have failed: {failed[:3]}")
    odd = daemon.rows("SELECT id, queued_at, started_at, ended_at FROM job "
                      "WHERE ended_at < started_at OR ended_at - started_at > 1800000 OR started_at < queued_at")
    if odd:
        faults.append(f"jobs took less than nothing, or more than half an hour: {odd[:3]}")
    if not daemon.integrity():
        faults.append("the database is damaged")
    return faults


def check_nights(daemon, pushes, restored, now):
    """Each newest commit of main has comparisons of the shards that no push measures, and each repository is calibrated.
    `restored`: the time of the last restore, with which later comparisons were lost."""
    shards, = daemon.rows("SELECT max(shards) FROM suite")[0]
    mains = sorted((push["at"], sha) for sha, push in pushes.items() if (push["repo"], push["branch"]) == ("kernels", "main"))
    faults = [] if count(daemon, "SELECT count(*) FROM comparison c JOIN job j ON j.id = c.job WHERE j.origin = 'off_peak'") else [
        "no night has measured anything"]
    for (at, sha), (end, _) in zip(mains, mains[1:] + [(now, "")]):
        if end - max(at, restored) < NIGHTS or pushes[sha]["state"] != "judged":
            continue
        found = {shard for shard, in daemon.rows("SELECT j.shard FROM comparison c JOIN job j ON j.id = c.job "
                                               "WHERE c.target_sha = ? AND j.origin = 'off_peak'", sha)}
        if found != set(range(1, shards)):
            faults.append(f"nights have measured the shards {sorted(found)} of {sha[:10]}, instead of 1 to {shards - 1}")
    for repo, last in daemon.rows("SELECT r.name, (SELECT max(finished_at) FROM comparison c WHERE c.repo = r.id AND "
                                  "c.kind = 'calibrate') FROM repo r"):
        if not last or last / 1e3 < now - CALIBRATED:
            faults.append(f"{repo} was last calibrated at {last and int(last / 1e3)}, it is {int(now)}")
    return faults


def check_stored(daemon, stored):
    """`stored`: table to the number of its rows and their hash, of the last check; it is updated. Of jobs, those before the
    first open one."""
    faults = []
    ended = f"WHERE id < (SELECT coalesce(min(id), 1 << 60) FROM job WHERE state IN {OPEN})"
    for table, columns in STORED.items():
        rows = daemon.rows(f"SELECT {columns} FROM {table} {ended if table == 'job' else ''} ORDER BY 1, 2, 3")
        n, was = stored.get(table, (0, None))
        if was and (len(rows) < n or hashlib.sha256(repr(rows[:n]).encode()).hexdigest() != was):
            faults.append(f"rows of {table} have changed, or are missing: {n} were stored, there are {len(rows)}")
        stored[table] = len(rows), hashlib.sha256(repr(rows).encode()).hexdigest()
    return faults


def check_archive(daemon, now):
    """Single times leave the database when they are old enough, and the archive in the same way, by months."""
    faults = []
    old = "SELECT count(*) FROM comparison WHERE is_raw AND finished_at < ?"
    if not until(lambda: not count(daemon, old, (now - KEEP_SAMPLES - JANITOR) * 1e3), 60):
        faults.append(f"{count(daemon, old, (now - KEEP_SAMPLES - JANITOR) * 1e3)} old comparisons are not archived")
    early = count(daemon, "SELECT count(*) FROM archived a JOIN comparison c ON c.id = a.comparison WHERE c.finished_at > ?",
                  (now - KEEP_SAMPLES + 2 * CLOCK) * 1e3)
    if early:
        faults.append(f"{early} comparisons were archived early")
    stored = {path.stem for path in (daemon.folder / "state/samples").glob("*.zst")}
    must, may = set(), {month_of(now - KEEP_SAMPLES + 2 * CLOCK)}
    for month, in daemon.rows(
            "SELECT DISTINCT strftime('%Y-%m', c.finished_at / 1000, 'unixepoch') FROM comparison c "
            "WHERE c.finished_at < ? AND EXISTS (SELECT 1 FROM cell l JOIN sample s ON s.cell = l.id WHERE l.comparison = c.id)",
            (now - KEEP_SAMPLES - JANITOR) * 1e3):
        age = now - month_start(next_month(month))
        if age < KEEP_ARCHIVE - 2 * CLOCK:
            must.add(month)
        if age < KEEP_ARCHIVE + JANITOR:
            may.add(month)
    if not must <= stored <= may:
        faults.append(f"the archive has {sorted(stored)}, instead of {sorted(must)}")
    named = {month for month, in daemon.rows("SELECT DISTINCT month FROM archived")}
    if named != stored:
        faults.append(f"the archive has {sorted(stored)}, the database names {sorted(named)}")
    return faults


def check_deleted(daemon, now):
    """Old events and notifications are deleted, and no others: ids of younger rows have no holes."""
    faults = []
    for table, column, age in (("event", "at", KEEP_EVENTS), ("outbox", "created_at", KEEP_SENT)):
        oldest = count(daemon, f"SELECT min({column}) FROM {table}")
        young = f"SELECT min(id) FROM {table} WHERE {column} > ?"  # steps of the clock mix the times of those before
        first, last, n = daemon.rows(f"SELECT min(id), max(id), count(*) FROM {table} WHERE id >= ({young})",
                                     (now - age + 2 * CLOCK) * 1e3)[0]
        if n and last - first + 1 != n:
            faults.append(f"of {table} {first} to {last} there are only {n}")
        if oldest and oldest / 1e3 < now - age - JANITOR - 2 * CLOCK:
            faults.append(f"{table} has a row of {(now - oldest / 1e3) / DAY:.1f} days")
    return faults


def list_all(daemon, path):
    """Ids of all pages of a list, and faults."""
    found, cursor = [], ""
    while True:
        status, body = daemon.request("GET", f"{path}&limit=200{cursor}")
        if status != 200:
            return found, [f"GET {path}: {status} {body[:200]!r}"]
        page = json.loads(body)
        found += [item["id"] for item in page["items"]]
        if not page["next_cursor"]:
            return found, []
        cursor = f"&cursor={page['next_cursor']}"


def check_months(daemon, first, now):
    """Pages and lists of each month since the time `first`."""
    faults, month = [], month_of(first)
    key = daemon.rows("SELECT key FROM cell WHERE branch = 'main' AND repo = 1 LIMIT 1")
    while month_start(month) < now:
        since, end = month + "-01", next_month(month) + "-01"
        stored = lambda: [i for i, in daemon.rows(
            "SELECT id FROM comparison WHERE finished_at >= ? AND finished_at < ? ORDER BY id",
            month_start(month) * 1e3, month_start(next_month(month)) * 1e3)]
        ids = stored()
        got, wrong = list_all(daemon, f"/api/v1/comparisons?since={since}&until={end}")
        faults += wrong
        if len(set(got)) != len(got) or not set(ids) <= set(got) <= set(stored()):
            faults.append(f"the API lists {len(got)} comparisons of {month}, there are {len(ids)}")
        paths = [f"{page}?since={since}&until={end}" for page in ("/comparisons", "/jobs", "/alerts", "/bisects")]
        paths += [f"/comparisons/{ids[i]}" for i in {0, len(ids) // 2, len(ids) - 1} if ids]
        paths += [f"/api/v1/comparisons/{ids[len(ids) // 2]}.csv"] if ids else []
        paths += [f"/api/v1/history?repo=lines&cell={key[0][0]}&since={since}&until={end}"] if key else []
        for path in paths:
            status, body = daemon.request("GET", path)
            if status != 200 or not body:
                faults.append(f"GET {path}: {status} {body[:200]!r}")
        month = next_month(month)
    return faults


def page_costs(daemon):
    """Microseconds of processor time of pages that are not cached, the least of three, and faults."""
    last, sha = daemon.rows(
        "SELECT id, target_sha FROM comparison WHERE repo = 1 AND kind = 'compare' ORDER BY id DESC LIMIT 1")[0]
    key = daemon.rows("SELECT key FROM cell WHERE comparison = ? LIMIT 1", last)[0][0]
    pages = {"/commits": f"/commits/{sha}", "/comparisons/ID": f"/comparisons/{last}", "/search": "/search?q=team",
             "/history": f"/history?repo=lines&cell={key}", "/branches?branch": "/branches?repo=lines&branch=main",
             "/api/v1/history": f"/api/v1/history?repo=lines&cell={key}", "/api/v1/report": "/api/v1/report?repo=lines",
             "/api/v1/calibration": "/api/v1/calibration?repo=lines", "/api/v1/cells": "/api/v1/cells?repo=lines"}
    pages |= {path: path for path in ("/", "/branches", "/repos/lines", "/comparisons", "/jobs", "/alerts", "/devices", "/heat",
                                      "/notifications", "/bisects", "/metrics", "/comparisons.atom", "/api/v1/comparisons",
                                      "/api/v1/jobs", "/api/v1/branches", "/api/v1/alerts", "/api/v1/devices")}
    costs, faults = {}, []
    for name, path in pages.items():
        times = []
        for _ in range(3):
            daemon.request("POST", "/api/v1/jobs/999999999/cancel", {})  # a row of the audit log, so that no page is cached
            before = process_ns(daemon.process.pid)
            status, body = daemon.request("GET", path)
            times.append(process_ns(daemon.process.pid) - before)
            if status != 200:
                faults.append(f"GET {path}: {status} {body[:200]!r}")
        costs[name] = min(times) // 1000
    return costs, faults


def sizes(daemon):
    n = {f"{table}s": count(daemon, f"SELECT count(*) FROM {table}") for table in ("comparison", "cell", "job")}
    return n | {"raw": count(daemon, "SELECT count(*) FROM comparison WHERE is_raw"),
                "db_bytes": daemon.database.stat().st_size, "archive_bytes": bytes_below(daemon.folder / "state/samples"),
                "free_bytes": count(daemon, "SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size"),
                "cache_bytes": bytes_below(daemon.folder / "cache")}
