#!/usr/bin/env python3
"""pushes.py - real pushes of equal programs, and of programs with more work, to a real daemon, and its verdicts.

usage: pushes.py BUNDLE OUT [--programs c,python] [--equal 60] [--planted 12] [--share 0.02] [--loads 0,4,8,12] [--budget 20] [--limit 0] [--python PATH]

BUNDLE holds bin/, share/kit and share/suites (`make bundle`). Programs: c, python, digest (on the host), cuda, torch (on a GPU). Pushes go through the programs
and the loads by turns (one that is named twice has twice as many); a load is so many processes that compute all the time. --budget: device
seconds of a push, of all programs or each its own (cuda:14,torch:36); --limit: no push begins after so many
seconds. OUT gets pushes.jsonl and daemon.log. A line a push, then sums; exit status 1 where an equal program is rejected, a regression or an
improvement, or a planted loss is an unflagged `unchanged` or an improvement. Python's library is all that it needs, and git, gcc (c) or nvcc (cuda).
"""
import argparse
import json
import math
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUSY = [sys.executable, "-c", "while True: pass"]
ON_GPU = ("cuda", "torch")
WRONG_OF_EQUAL = ("rejected", "regression", "improvement", "failed")


def run(*words, **more):
    return subprocess.run(words, check=True, **more)


