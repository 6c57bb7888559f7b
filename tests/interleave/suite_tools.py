"""suite_tools.py - the part of suite_script.py that public suites of Triton kernels have in common: it calls back into the script."""
import dataclasses

import triton


@dataclasses.dataclass
class Input:
    x: int
    kernel_provider: str
    x_name: str = "T"
    mode: str = None
    extra_benchmark_config: dict = None


def run_benchmarks(bench, kernel_name, metric_name, x_label, providers, modes, x_values, extra, overwrite=False):
    for x in x_values:
        for mode in modes:
            for provider in providers:
                bench(Input(x=x, kernel_provider=provider, mode=mode, extra_benchmark_config=dict(extra, unused=None)))


def run_speed_benchmark(fn, mode, tensors, rep=10):
    return triton.testing.do_bench(fn, grad_to_none=tensors, rep=rep, quantiles=[0.5, 0.2, 0.8])
