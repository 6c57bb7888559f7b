"""in_process.py - pairs of one process for the same two versions: both kernels interleaved, A B B A, L2 displaced before each call, one
warm call before each timed one. usage: in_process.py KERNEL A B, stages of each; prints JSON lines with the change of throughput in percent, for
both ways of timing, each without a pause between calls and with one as long as a turn: they lie points apart, because a card at its power limit
runs at another clock."""
import json
import math
import sys
import time

import flopwatch
import torch
from kernels import inputs, matmul, softmax

RUNS, PAIRS, TURN_S = 12, 60, 0.5e-3


class Events:
    """As most scripts do it: two events around the call, a large buffer written before it."""

    def __init__(self):
        self.scrub = torch.zeros(256 << 20, dtype=torch.uint8, device="cuda")
        self.begin, self.end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def timed(self, call):
        self.scrub.add_(1)
        self.begin.record()
        call()
        self.end.record()
        self.end.synchronize()
        return self.begin.elapsed_time(self.end), 0


class Kit:
    """As a program that takes turns: the device is held up until the call has been enqueued, and each call has its clock."""

    def __init__(self):
        self.clock = flopwatch._clock_for("cuda", None)

    def timed(self, call):
        self.clock.scrub()
        self.clock.hold()
        self.clock.start(0)
        call()
        self.clock.stop(0)
        ms, _, mhz = self.clock.finish(0)
        return ms, mhz


def trimmed(values):
    ordered = sorted(values)
    cut = len(ordered) // 4
    kept = ordered[cut : len(ordered) - cut]
    return sum(kept) / len(kept)


def median(values):
    return sorted(values)[len(values) // 2]


def pairs(sides, timer, pause_s):
    """Changes of the runs, in percent; all times of each side; all clocks."""
    found, ms, mhz = [], [[], []], []

    def call(k):
        sides[k]()
        one, clock = timer.timed(sides[k])
        if pause_s:
            time.sleep(pause_s)
        ms[k].append(one)
        mhz.append(clock)
        return one

    for k in (0, 1) * 15:
        call(k)
    ms[0].clear(), ms[1].clear(), mhz.clear()
    for _ in range(RUNS):
        logs = []
        for i in range(PAIRS):
            order = (0, 1) if i % 2 == 0 else (1, 0)
            one = dict((k, call(k)) for k in order)
            logs.append(math.log(one[1] / one[0]))
        found.append(100 * (math.exp(-trimmed(logs)) - 1))
    return found, ms, mhz


name, stages = sys.argv[1], [int(word) for word in sys.argv[2:4]]
for n in (4096, 8192):
    a, b, c = inputs(n)
    kernel = {"softmax": lambda s: softmax(a, c, s), "matmul": lambda s: matmul(a, b, c, s)}[name]
    both = [lambda s=s: kernel(s) for s in stages]
    for timer in (Kit(), Events()):
        for pause_s in (TURN_S, 0):
            found, ms, mhz = pairs(both, timer, pause_s)
            print(json.dumps({"cell": "triton/n=%d/kernel=%s" % (n, name), "stages": stages, "timer": type(timer).__name__.lower(), "pause_ms": 1e3 * pause_s,
                              "change_pct": round(sum(found) / len(found), 4), "ms": [median(m) for m in ms], "mhz": round(median(mhz)),
                              "runs": [round(x, 3) for x in found]}), flush=True)
