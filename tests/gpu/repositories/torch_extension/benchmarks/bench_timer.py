"""The same operators by PyTorch's timer: python benchmarks/bench_timer.py"""
import torch
import torch.utils.benchmark

import fused_ops
from fused_ops import tensors

SIZES = [2**k for k in range(20, 26)]


def measure(name, statement, **values):
    timer = torch.utils.benchmark.Timer(stmt=statement, globals=dict(values, fused_ops=fused_ops), label=name, sub_label=str(values["n"]))
    print(name, values["n"], timer.blocked_autorange())


if __name__ == "__main__":
    for n in SIZES:
        x, y, bias = tensors.random(n), tensors.random(n), tensors.random(1024)
        measure("bias_gelu", "fused_ops.bias_gelu(x, bias)", n=n, x=x, bias=bias)
        measure("residual_scale", "fused_ops.residual_scale(x, y, 0.5)", n=n, x=x, y=y)
        measure("gated_silu", "fused_ops.gated_silu(x, y)", n=n, x=x, y=y)
        measure("implicit_step", "fused_ops.implicit_step(x)", n=n, x=x)
