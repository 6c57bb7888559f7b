"""triton_script.py - times with triton.testing, without any code for the kit."""
# cells: add/n=256 bwd/n=64/provider=ours fwd/n=64/provider=ours reduce/n=128/provider=ours reduce/n=128/provider=theirs reduce/n=64/provider=ours reduce/n=64/provider=theirs triton_script triton_script#2
import time

import triton


def add(n, how=None):
    return triton.testing.do_bench(lambda: time.sleep(n * 1e-6))


@triton.testing.perf_report(
    triton.testing.Benchmark(x_names=["n"], x_vals=[64, 128], line_arg="provider", line_vals=["ours", "theirs"], line_names=["Ours", "Theirs"],
        styles=None, ylabel="ms", plot_name="reduce", args={}))
def reduce(n, provider):
    median, low, high = triton.testing.do_bench(lambda: time.sleep(n * 1e-6), quantiles=[0.5, 0.2, 0.8])
    assert low <= median <= high
    return median


def mode(name):
    return triton.testing.Benchmark(x_names=["n"], x_vals=[64], line_arg="provider", line_vals=["ours"], line_names=["Ours"], plot_name=name,
        args={"mode": name, "x": [1]})


@triton.testing.perf_report([mode("fwd"), mode("bwd")])
def attend(n, provider, mode, x):
    return triton.testing.do_bench(lambda: time.sleep(n * (2e-6 if mode == "bwd" else 1e-6)))


ms = triton.testing.do_bench(lambda: triton.searched(), warmup=5, rep=10, return_mode="median")
ms += triton.testing.do_bench(lambda: None)
print("took %.4f ms" % (ms + add(256)))
reduce.run(print_data=True)
attend.run()
