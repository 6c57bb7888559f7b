"""triton_bench.py - times its kernels as Triton's tutorials do, without any code for flopwatch."""
import triton
import triton.testing
from kernels import inputs, matmul, softmax
from stages import MATMUL, SOFTMAX


@triton.testing.perf_report(
    triton.testing.Benchmark(x_names=["n"], x_vals=[4096, 8192], line_arg="kernel", line_vals=["softmax", "matmul"],
                             line_names=["Softmax", "Matmul"], ylabel="ms", plot_name="triton", args={}))
def bench(n, kernel):
    a, b, c = inputs(n)
    if kernel == "softmax":
        return triton.testing.do_bench(lambda: softmax(a, c, SOFTMAX))
    return triton.testing.do_bench(lambda: matmul(a, b, c, MATMUL))


bench.run(print_data=True)
