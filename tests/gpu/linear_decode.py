#!/usr/bin/env python3
"""Few rows of X: our kernels' share of the memory's rate, in every recipe, compared with PyTorch's, in one process.

    tests/gpu/linear_decode.py [MODULE.so] [--rows M,..] [--n N] [--k K] [--rounds N] [--out FILE.jsonl]

A contender's calls are one CUDA graph, each with another set of weights, so that no cache serves them; graphs are run A B C, C B A, ... A
share is that of W's bytes alone: of 4.26 TB/s in 4 bits, otherwise of what a copy of 1 GiB reaches in this run. Prints each contender and
the shares with what is required; writes JSON lines.
"""
import argparse
import json
import os
import statistics
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fw_linear as linear  # noqa: E402
import fw_module as fw  # noqa: E402

SETS, CALLS, GROUP = 8, 24, 128
FOUR_BITS_OF = 4.26e12  # bytes per second
JOBS = {"int4wo-128": (4, 0.60, 0.80), "int8wo": (8, 0.65, 0.85), "float8wo": (8, 0.65, 0.85), "baseline": (16, None, None),
        "float8dq-row": (8, None, None), "float8dq-tensor": (8, None, None)}


def four_bits(torch, w):
    """Rounded as in fw_linear.h: PyTorch's packed form, and bf16 scales and zeros, (k / group, n, 2)."""
    groups = w.float().reshape(w.shape[0], -1, GROUP)
    low, high = groups.amin(-1, keepdim=True), groups.amax(-1, keepdim=True)
    scale = ((high - low) / 15).clamp(min=1e-6)
    q = ((groups - low) / scale).round().clamp(0, 15).to(torch.uint8).reshape(w.shape)
    packed = torch._convert_weight_to_int4pack(q[:, ::2] << 4 | q[:, 1::2], 8)
    both = torch.stack((scale, low + 8 * scale), -1).squeeze(2).to(torch.bfloat16)
    return packed, both.transpose(0, 1).contiguous()


def eight_bit_floats(torch, v, by_row):
    """As fw_linear.h rounds: e4m3, and scales in fp32, one a row or one of all."""
    amax = v.abs().amax(1, keepdim=True) if by_row else v.abs().amax()
    scale = amax.float() / 448
    return (v.float() / scale).to(torch.float8_e4m3fn), scale


def scaled_calls(torch, x, weights, by_row):
    """Both operands in e4m3: X is rounded in every call."""
    made = [eight_bit_floats(torch, w, by_row) for w in weights]

    def scaled(x, q, scale):
        values, scales = eight_bit_floats(torch, x, by_row)
        return torch._scaled_mm(values, q.t(), scales, scale.t() if by_row else scale, out_dtype=x.dtype, use_fast_accum=True)
    compiled = torch.compile(scaled, dynamic=False)
    return {"torch": lambda i: scaled(x, *made[i]), "compiled": lambda i: compiled(x, *made[i])}


def torch_calls(torch, job, x, weights):
    """name -> function of a set's number."""
    functional = torch.nn.functional
    if job == "baseline":
        return {"torch": lambda i: functional.linear(x, weights[i])}
    if job == "int4wo-128":
        made = [four_bits(torch, w) for w in weights]
        return {"torch": lambda i: torch._weight_int4pack_mm(x, made[i][0], GROUP, made[i][1])}
    if job.startswith("float8dq"):
        return scaled_calls(torch, x, weights, job == "float8dq-row")
    made = []
    for w in weights:
        scale = w.float().abs().amax(1) / (127.5 if job == "int8wo" else 448)
        q = w.float() / scale[:, None]
        made.append((q.round().clamp(-128, 127).to(torch.int8) if job == "int8wo" else q.to(torch.float8_e4m3fn), scale.to(x.dtype)))

    def weight_only(x, q, scale):
        return functional.linear(x, q.to(x.dtype)) * scale
    compiled = torch.compile(weight_only, dynamic=False)
    return {"torch": lambda i: weight_only(x, *made[i]), "compiled": lambda i: compiled(x, *made[i])}


