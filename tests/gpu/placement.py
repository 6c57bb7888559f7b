#!/usr/bin/env python3
"""Measure whether a call's time depends on the addresses of its memory: every workspace with every persistent memory, each allocated by itself.

    tests/gpu/placement.py [MODULE.so] [--recipe R] [--m M --k K --n N] [--places N] [--rounds N]

Calls are cold, as the daemon's are: weights are rounded anew, then what the caches hold is displaced by a memset of twice the L2's size.
Prints microseconds, medians: a row for each persistent memory, a column for each workspace; then how far rows and columns lie apart, and
the same for copies of X and of Y, the first two left as they are.
"""
import argparse
import os
import statistics
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fw_linear as linear  # noqa: E402
import fw_module as fw  # noqa: E402
from linear_decode import timed_us  # noqa: E402

L2_BYTES = 60 << 20


class Places:
    """`n` pieces of memory, each next to others of the largest possible size, so that their addresses differ as in several processes."""

    def __init__(self, torch, n, size):
        self.between, self.pieces = [], []
        for i in range(n):
            self.between.append(torch.empty((3 * i + 1) * 1234567, dtype=torch.uint8, device="cuda"))
            self.pieces.append(torch.zeros(max(256, size), dtype=torch.uint8, device="cuda"))

    def __iter__(self):
        return iter(self.pieces)


def cold_us(torch, plan, addresses, workspace, persist, stream, scrub, rounds):
    plan.bind(addresses, workspace.data_ptr(), persist.data_ptr())
    found = []
    for i in range(rounds + 2):
        plan.enqueue(stream.cuda_stream, linear.QUANTISE_WEIGHT)
        scrub.fill_(i)
        us = timed_us(torch, lambda: plan.enqueue(stream.cuda_stream, fw.ALL_PHASES & ~linear.QUANTISE_WEIGHT), stream)
        if i >= 2:
            found.append(us)
    return statistics.median(found)


def spread(values):
    return f"{min(values):.2f} to {max(values):.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("module", nargs="?", default="kernels/build/cuda/liblinear.so")
    parser.add_argument("--recipe", default="float8dq-row")
    for name, size in (("m", 16), ("k", 3584), ("n", 8192), ("places", 8), ("rounds", 20)):
        parser.add_argument(f"--{name}", type=int, default=size)
    o = parser.parse_args()
    import torch
    stream, generator = torch.cuda.Stream(), torch.Generator("cuda").manual_seed(7)
    problem, module = linear.LinearProblem(o.m, o.k, o.n, linear.FORWARD, o.recipe), fw.Module(o.module)
    name = next(p for p in module.providers if not problem.why_not(module.providers[p]))
    plan = linear.LinearPlan(module.providers[name], problem, torch.cuda.current_device())
    with torch.cuda.stream(stream), torch.no_grad():
        x = torch.randn((o.m, o.k), device="cuda", generator=generator).to(torch.bfloat16)
        w = torch.randn((o.n, o.k), device="cuda", generator=generator).to(torch.bfloat16) * o.k ** -0.5
        y = torch.empty((o.m, o.n), dtype=torch.bfloat16, device="cuda")
        scrub = torch.empty(2 * L2_BYTES, dtype=torch.uint8, device="cuda")
        workspaces, persistent = Places(torch, o.places, plan.workspace_bytes), Places(torch, o.places, plan.persist_bytes)

        def time_with(x, y, workspace, persist):
            addresses = {linear.X: x.data_ptr(), linear.W: w.data_ptr(), linear.Y: y.data_ptr()}
            return cold_us(torch, plan, addresses, workspace, persist, stream, scrub, o.rounds)
        print(f"{torch.cuda.get_device_name(0)}: {name}, {o.recipe}, m {o.m} k {o.k} n {o.n}; {plan.config}; workspace "
              f"{plan.workspace_bytes}, persistent {plan.persist_bytes} bytes")
        table = [[time_with(x, y, a, b) for a in workspaces] for b in persistent]
        for row in table:
            print("  " + " ".join(f"{us:7.2f}" for us in row))
        print("medians by persistent memory", spread([statistics.median(row) for row in table]), "us")
        print("medians by workspace", spread([statistics.median(column) for column in zip(*table)]), "us")
        first, second = next(iter(workspaces)), next(iter(persistent))
        xs = [piece[:x.nbytes].view(torch.bfloat16).view_as(x).copy_(x) for piece in Places(torch, o.places, x.nbytes)]
        ys = [piece[:y.nbytes].view(torch.bfloat16).view_as(y) for piece in Places(torch, o.places, y.nbytes)]
        print("by X", spread([time_with(one, y, first, second) for one in xs]), "us")
        print("by Y", spread([time_with(x, one, first, second) for one in ys]), "us")


if __name__ == "__main__":
    main()
