#!/usr/bin/env python3
"""Effect of readers on a job: main against itself without readers, with many readers, and without them again.

    crowd.py SERVER [--device KIND] [--cores LIST] [--out FILE] [--commit SHA]

100 readers of events and 50 browsers, each asking for something ten times a second. Prints `bench NAME VALUE UNIT`: how many cells the crowd
moved out of the interval that they had alone, how far, and the same for the second run alone, which is what chance does. A ratio of two
equal sides would hide what slows both, so the times themselves are compared too. --cores is where the crowd runs: in life its browsers are
elsewhere, so here it keeps to the cores that do not measure. --out gets the figures as JSON, one a line.
"""
import argparse
import asyncio
import datetime
import json
import multiprocessing
import os
import statistics
import time
import urllib.request

READERS, BROWSERS, PAUSE_S, WAIT_S = 100, 50, 0.1, 300


def ask(server, path, body=None):
    headers = {"Content-Type": "application/json"} if body is not None else {}
    request = urllib.request.Request(server + path, None if body is None else json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def job_ended(server, job):
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        row = ask(server, f"/api/v1/jobs/{job}")
        if row["state"] in ("done", "failed", "cancelled", "superseded", "target_missing"):
            return row
        time.sleep(0.2)
    raise SystemExit(f"crowd.py: job {job} does not end")


def measure(server, device):
    """One comparison of main with itself."""
    request = {"repo": "kernels", "runs": 1, **({"device": device} if device else {})}
    row = job_ended(server, ask(server, "/api/v1/calibrate", request)["jobs"][0])
    if row["state"] != "done":
        raise SystemExit(f"crowd.py: {row['state']}: {row.get('state_why')}")
    return ask(server, f"/api/v1/comparisons/{row['comparison']}")


# ---- the crowd

async def read_events(host, port, counts):
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(f"GET /api/v1/events HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
    while line := await reader.readline():
        counts["events"] += line.startswith(b"data:")


async def browse(host, port, paths, counts):
    reader, writer = await asyncio.open_connection(host, port)
    for turn in range(1 << 30):
        begun = time.monotonic()
        writer.write(f"GET {paths[turn % len(paths)]} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        if not head.startswith("http/1.1 200"):
            raise SystemExit(f"crowd.py: {paths[turn % len(paths)]}: {head.splitlines()[0]}")
        await reader.readexactly(int(head.split("content-length:")[1].split("\r\n")[0]))
        counts["ms"].append(1e3 * (time.monotonic() - begun))
        await asyncio.sleep(PAUSE_S)


async def crowd_until(host, port, paths, counts, end):
    tasks = [asyncio.ensure_future(read_events(host, port, counts)) for _ in range(READERS)]
    for i in range(BROWSERS):
        tasks.append(asyncio.ensure_future(browse(host, port, paths[i % len(paths):] + paths[:i % len(paths)], counts)))
    while not end.is_set():
        await asyncio.sleep(0.1)
        for task in tasks:
            if task.done():
                task.result()  # a failure ends all of it
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def crowd(server, paths, cores, end, answers):
    if cores:
        os.sched_setaffinity(0, cores)
    host, port = server.removeprefix("http://").split(":")
    counts = {"events": 0, "ms": []}
    asyncio.run(crowd_until(host, int(port), paths, counts, end))
    answers.put((len(counts["ms"]), counts["events"], sorted(counts["ms"])[len(counts["ms"]) * 99 // 100]))


def crowded(server, device, cores):
    ids = [row["id"] for row in ask(server, "/api/v1/comparisons?limit=20")["items"]]
    paths = ["/", "/jobs", "/comparisons", "/alerts"] + [f"/comparisons/{i}" for i in ids] + [f"/api/v1/comparisons/{i}" for i in ids]
    end, answers = multiprocessing.Event(), multiprocessing.Queue()
    child = multiprocessing.Process(target=crowd, args=(server, paths, cores, end, answers), daemon=True)
    child.start()
    time.sleep(1)
    try:
        body = measure(server, device)
    finally:
        end.set()
    if child.exitcode:
        raise SystemExit("crowd.py: the crowd left before the job had ended")
    return body, answers.get(timeout=30)


# ---- results

def compare(before, after):
    """Cells apart, cells outside the interval, widest shift of the change, and the median ratio of the times in per cent."""
    a = {c["cell"]: c for c in before["cells"] if c["change_pct"] is not None}
    pairs = [(a[c["cell"]], c) for c in after["cells"] if c["change_pct"] is not None and c["cell"] in a]
    if not pairs:
        raise SystemExit("crowd.py: no cell was timed in both")
    separate = sum(c["ci_low_pct"] > q["ci_high_pct"] or c["ci_high_pct"] < q["ci_low_pct"] for q, c in pairs)
    outside = sum(not q["ci_low_pct"] <= c["change_pct"] <= q["ci_high_pct"] for q, c in pairs)
    shift = max(abs(c["change_pct"] - q["change_pct"]) for q, c in pairs)
    slower = statistics.median(100 * (c["target"]["median_ms"] / q["target"]["median_ms"] - 1) for q, c in pairs)
    return len(pairs), separate, outside, shift, slower


def cores_of(text):
    found = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found & os.sched_getaffinity(0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("server")
    parser.add_argument("--device", default="")
    parser.add_argument("--cores", default="")
    parser.add_argument("--out")
    parser.add_argument("--commit", default="unknown")
    o = parser.parse_args()
    cores = cores_of(o.cores)
    if cores:
        os.sched_setaffinity(0, cores)
    alone = measure(o.server, o.device)
    among, (requests, events, p99_ms) = crowded(o.server, o.device, cores)
    again = measure(o.server, o.device)
    lines = [("readers", READERS, "count"), ("browsers", BROWSERS, "count"), ("requests", requests, "count"), ("events", events, "count"),
             ("request_p99", p99_ms, "ms")]
    for name, after in (("", among), ("alone_again_", again)):
        cells, separate, outside, shift, slower = compare(alone, after)
        lines += [(f"{name}cells", cells, "count"), (f"{name}cells_separate", separate, "count"), (f"{name}cells_outside", outside, "count"),
                  (f"{name}widest_shift", shift, "pct"), (f"{name}median_slower", slower, "pct")]
    env = alone.get("environment") or {}
    at = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    for name, value, unit in lines:
        print(f"bench crowd.{name} {value:.6g} {unit}")
    if o.out:
        with open(o.out, "w") as f:
            for name, value, unit in lines:
                f.write(json.dumps({"bench": f"crowd.{name}", "peer": None, "value": value, "unit": unit, "cell": None,
                                    "device": env.get("name"), "driver": env.get("driver"), "toolkit": env.get("toolkit"),
                                    "commit": o.commit, "at": at}) + "\n")


main()
