"""python -m pytest benchmarks/test_speed.py"""
import pytest

import fused_ops
from fused_ops import tensors

SIZES = [2**k * (256 if tensors.on_gpu else 1) for k in range(12, 18)]


def synchronized(function):
    def run(*arguments):
        function(*arguments)
        tensors.synchronize()

    return run


@pytest.mark.parametrize("n", SIZES)
def test_bias_gelu(benchmark, n):
    benchmark(synchronized(fused_ops.bias_gelu), tensors.random(n), tensors.random(1024))


@pytest.mark.parametrize("n", SIZES)
def test_residual_scale(benchmark, n):
    benchmark(synchronized(fused_ops.residual_scale), tensors.random(n), tensors.random(n), 0.5)


@pytest.mark.parametrize("n", SIZES)
def test_gated_silu(benchmark, n):
    benchmark(synchronized(fused_ops.gated_silu), tensors.random(n), tensors.random(n))


@pytest.mark.parametrize("n", SIZES)
def test_implicit_step(benchmark, n):
    benchmark(synchronized(fused_ops.implicit_step), tensors.random(n))