class Bench:
    """The daemon, its repositories, and the busy processes."""

    def __init__(self, options, state):
        self.options, self.state = options, state
        self.bundle = os.path.abspath(options.bundle)
        self.busy = []
        self.daemon = None
        self.environment = dict(os.environ, GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_NOSYSTEM="1", GIT_AUTHOR_NAME="pusher",
                                GIT_AUTHOR_EMAIL="p@example.org", GIT_COMMITTER_NAME="pusher", GIT_COMMITTER_EMAIL="p@example.org", LC_ALL="C.UTF-8")
        self.environment["PATH"] = "%s/bin:/usr/local/cuda/bin:%s" % (self.bundle, os.environ["PATH"])

    def git(self, name, *words):
        run("git", "-C", os.path.join(self.state, name), *words, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def write(self, name, file, text):
        with open(os.path.join(self.state, name, file), "w") as out:
            out.write(text)

    def budget(self, name):
        for word in self.options.budget.split(","):
            program, _, seconds = word.rpartition(":")
            if program in ("", name):
                return int(seconds)
        sys.exit("pushes.py: --budget says nothing of %s" % name)

    def repository(self, name):
        """A program that was built already, so that a push measures and does nothing else."""
        place, kit = os.path.join(self.state, name), os.path.join(self.bundle, "share/kit")
        run("git", "init", "-q", "--bare", "-b", "main", place + ".git", env=self.environment)
        run("git", "init", "-q", "-b", "main", place, env=self.environment)
        self.git(name, "remote", "add", "origin", place + ".git")
        command = {"c": ["./spin"], "cuda": ["./spin"], "python": [self.options.python, "spin.py"],
                   "digest": [self.options.python, "digest.py"], "torch": [self.options.python, "spin_torch.py"]}[name]
        if name == "c":
            run("gcc", "-O1", "-I", kit, "-o", place + "/spin", HERE + "/spin.c", "-lm")
        elif name == "cuda":
            run("nvcc", "-O3", "-std=c++17", "-arch=native", "-I", kit, "-o", place + "/spin", HERE + "/spin.cu", env=self.environment)
        else:
            shutil.copy(os.path.join(HERE, command[1]), place)
        self.write(name, "share", "0\n")
        self.write(name, ".flopwatch.yaml", "flopwatch: 1\nbenchmarks:\n  %s: {command: [%s], reader: flopwatch, timeout_s: 120, budget_s: %d, gpu: %s}\n"
                   % (name, ", ".join(command), self.budget(name), str(name in ON_GPU).lower()))

    def start(self, names):
        gpu = any(name in ON_GPU for name in names)
        lines = ["state_dir: %s/state" % self.state, "cache_dir: %s/cache" % self.state, "suites_dir: %s/share/suites" % self.bundle,
                 "listen: 127.0.0.1:0", "sandbox: %s" % self.options.sandbox, "profile: off",
                 'workers: [{name: here, command: ["%s/bin/flopwatch-worker", serve], device: %s}]' % (self.bundle, "cuda" if gpu else "cpu"), "repos:"]
        lines += ['  - {name: %s, url: "%s/%s.git", upstream: main, branches: ["*"]}' % (name, self.state, name) for name in names]
        os.makedirs(self.state + "/state")
        os.makedirs(self.state + "/cache")
        self.write("", "c.yml", "\n".join(lines) + "\n")
        self.log = os.path.join(self.options.out, "daemon.log")
        with open(self.log, "w") as log:
            self.daemon = subprocess.Popen([self.bundle + "/bin/flopwatchd", "--config", self.state + "/c.yml"], stdout=log, stderr=log, env=self.environment)
        while True:
            found = re.search(r"^listening on (\S+)", open(self.log).read(), re.M)
            if found:
                break
            if self.daemon.poll() is not None:
                sys.exit("pushes.py: the daemon does not start: %s" % open(self.log).read()[-400:])
            time.sleep(0.05)
        self.environment["FLOPWATCH_SERVER"] = found[1]

    def load(self, n):
        while len(self.busy) > n:
            child = self.busy.pop()
            child.kill()
            child.wait()
        while len(self.busy) < n:
            self.busy.append(subprocess.Popen(BUSY))

    def push(self, name, branch, share, comment):
        """Its comparison; None: there is none in time."""
        if branch != "main":
            self.git(name, "checkout", "-q", "-B", branch, "main")
        self.write(name, "share", "%g\n" % share)
        self.write(name, "note", comment + "\n")
        self.git(name, "add", "-A")
        self.git(name, "commit", "-q", "-m", comment)
        self.git(name, "push", "-q", "origin", branch)
        sha = subprocess.check_output(["git", "-C", os.path.join(self.state, name), "rev-parse", "HEAD"], env=self.environment, text=True).strip()
        done = subprocess.run(["flopwatch", "wait", sha, "--repo", name, "--quiet", "--timeout", "900", "--json"], env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            return json.loads(done.stdout)
        except ValueError:
            print("# %s %s: flopwatch wait ended with %d: %s" % (name, branch, done.returncode, done.stderr.strip()[:300]))
            return None

    def noise(self, comparison):
        """Standard deviation of the runs of each cell, in percent."""
        found = {}
        db = sqlite3.connect("file:%s/state/flopwatch.db?mode=ro" % self.state, uri=True)
        for key, d in db.execute("SELECT c.key, s.d FROM sample s JOIN cell c ON c.id = s.cell JOIN sample_kind k ON k.id = s.kind "
                                 "WHERE c.comparison = ? AND k.series = 'process' AND k.side = 'target' AND s.d IS NOT NULL", (comparison,)):
            found.setdefault(key, []).append(100 * d)
        db.close()
        return {key: math.sqrt(sum((x - sum(v) / len(v)) ** 2 for x in v) / (len(v) - 1)) if len(v) > 1 else None for key, v in found.items()}

    def end(self):
        self.load(0)
        if self.daemon:
            self.daemon.send_signal(signal.SIGTERM)
            self.daemon.wait()


def report(kind, name, load, body, noise):
    row = {"kind": kind, "program": name, "load": load, "load_average": os.getloadavg()[0], "verdict": body["verdict"] if body else "none", "cells": []}
    for c in body["cells"] if body else []:
        failure = c["failure"] if not isinstance(c["failure"], dict) else c["failure"].get("class")
        row["cells"].append({"cell": c["cell"], "verdict": c["verdict"], "class": failure, "change_pct": c["change_pct"], "low": c["ci_low_pct"],
                             "high": c["ci_high_pct"], "runs": c["runs"], "samples": c["samples"], "flags": c.get("flags"), "reason": c["reason"],
                             "base_ms": c["base"]["median_ms"], "noise_pct": noise.get(c["cell"])})
    words = "; ".join("%s %s%s %s [%s, %s] %s runs noise %s %%" % (
        c["cell"], c["verdict"], " " + c["class"] if c["class"] else "", *("%.2f" % v if v is not None else "-" for v in (c["change_pct"], c["low"], c["high"])),
        c["runs"], "%.2f" % c["noise_pct"] if c["noise_pct"] is not None else "-") for c in row["cells"])
    print("%-7s %-6s load %2d (%.1f): %s: %s" % (kind, name, load, row["load_average"], row["verdict"], words), flush=True)
    return row


def is_calm(row):
    return all(c["noise_pct"] is not None and c["noise_pct"] <= 1 for c in row["cells"])


def total(rows):
    """Check the verdicts. Returns the number of wrong ones."""
    equal, planted = ([r for r in rows if r["kind"] == kind] for kind in ("equal", "planted"))
    count = {word: sum(r["verdict"] == word for r in equal) for word in ("unchanged", "undecided") + WRONG_OF_EQUAL}
    undecided = sum(r["verdict"] == "undecided" and is_calm(r) for r in equal)
    print("%d pushes of equal programs: %s; undecided with runs within 1 %%: %d of %d" % (
        len(equal), ", ".join("%d %s" % (n, word) for word, n in count.items()), undecided, sum(map(is_calm, equal))))
    cells = [c for r in planted for c in r["cells"]]
    missed = sum(c["verdict"] == "unchanged" and not c["flags"] for c in cells) + sum(c["verdict"] in ("improvement", "rejected", "failed") for c in cells)
    print("%d pushes with more work: %d found; of %d cells %d regression, %d undecided, %d unflagged unchanged or worse" % (
        len(planted), sum(r["verdict"] == "regression" for r in planted), len(cells), sum(c["verdict"] == "regression" for c in cells),
        sum(c["verdict"] == "undecided" for c in cells), missed))
    return sum(count[word] for word in WRONG_OF_EQUAL) + missed


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("bundle")
    parser.add_argument("out")
    parser.add_argument("--programs", default="c,python")
    parser.add_argument("--equal", type=int, default=60)
    parser.add_argument("--planted", type=int, default=12)
    parser.add_argument("--share", type=float, default=0.02)
    parser.add_argument("--loads", default="0,4,8,12")
    parser.add_argument("--budget", default="20")
    parser.add_argument("--limit", type=float, default=0)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--sandbox", default="none")
    options = parser.parse_args()
    names, loads = options.programs.split(","), [int(n) for n in options.loads.split(",")]
    began, rows = time.monotonic(), []
    options.out = os.path.abspath(options.out)
    os.makedirs(options.out, exist_ok=True)
    with tempfile.TemporaryDirectory() as state:
        bench = Bench(options, state)
        try:
            for name in sorted(set(names)):
                bench.repository(name)
            bench.start(sorted(set(names)))
            for name in sorted(set(names)):
                bench.push(name, "main", 0, "first")
            # alternate, so that a time limit cuts off some of both
            kinds = sorted([((i + 0.5) / n, kind) for kind, n in (("equal", options.equal), ("planted", options.planted)) for i in range(n)])
            with open(options.out + "/pushes.jsonl", "w") as out:
                for i, (_, kind) in enumerate(kinds):
                    if options.limit and time.monotonic() - began > options.limit:
                        print("# %d of %d pushes were not begun: %g s are over" % (len(kinds) - i, len(kinds), options.limit))
                        break
                    n = sum(r["kind"] == kind for r in rows)
                    name, load = names[n % len(names)], loads[n // len(names) % len(loads)]
                    bench.load(load)
                    body = bench.push(name, "%s-%d" % (kind, n), options.share if kind == "planted" else 0, "comment %d" % i)
                    rows.append(report(kind, name, load, body, bench.noise(body["id"]) if body else {}))
                    out.write(json.dumps(rows[-1]) + "\n")
        finally:
            bench.end()
    sys.exit(1 if total(rows) else 0)


if __name__ == "__main__":
    main()
