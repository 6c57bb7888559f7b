"""prime.py - host-bound calls in the kit's way, each plain and primed, for tests/gpu/prime.sh. usage: prime.py OUT [profile]

Writes a JSON line per cell and way to OUT: times, the host's time, late calls. With `profile` primed calls are also made while CUPTI
records them: `spans_us`.
"""
import contextlib
import io
import json
import sys

import flopwatch
import torch
import triton
import triton.language as tl

COLUMNS = 4096


@triton.jit
def _forward(x, weight, bias, y, means, scales, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < n
    v = tl.load(x + row * n + at, mask, 0.0).to(tl.float32)
    mean = tl.sum(v) / n
    off = tl.where(mask, v - mean, 0.0)
    scale = tl.rsqrt(tl.sum(off * off) / n + 1e-6)
    tl.store(means + row, mean)
    tl.store(scales + row, scale)
    tl.store(y + row * n + at, off * scale * tl.load(weight + at, mask) + tl.load(bias + at, mask), mask)


@triton.jit
def _backward(x, weight, dy, dx, dw, db, means, scales, n, n_rows, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    mask = at < n
    w = tl.load(weight + at, mask, 0.0).to(tl.float32)
    sum_w = tl.zeros((BLOCK,), tl.float32)
    sum_b = tl.zeros((BLOCK,), tl.float32)
    part = tl.program_id(0)
    for row in range(part * ROWS, min(part * ROWS + ROWS, n_rows)):
        g = tl.load(dy + row * n + at, mask, 0.0).to(tl.float32)
        scale = tl.load(scales + row)
        v = (tl.load(x + row * n + at, mask, 0.0).to(tl.float32) - tl.load(means + row)) * scale
        v = tl.where(mask, v, 0.0)
        wg = w * g
        tl.store(dx + row * n + at, (wg - (v * tl.sum(v * wg) + tl.sum(wg)) / n) * scale, mask)
        sum_w += g * v
        sum_b += g
    tl.store(dw + part * n + at, sum_w, mask)
    tl.store(db + part * n + at, sum_b, mask)


class LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias):
        rows, n = x.shape
        y = torch.empty_like(x)
        means, scales = (torch.empty(rows, dtype=torch.float32, device=x.device) for _ in range(2))
        _forward[(rows,)](x, weight, bias, y, means, scales, n, BLOCK=triton.next_power_of_2(n), num_warps=8)
        ctx.save_for_backward(x, weight, means, scales)
        return y

    @staticmethod
    def backward(ctx, dy):
        x, weight, means, scales = ctx.saved_tensors
        rows, n = x.shape
        parts = torch.cuda.get_device_properties(x.device).multi_processor_count
        dx = torch.empty_like(x)
        dw, db = (torch.empty(parts, n, dtype=torch.float32, device=x.device) for _ in range(2))
        _backward[(parts,)](x, weight, dy, dx, dw, db, means, scales, n, rows, ROWS=triton.cdiv(rows, parts), BLOCK=triton.next_power_of_2(n), num_warps=8)
        return dx, dw.sum(0).to(weight.dtype), db.sum(0).to(weight.dtype)


def cells():
    """Names and calls. Each list of inputs is made for one cell."""

    def inputs(rows):
        x, dy = (torch.randn(rows, COLUMNS, device="cuda", dtype=torch.bfloat16) for _ in range(2))
        weight, bias = torch.ones(COLUMNS, device="cuda", dtype=torch.bfloat16), torch.zeros(COLUMNS, device="cuda", dtype=torch.bfloat16)
        return [each.requires_grad_() for each in (x, weight, bias)], dy

    def torch_norm(x, weight, bias):
        return torch.nn.functional.layer_norm(x, (COLUMNS,), weight, bias, 1e-6)

    def of(norm, rows, mode):
        leaves, dy = inputs(rows)
        if mode == "forward":
            return lambda: norm(*leaves)
        if mode == "backward":
            y = norm(*leaves)
            return lambda: torch.autograd.grad(y, leaves, dy, retain_graph=True)
        return lambda: torch.autograd.grad(norm(*leaves), leaves, dy)

    # both implementations agree
    leaves, dy = inputs(256)
    for got, wanted in zip(torch.autograd.grad(LayerNorm.apply(*leaves), leaves, dy), torch.autograd.grad(torch_norm(*leaves), leaves, dy)):
        torch.testing.assert_close(got.float(), wanted.float(), rtol=5e-2, atol=5e-1)
    for rows in 1024, 4096, 16384:
        for mode in "forward", "backward", "full":
            yield "triton/%s/%d" % (mode, rows), of(LayerNorm.apply, rows, mode)
    for mode in "forward", "full":
        yield "torch/%s/4096" % mode, of(torch_norm, 4096, mode)

    x = inputs(4096)[0][0].detach()
    one, two, side = torch.empty_like(x), torch.empty_like(x), torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    torch.add(x, x, out=one)
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        for _ in range(20):
            torch.add(x, x, out=one)
    yield "graph/4096", graph.replay

    def streams():
        main = torch.cuda.current_stream()
        side.wait_stream(main)
        torch.add(x, x, out=one)
        with torch.cuda.stream(side):
            torch.mul(x, x, out=two)
        main.wait_stream(side)

    yield "streams/4096", streams
    yield "waits/4096", lambda: torch.add(x, x, out=one)[0, 0].item()


class Plain(flopwatch._Spin):
    """Calls that are never primed."""

    def __init__(self):
        super().__init__()
        self.end("")

    def is_on(self):
        return False


def spans_us(profile):
    """What CUPTI recorded of each primed call: from the start of its first kernel until the end of its last one."""
    events = sorted((e for e in profile.events() if str(e.device_type).endswith("CUDA")), key=lambda e: e.time_range.start)
    calls, call = [], None
    for e in events:
        if "flopwatch_stamp" in e.name:  # one ahead of each timed call, one after it
            call = [] if call is None else None
            if call is not None:
                calls.append(call)
        elif call is not None:
            call.append(e.time_range)
    return [max(t.end for t in call) - min(t.start for t in call) for call in calls if call]


def main(path, *more):
    ways = [("plain", Plain), ("primed", flopwatch._Spin)] + [("recorded", flopwatch._Spin)] * bool(more)
    with open(path, "w") as out:
        for name, call in cells():
            for way, spin in ways:
                flopwatch._Spin, text = spin, io.StringIO()
                recorded = contextlib.nullcontext()
                if way == "recorded":
                    recorded = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA])
                with contextlib.redirect_stdout(text), recorded as profile:
                    for timed in flopwatch.cell("%s/%s" % (way, name)):
                        with timed:
                            call()
                    torch.cuda.synchronize()
                row = json.loads(text.getvalue())
                row.update(cell=name, way=way)
                if way == "recorded":
                    row["spans_us"] = spans_us(profile)
                print(json.dumps(row), file=out, flush=True)


main(*sys.argv[1:])