def module_call(torch, module, job, x, weights, stream):
    (m, k), n = x.shape, weights[0].shape[0]
    problem = linear.LinearProblem(m, k, n, linear.FORWARD, job)
    name = next(p for p in module.providers if not problem.why_not(module.providers[p]))
    held = []
    for w in weights:
        plan = linear.LinearPlan(module.providers[name], problem, torch.cuda.current_device())
        out = torch.empty((m, n), dtype=torch.bfloat16, device="cuda")
        room = [torch.empty(max(256, size), dtype=torch.uint8, device="cuda") for size in (plan.workspace_bytes, plan.persist_bytes)]
        plan.bind({linear.X: x.data_ptr(), linear.W: w.data_ptr(), linear.Y: out.data_ptr()}, room[0].data_ptr(), room[1].data_ptr())
        plan.enqueue(stream)
        held.append((plan, out, room))

    def call(i):
        held[i][0].enqueue(torch.cuda.current_stream().cuda_stream, fw.ALL_PHASES & ~linear.QUANTISE_WEIGHT)
        return held[i][1]
    return name, call


class Contender:
    def __init__(self, torch, name, call, stream):
        self.name, self.us, self.call = name, [], call
        for i in range(SETS):
            self.result = call(i)
        torch.cuda.synchronize()
        self.result = self.result.float().clone()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph, stream=stream):
            self.kept = [call(i % SETS) for i in range(CALLS)]


def contenders(torch, module, job, x, weights, stream):
    calls = dict([module_call(torch, module, job, x, weights, stream.cuda_stream)])
    calls.update(torch_calls(torch, job, x, weights))
    found = []
    for name, call in calls.items():
        try:
            one = Contender(torch, name, call, stream)
            far = float((one.result - found[0].result).norm() / found[0].result.norm()) if found else 0
            if not far < 0.02:
                print(f"  {job} {name}: is {far:.2g} away from ours: not the same result", flush=True)
            found.append(one)
        except Exception as error:  # noqa: BLE001 - the failure of one peer is one line
            print(f"  {job} {name}: {(str(error).strip() or type(error).__name__).splitlines()[0][:200]}", flush=True)
            torch.cuda.synchronize()
    return found


def timed_us(torch, run, stream):
    start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record(stream)
    run()
    stop.record(stream)
    stop.synchronize()
    return start.elapsed_time(stop) * 1e3


def copy_rate(torch, stream):
    a, b = (torch.empty(1 << 30, dtype=torch.uint8, device="cuda").fill_(i) for i in (1, 2))
    return 2 * (1 << 30) / min(timed_us(torch, lambda: b.copy_(a), stream) for _ in range(20)) * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("module", nargs="?", default="kernels/build/cuda/liblinear.so")
    parser.add_argument("--rows", default="1,16")
    parser.add_argument("--n", type=int, default=8192)
    parser.add_argument("--k", type=int, default=8192)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--out")
    options = parser.parse_args()
    import torch
    module, stream = fw.Module(options.module), torch.cuda.Stream()
    out = open(options.out, "w") if options.out else None
    generator = torch.Generator("cuda").manual_seed(7)
    weights = [torch.randn((options.n, options.k), device="cuda", generator=generator).to(torch.bfloat16) * options.k ** -0.5
               for _ in range(SETS)]
    lines = []
    with torch.cuda.stream(stream), torch.no_grad():
        copy = copy_rate(torch, stream)
        print(f"{torch.cuda.get_device_name(0)}, torch {torch.__version__}, CUDA {torch.version.cuda}; a copy {copy * 1e-12:.3f} TB/s", flush=True)
        for rows in map(int, options.rows.split(",")):
            x = torch.randn((rows, options.k), device="cuda", generator=generator).to(torch.bfloat16)
            for job, (bits, required, goal) in JOBS.items():
                torch.cuda.synchronize()
                found = contenders(torch, module, job, x, weights, stream)
                for i in range(options.rounds + 2):
                    for c in found if i % 2 == 0 else found[::-1]:
                        us = timed_us(torch, c.graph.replay, stream) / CALLS
                        if i >= 2:
                            c.us.append(us)
                for c in found:
                    us = statistics.median(c.us)
                    rate = options.n * options.k * bits / 8 / us * 1e6
                    share = rate / (FOUR_BITS_OF if bits == 4 else copy)
                    print(f"  m {rows:3} {job:10} {c.name:10} {us:8.2f} us {rate * 1e-12:6.3f} TB/s, share {share:.3f}", flush=True)
                    if c is found[0] and required:
                        lines.append(f"m {rows:3} {job:10} {share:.3f}, required {required:.2f}, hoped for {goal:.2f}")
                    if out:
                        out.write(json.dumps({"m": rows, "n": options.n, "k": options.k, "job": job, "contender": c.name, "copy": copy,
                                              "device": torch.cuda.get_device_name(0), "torch": torch.__version__, "us": c.us}) + "\n")
                del found
    print("\n".join(lines))


if __name__ == "__main__":
    main()
