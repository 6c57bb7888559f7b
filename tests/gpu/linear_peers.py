#!/usr/bin/env python3
"""Our linear kernels against cuBLASLt's and PyTorch's, in one process: same inputs, interleaved calls, quantisation of activations on the clock.

    tests/gpu/linear_peers.py [MODULE.so] [--shapes NAME,..] [--jobs NAME,..] [--rounds N] [--out FILE.jsonl]

Contenders are called A B C, C B A, ... on one stream, the L2 cache flushed before every call; data is random and normal, times are CUDA
events. A ratio is the median over rounds of the quotient of two times of the same round. The W of a call is quantised before. A peer that is
missing or fails is one line. Prints each contender, then one table against the best peer; writes JSON lines.
"""
import argparse
import json
import os
import statistics
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fw_linear as linear  # noqa: E402
import fw_module as fw  # noqa: E402

SHAPES = {"cube8192": (8192, 8192, 8192), "wqkv": (16384, 8192, 1280), "w0": (16384, 1024, 8192), "w13": (16384, 8192, 7168),
          "w2": (16384, 3584, 8192)}  # (m, k, n); the last four are a llama's at m = 16384
# job -> (direction, recipe, required, target), over the best peer; weight-only over our own bf16
JOBS = {"bf16": ("forward", "baseline", 0.92, 1.0), "dgrad": ("dgrad", "baseline", 0.85, 1.0), "wgrad": ("wgrad", "baseline", 0.85, 1.0),
        "fp8-tensor": ("forward", "float8dq-tensor", 0.85, 1.0), "fp8-row": ("forward", "float8dq-row", 0.85, 1.0),
        "int8wo": ("forward", "int8wo", 0.75, 0.9), "float8wo": ("forward", "float8wo", 0.75, 0.9)}
SCRUB_BYTES = 256 << 20
E4M3_MAX = 448.0


class Contender:
    def __init__(self, name, call, result):
        self.name, self.call, self.result, self.ms = name, call, result, []


def quantised(torch, x, by_row):
    """e4m3 and its fp32 scale: (rows, 1), or one of all."""
    amax = x.abs().amax(dim=1, keepdim=True) if by_row else x.abs().amax()
    scale = amax.float() / E4M3_MAX
    return (x.float() / scale).clamp(-E4M3_MAX, E4M3_MAX).to(torch.float8_e4m3fn), scale


def torch_calls(torch, job, x, w, dy):
    """name -> function of no arguments, that gives the result."""
    direction, recipe, _, _ = JOBS[job]
    if direction == "dgrad":
        return {"torch": lambda: torch.mm(dy, w)}
    if direction == "wgrad":
        return {"torch": lambda: torch.mm(dy.t(), x)}
    if recipe == "baseline":
        def by_triton():
            from triton_matmul import matmul
            return matmul(x, w)
        return {"torch": lambda: torch.nn.functional.linear(x, w), "triton": by_triton}
    if recipe == "int8wo":
        scale = w.float().abs().amax(dim=1) / 127.5
        q = (w.float() / scale[:, None]).round().clamp(-128, 127).to(torch.int8)

        def weight_only(x):
            return torch.nn.functional.linear(x, q.to(x.dtype)) * scale.to(x.dtype)
        compiled = torch.compile(weight_only, dynamic=False)
        return {"torch": lambda: weight_only(x), "compiled": lambda: compiled(x)}
    if recipe == "float8wo":
        q, scale = quantised(torch, w, True)

        def widened(x):
            return torch.nn.functional.linear(x, (q.to(torch.float32) * scale).to(x.dtype))
        compiled = torch.compile(widened, dynamic=False)
        return {"torch": lambda: widened(x), "compiled": lambda: compiled(x)}
    by_row = recipe == "float8dq-row"
    wq, w_scale = quantised(torch, w, by_row)
    w_scale = w_scale.t() if by_row else w_scale

    def scaled(x):
        xq, x_scale = quantised(torch, x, by_row)
        return torch._scaled_mm(xq, wq.t(), scale_a=x_scale, scale_b=w_scale, out_dtype=torch.bfloat16, use_fast_accum=True)
    compiled = torch.compile(scaled, dynamic=False)
    return {"torch": lambda: scaled(x), "compiled": lambda: compiled(x)}


