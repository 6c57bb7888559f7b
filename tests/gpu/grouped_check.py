#!/usr/bin/env python3
"""The grouped products of a module on this GPU against fp64, and beside PyTorch's grouped_mm.

    grouped_check.py MODULE.so [--small]    --small: only problems for compute-sanitizer, and no times

Needs PyTorch. Prints a line for each problem and direction: the largest error in units of what rounding to bf16 permits, and TFLOP/s of both
(median of 20 calls, caches overwritten before each). Exit status 1: a result is wrong, or memory behind it was written.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fw_grouped as grouped
import fw_module as fw
import torch

GUARD = 1 << 16  # elements behind a result, which no kernel may touch
POISON = -32123.0
SMALL = [([0, 5, 130, 0, 0, 1, 64, 17, 0], 72, 136), ([300, 0, 3], 520, 264), ([1], 8, 8), ([i % 3 for i in range(300)], 8, 16)]
LARGE = [([64] * 128, 2048, 1408), ([16] * 64, 4096, 1536), ([512] * 16, 4096, 4096), ([4096, 0, 1, 900, 31, 2048, 700, 416], 4096, 4096),
         ([2048] * 8, 4096, 14336)]


def median_ms(call, scrub):
    times = []
    for _ in range(20):
        scrub.add_(1)
        first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        first.record()
        call()
        last.record()
        last.synchronize()
        times.append(first.elapsed_time(last))
    return sorted(times)[10]


def check(provider, sizes, k, n, direction, times):
    """Whether the result of the problem in a direction is right."""
    groups, rows = len(sizes), sum(sizes)
    generator = torch.Generator("cuda").manual_seed(groups + k)
    x, dy, w = (torch.randn(*shape, device="cuda", generator=generator).bfloat16() for shape in ((rows, k), (rows, n), (groups, n, k)))
    ends = torch.tensor(sizes).cumsum(0)
    offsets = torch.cat([torch.zeros(1, dtype=torch.int64), ends]).to(torch.int32).cuda()
    of = [slice(int(end) - size, int(end)) for end, size in zip(ends, sizes)]
    ends = ends.to(torch.int32).cuda()
    shape, slot, inputs, depth, want, peer = {
        "forward": ((rows, n), grouped.Y, {grouped.X: x, grouped.W: w}, k,
                    lambda g, s: x[s].double() @ w[g].double().T, lambda: torch._grouped_mm(x, w.transpose(1, 2), offs=ends)),
        "dgrad": ((rows, k), grouped.DX, {grouped.DY: dy, grouped.W: w}, n,
                  lambda g, s: dy[s].double() @ w[g].double(), lambda: torch._grouped_mm(dy, w, offs=ends)),
        "wgrad": ((groups, n, k), grouped.DW, {grouped.DY: dy, grouped.X: x}, max(sizes),
                  lambda g, s: dy[s].double().T @ x[s].double(), lambda: torch._grouped_mm(dy.T, x, offs=ends)),
    }[direction]
    count = shape[0] * shape[1] * (shape[2] if len(shape) > 2 else 1)
    out = torch.full((count + GUARD,), POISON, dtype=torch.bfloat16, device="cuda")
    plan = grouped.GroupedPlan(provider, grouped.GroupedProblem(groups, rows, k, n, grouped.DIRECTIONS[direction]))
    workspace = torch.empty(plan.workspace_bytes + 256, dtype=torch.uint8, device="cuda")
    addresses = {s: t.data_ptr() for s, t in (inputs | {grouped.OFFSETS: offsets, slot: out}).items()}
    plan.bind(addresses, (workspace.data_ptr() + 255) // 256 * 256)
    stream = torch.cuda.current_stream().cuda_stream
    plan.enqueue(stream)
    torch.cuda.synchronize()
    got, worst = out[:count].view(shape), 0.0
    for g, s in enumerate(of):
        exact, part = want(g, s), (got[g] if direction == "wgrad" else got[s]).double()
        if exact.numel():
            error = (part - exact).abs() / (exact.abs() / 256 + 2.0 ** -26 * (depth + 1) ** 1.5)  # tensor cores cut sums off
            worst = max(worst, float(error.nan_to_num(1e9).max()))
    behind = bool((out[count:] == out[count]).all()) and float(out[count]) == float(torch.tensor(POISON).bfloat16())
    speeds = ""
    if times:
        flops, scrub = 2.0 * rows * n * k, torch.zeros(1 << 26, device="cuda")
        try:
            other = "%.0f" % (flops / median_ms(peer, scrub) * 1e-9)
        except RuntimeError as error:
            other = "no (%s)" % str(error).split("\n")[0][:60]
        speeds = ", %.0f TFLOP/s, grouped_mm %s" % (flops / median_ms(lambda: plan.enqueue(stream), scrub) * 1e-9, other)
    right = worst <= 1 and behind
    print("%s %d groups, %d rows, k %d, n %d, %s, %s: error %.3f%s%s" % ("ok    " if right else "WRONG ", groups, rows, k, n, direction, plan.config,
        worst, "" if behind else ", memory behind the result was written", speeds), flush=True)
    return right


def main():
    small = "--small" in sys.argv
    print("%s, PyTorch %s" % (torch.cuda.get_device_name(), torch.__version__))
    provider = fw.Module(sys.argv[1]).providers["mma"]
    results = [check(provider, *problem, direction, not small) for problem in (SMALL if small else LARGE) for direction in grouped.DIRECTIONS]
    print("%d of %d right" % (sum(results), len(results)))
    sys.exit(0 if all(results) else 1)


main()
