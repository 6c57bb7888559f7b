"""Do runs that one process forks agree more than runs in fresh processes? For each cell of a CPU benchmark: the scatter between N fresh
and N forked processes (standard deviation of the logarithm of their fastest calls), and the difference between both kinds.

usage: python3 tests/bench/bench_fork.py [N] [TURNS]     (12 processes of each kind, 120 calls a cell)

Fresh and forked runs alternate, so that a drift of the machine affects both; the fastest call is the one that other load disturbs least. A ratio of variances below 1 means that forked runs agree
more; the probability is that of such a ratio, or a smaller one, if both kinds scatter equally (a permutation of the processes).
"""
import math
import os
import random
import socket
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KIT = os.path.join(ROOT, "daemon", "kit")
PERMUTATIONS = 2000


def benchmark():
    """Cells whose time may depend on the hash seed, on addresses of objects and code, or on physical pages."""
    import flopwatch

    names = {"name-%d" % i: i for i in range(2000)}
    keys = list(names)
    objects = [[i] for i in range(20000)]
    data = bytearray(2 << 20)

    def lookup():
        for key in keys:
            names[key]

    def follow():
        total = 0
        for item in objects:
            total += item[0]

    def loop():
        x = 0
        for i in range(10000):
            x = (x + i * i) & 0xFFFF

    for key, work in (("loop", loop), ("lookup", lookup), ("follow", follow), ("copy", lambda: bytes(data)), ("sort", lambda: sorted(keys))):
        for call in flopwatch.cell(key):
            with call:
                work()


class Run:
    """The worker's end of one run."""

    def __init__(self, link, turns):
        self.link, self.turns, self.times, self.given = link, turns, {}, {}

    def take(self, line):
        """Answer a line. Returns True at the run's end."""
        words = line.split()
        if words[0] == "flopwatch":
            self.send("welcome 1 pairs")
        elif words[0] == "turn":
            self.key = words[1]
            self.given[self.key] = self.given.get(self.key, 0) + 1
            self.send("go 1 1" if self.given[self.key] <= self.turns else "next")
        elif words[0] == "done" and float(words[1]) > 0 and self.given[self.key] > 3:
            self.times.setdefault(self.key, []).append(float(words[1]))
        return words[0] in ("ended", "bye")

    def send(self, line):
        self.link.write(line + "\n")
        self.link.flush()


def start(forks):
    ours, theirs = socket.socketpair()
    env = dict(os.environ, PYTHONPATH=KIT, FLOPWATCH_INTERLEAVE=str(theirs.fileno()), **({"FLOPWATCH_FORK": "1"} if forks else {}))
    child = subprocess.Popen([sys.executable, __file__, "--benchmark"], env=env, pass_fds=[theirs.fileno()])
    theirs.close()
    return child, ours.makefile("rw", newline="\n")


def measure(link, turns, last):
    run = Run(link, turns)
    for line in link:
        if run.take(line) and line.startswith(last):
            break
    return {key: math.log(min(times)) for key, times in run.times.items()}


def share_below(a, b, ratio):
    """Share of the permutations whose ratio of variances is at most `ratio`."""
    both = [x - statistics.fmean(a) for x in a] + [x - statistics.fmean(b) for x in b]
    draw = random.Random(1)
    below = 0
    for _ in range(PERMUTATIONS):
        draw.shuffle(both)
        below += statistics.variance(both[len(a):]) / statistics.variance(both[: len(a)]) <= ratio
    return below / PERMUTATIONS


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    turns = int(sys.argv[2]) if len(sys.argv) > 2 else 120
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # all processes on one core
    parent, parent_link = start(True)
    first = parent_link.readline().strip()
    if first != "parent":
        sys.exit("the benchmark does not fork: " + first)
    fresh, forked = [], []
    for i in range(2 * n):
        if (i + i // 2) % 2:
            parent_link.write("fork\n")
            parent_link.flush()
            forked.append(measure(parent_link, turns, "ended"))
        else:
            child, link = start(False)
            fresh.append(measure(link, turns, "bye"))
            child.wait()
    parent_link.close()
    parent.kill()
    parent.wait()
    print("%-8s %10s %10s %8s %12s %12s" % ("cell", "fresh %", "forked %", "ratio", "probability", "forked-fresh"))
    for key in fresh[0]:
        a, b = [run[key] for run in fresh], [run[key] for run in forked]
        ratio = statistics.variance(b) / statistics.variance(a)
        print("%-8s %10.3f %10.3f %8.2f %12.3f %+10.2f %%" % (key, 100 * statistics.stdev(a), 100 * statistics.stdev(b), ratio,
            share_below(a, b, ratio), 100 * (statistics.fmean(b) - statistics.fmean(a))))


if __name__ == "__main__":
    if sys.argv[1:] == ["--benchmark"]:
        benchmark()
    else:
        main()
