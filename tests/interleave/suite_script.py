"""suite_script.py - the way of public suites of Triton kernels: do_bench is called by helpers, with closures, far below the arguments."""
# cells: bench_speed/metric=speed/x=1024/mode=forward/provider=liger/rep=10/kernel_provider=liger/x_name=T/M=2048/dtype=bf16/kernel_name=norm/metric_name=speed bench_speed/metric=speed/x=1024/mode=forward/provider=torch/rep=10/kernel_provider=torch/x_name=T/M=2048/dtype=bf16/kernel_name=norm/metric_name=speed bench_speed/metric=speed/x=1024/mode=full/provider=liger/rep=10/kernel_provider=liger/x_name=T/M=2048/dtype=bf16/kernel_name=norm/metric_name=speed bench_speed/metric=speed/x=1024/mode=full/provider=torch/rep=10/kernel_provider=torch/x_name=T/M=2048/dtype=bf16/kernel_name=norm/metric_name=speed bench_speed/metric=speed_again/x=1024/mode=forward/provider=liger/rep=10/kernel_provider=liger/x_name=T/M=2048/dtype=bf16/kernel_name=norm bench_speed/metric=speed_again/x=1024/mode=forward/provider=torch/rep=10/kernel_provider=torch/x_name=T/M=2048/dtype=bf16/kernel_name=norm bench_speed/metric=speed_again/x=1024/mode=full/provider=liger/rep=10/kernel_provider=liger/x_name=T/M=2048/dtype=bf16/kernel_name=norm bench_speed/metric=speed_again/x=1024/mode=full/provider=torch/rep=10/kernel_provider=torch/x_name=T/M=2048/dtype=bf16/kernel_name=norm sweep sweep/n=2 sweep/n=2/how=b sweep/n=2/how=b#2 timed/size=8 timed/size=8/text=a wide/one=000000000000000000000000000000000000/two=111111111111111111111111111111111111/three=222222222222222222222222222222222222~74e24680 wide/one=000000000000000000000000000000000000/two=111111111111111111111111111111111111/three=222222222222222222222222222222222222~b05adcff
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


def wide(one, two, three, four, five):
    triton.testing.do_bench(lambda: None)


def sweep():
    for n in 1, 2:
        triton.testing.do_bench(lambda: None)
    for n, how in (2, "b"), (2, "b"):
        ms = triton.testing.do_bench(lambda: None)
    return ms


def main(options):
    for metric in "speed", "speed again":  # what the outermost function is called with makes the names too long
        run_benchmarks(bench_speed, "norm", metric, "sequence length of all inputs, in tokens", ["liger", "torch"], ["forward", "full"], [1024],
            {"M": 2048, "dtype": "bf16"})
    timed({"size": 8, "path": "/tmp/checkout", "long": "x" * 60, "_hidden": 1})
    for text in "a":
        timed({"size": 8})
    wide(*("%d" % n * 36 for n in range(5)))
    wide(*("%d" % n * 36 for n in (0, 1, 2, 3, 5)))  # the part that does not fit differs
    sweep()


if __name__ == "__main__":
    main(argparse.Namespace(seed=7))
    print("took 0.1 ms")