def module_contender(torch, module, provider, job, shape, tensors, stream):
    direction, recipe, _, _ = JOBS[job]
    m, k, n = SHAPES[shape]
    problem = linear.LinearProblem(m, k, n, linear.DIRECTIONS[direction], recipe)
    why = problem.why_not(module.providers[provider])
    if why:
        raise fw.ModuleError(fw.UNSUPPORTED, why)
    plan = linear.LinearPlan(module.providers[provider], problem, torch.cuda.current_device())
    rows, columns = {"forward": (m, n), "dgrad": (m, k), "wgrad": (n, k)}[direction]
    out = torch.empty((rows, columns), dtype=torch.bfloat16, device="cuda")
    room = [torch.empty(max(256, size), dtype=torch.uint8, device="cuda") for size in (plan.workspace_bytes, plan.persist_bytes)]
    x, w, dy = tensors
    plan.bind({linear.X: x.data_ptr(), linear.W: w.data_ptr(), linear.DY: dy.data_ptr(), linear.Y: out.data_ptr(),
               linear.DX: out.data_ptr(), linear.DW: out.data_ptr()}, room[0].data_ptr(), room[1].data_ptr())
    plan.enqueue(stream)
    every_call = fw.ALL_PHASES & ~linear.QUANTISE_WEIGHT
    contender = Contender(provider, lambda: plan.enqueue(stream, every_call), lambda: out)
    contender.held = (plan, room, tensors)
    return contender


def make_contenders(torch, module, job, shape, tensors, stream):
    makers = {p: lambda p=p: module_contender(torch, module, p, job, shape, tensors, stream) for p in ("hopper", "cublaslt")}
    for name, function in torch_calls(torch, job, *tensors).items():
        def make(name=name, function=function):
            last = []

            def call():
                last[:] = [function()]
            return Contender(name, call, lambda: last[0])
        makers[name] = make
    found = []
    for name, make in makers.items():
        try:
            contender = make()
            contender.call()
            torch.cuda.synchronize()
            far = (contender.result().float() - found[0].result().float()).norm() / found[0].result().float().norm() if found else 0
            if not float(far) < 0.02:
                print(f"  {shape} {job} {name}: is {float(far):.2g} away from ours: not the same result", flush=True)
            found.append(contender)
        except Exception as error:  # noqa: BLE001 - the failure of one peer is one line
            print(f"  {shape} {job} {name}: {(str(error).strip() or type(error).__name__).splitlines()[0][:200]}", flush=True)
            torch.cuda.synchronize()
    return found


def measure(torch, found, rounds, scrub):
    for i in range(rounds + 2):
        marks = []
        torch.cuda._sleep(2_000_000)  # the host runs ahead, so that no call waits for a run
        for contender in found if i % 2 == 0 else found[::-1]:
            start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            scrub.fill_(i)
            start.record()
            contender.call()
            stop.record()
            marks.append((contender, start, stop))
        torch.cuda.synchronize()
        if i >= 2:
            for contender, start, stop in marks:
                contender.ms.append(start.elapsed_time(stop))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("module", nargs="?", default="kernels/build/cuda/liblinear.so")
    parser.add_argument("--shapes", default=",".join(SHAPES))
    parser.add_argument("--jobs", default=",".join(JOBS))
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--out")
    options = parser.parse_args()
    import torch
    module, stream = fw.Module(options.module), torch.cuda.Stream()
    out = open(options.out, "w") if options.out else None
    lines, bf16_ms = [], {}
    print(f"{torch.cuda.get_device_name(0)}, torch {torch.__version__}, CUDA {torch.version.cuda}", flush=True)
    scrub = torch.empty(SCRUB_BYTES, dtype=torch.uint8, device="cuda")
    for shape in options.shapes.split(","):
        m, k, n = SHAPES[shape]
        generator = torch.Generator("cuda").manual_seed(7)
        x, w, dy = (torch.randn(size, device="cuda", generator=generator).to(torch.bfloat16) for size in ((m, k), (n, k), (m, n)))
        w *= k ** -0.5
        torch.cuda.synchronize()  # the call runs on another stream
        for job in options.jobs.split(","):
            with torch.cuda.stream(stream), torch.no_grad():
                found = make_contenders(torch, module, job, shape, (x, w, dy), stream.cuda_stream)
                measure(torch, found, options.rounds, scrub)
            at = {c.name: c for c in found}
            for c in found:
                mid = statistics.median(c.ms)
                print(f"  {shape:10} {job:10} {c.name:10} {mid:9.4f} ms {2e-9 * m * k * n / mid:7.1f} TFLOP/s", flush=True)
                if out:
                    out.write(json.dumps({"shape": shape, "m": m, "k": k, "n": n, "job": job, "contender": c.name,
                                          "device": torch.cuda.get_device_name(0), "torch": torch.__version__, "ms": c.ms}) + "\n")
            ours, peers = at.get("hopper"), [c for c in found if c.name != "hopper"]
            if not ours or not peers:
                continue
            _, _, required, goal = JOBS[job]
            if job == "bf16":
                bf16_ms[shape] = statistics.median(ours.ms)
            best = min(peers, key=lambda c: statistics.median(c.ms))
            ratio, name = statistics.median(b / a for a, b in zip(ours.ms, best.ms)), best.name
            over = f"  {bf16_ms[shape] / statistics.median(ours.ms):.3f} of our bf16" if job.endswith("wo") and shape in bf16_ms else ""
            lines.append(f"{shape:10} {job:10} {ratio:7.3f} of {name:10} required {required:.2f}, hoped for {goal:.2f}{over}")
            del found, at, ours, peers, best
    print("\n".join(lines))


if __name__ == "__main__":
    main()
