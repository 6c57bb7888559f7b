"""suite_script.py - the way of public suites of Triton kernels: do_bench is called by helpers, with closures, far below the arguments."""
# cells: bench_speed/x=1024/kernel_provider=liger/x_name=T/mode=forward/M=2048/dtype=bf16/rep=10 bench_speed/x=1024/kernel_provider=liger/x_name=T/mode=full/M=2048/dtype=bf16/rep=10 bench_speed/x=1024/kernel_provider=torch/x_name=T/mode=forward/M=2048/dtype=bf16/rep=10 bench_speed/x=1024/kernel_provider=torch/x_name=T/mode=full/M=2048/dtype=bf16/rep=10 sweep sweep/n=2 sweep/n=2/how=b sweep/n=2/how=b#2 timed/size=8 timed/size=8/text=a
import argparse
import time

import triton
from suite_tools import run_benchmarks, run_speed_benchmark


def bench_speed(input):
    def forward():
        time.sleep(input.x * 1e-8)

    def full():
        forward()
        forward()

    run_speed_benchmark(forward if input.mode == "forward" else full, input.mode, [])


def timed(options):
    triton.testing.do_bench(lambda: None)


def sweep():
    for n in 1, 2:
        triton.testing.do_bench(lambda: None)
    for n, how in (2, "b"), (2, "b"):
        ms = triton.testing.do_bench(lambda: None)
    return ms


def main(options):
    run_benchmarks(bench_speed, "norm", ["liger", "torch"], ["forward", "full"], [1024], {"M": 2048, "dtype": "bf16"})
    timed({"size": 8, "path": "/tmp/checkout", "long": "x" * 60, "_hidden": 1})
    for text in "a":
        timed({"size": 8})
    sweep()


if __name__ == "__main__":
    main(argparse.Namespace(seed=7))
    print("took 0.1 ms")
