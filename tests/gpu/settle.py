#!/usr/bin/env python3
"""How the clock of a GPU settles under a load that comes from rest: one call after the other, cold, for some seconds.

    tests/gpu/settle.py MODULE.so [--seconds S] [--calls FILE] [--cells 32768:backward:full ...]

Prints, for each cell, how much longer than the median of all the calls of each fifth of a second took, in percent, then what the driver
says of power, clock and temperature once in a second. --calls: begin and time of every call, a JSON line a cell.
"""
import argparse
import json
import os
import statistics
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fw_module as fw  # noqa: E402
from power import Power  # noqa: E402

HEADS, KV_HEADS, HEADDIM = 64, 8, 128
DIRECTIONS, MASKS = {"forward": fw.FORWARD, "backward": fw.BACKWARD}, {"full": fw.FULL, "causal": fw.CAUSAL}
CELLS = ["32768:backward:full", "32768:forward:full", "16384:backward:causal", "8192:backward:full", "4096:backward:full"]
BIN_MS, AHEAD, SCRUB_BYTES, REST_S, READ_S = 200, 4, 120 << 20, 2, 0.015


class Load:
    """One cell, bound to separate memory."""

    def __init__(self, torch, module, stream, seqlen, direction, mask):
        def filled(heads):
            return torch.randn((seqlen, heads, HEADDIM), device="cuda", generator=generator).to(torch.bfloat16)
        generator = torch.Generator("cuda").manual_seed(1)
        ends = torch.tensor([0, seqlen], dtype=torch.int32, device="cuda")
        self.slots = {fw.Q: filled(HEADS), fw.K: filled(KV_HEADS), fw.V: filled(KV_HEADS), fw.CU_Q: ends, fw.CU_K: ends,
                      fw.LSE: torch.empty((HEADS, seqlen), dtype=torch.float32, device="cuda")}
        self.slots[fw.O] = torch.empty_like(self.slots[fw.Q])
        self.plan = self.planned(torch, module, seqlen, fw.FORWARD, mask)
        if direction == fw.BACKWARD:  # reads forward's results
            self.plan.enqueue(stream.cuda_stream)
            stream.synchronize()
            self.slots.update({fw.DO: filled(HEADS), fw.DQ: torch.empty_like(self.slots[fw.Q]),
                               fw.DK: torch.empty_like(self.slots[fw.K]), fw.DV: torch.empty_like(self.slots[fw.V])})
            self.plan = self.planned(torch, module, seqlen, direction, mask)

    def planned(self, torch, module, seqlen, direction, mask):
        problem = fw.AttentionProblem(direction, mask, seqlen, seqlen, HEADS, KV_HEADS, HEADDIM)
        name = next(n for n in module.providers if not problem.why_not(module.providers[n]))
        plan = fw.Plan(module.providers[name], problem, 0)
        self.memory = [torch.zeros(max(256, n), dtype=torch.uint8, device="cuda") for n in (plan.workspace_bytes, plan.persist_bytes)]
        plan.bind({slot: tensor.data_ptr() for slot, tensor in self.slots.items()}, *(m.data_ptr() for m in self.memory))
        return plan


def timed_calls(torch, load, stream, scrub, seconds):
    """[(begin, time)] of every call, in ms."""
    def event():
        e = torch.cuda.Event(enable_timing=True)
        e.record(stream)
        return e
    began, marks, end = event(), [], time.time() + seconds
    while time.time() < end:
        scrub.fill_(len(marks) & 127)
        before = event()
        load.plan.enqueue(stream.cuda_stream)
        marks.append((before, event()))
        if len(marks) > AHEAD:
            marks[-1 - AHEAD][1].synchronize()
    stream.synchronize()
    return [(began.elapsed_time(a), a.elapsed_time(b)) for a, b in marks]


def read_until(power, stop, readings):
    while not stop.wait(READ_S):
        readings.append(power.read())


def say(cell, calls, readings):
    median, bins = statistics.median(ms for _, ms in calls), {}
    for begin, ms in calls:
        bins.setdefault(int(begin // BIN_MS), []).append(ms)
    print(f"{cell}: {len(calls)} calls, median {median:.5g} ms; each {BIN_MS} ms, percent from it:")
    print("  " + " ".join(f"{100 * (statistics.mean(ms) / median - 1):+.1f}" for _, ms in sorted(bins.items())))
    print("  " + ", ".join(f"{r['power_w']:.0f} W {r['sm_mhz']} MHz {r['temperature_c']} C" for r in readings[::round(1 / READ_S)] if r))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("module")
    parser.add_argument("--seconds", type=float, default=16)
    parser.add_argument("--calls")
    parser.add_argument("--cells", nargs="+", default=CELLS)
    o = parser.parse_args()
    import torch
    module, stream, power = fw.Module(o.module), torch.cuda.Stream(), Power()
    print(f"{torch.cuda.get_device_name(0)}, driver {power.driver()}")
    for cell in o.cells:
        seqlen, direction, mask = cell.split(":")
        with torch.cuda.stream(stream), torch.no_grad():
            load = Load(torch, module, stream, int(seqlen), DIRECTIONS[direction], MASKS[mask])
            scrub = torch.empty(SCRUB_BYTES, dtype=torch.uint8, device="cuda")
            time.sleep(REST_S)
            readings, stop = [], threading.Event()
            reader = threading.Thread(target=read_until, args=(power, stop, readings))
            reader.start()
            calls = timed_calls(torch, load, stream, scrub, o.seconds)
            stop.set()
            reader.join()
        say(cell, calls, readings)
        if o.calls:
            with open(o.calls, "a", encoding="utf-8") as out:
                begin_ms, ms = [round(b, 3) for b, _ in calls], [round(ms, 5) for _, ms in calls]
                out.write(json.dumps({"cell": cell, "begin_ms": begin_ms, "ms": ms}) + "\n")
        del load
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
