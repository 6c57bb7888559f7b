"""triton_script.py - times with triton.testing, and knows nothing of the kit."""
# cells: add/n=256 reduce/n=128/provider=ours reduce/n=128/provider=theirs reduce/n=64/provider=ours reduce/n=64/provider=theirs triton_script triton_script#2
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


ms = triton.testing.do_bench(lambda: triton.searched(), warmup=5, rep=10, return_mode="median")
ms += triton.testing.do_bench(lambda: None)
print("took %.4f ms" % (ms + add(256)))
reduce.run(print_data=True)
