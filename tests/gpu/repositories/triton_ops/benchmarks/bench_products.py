"""Matrix products and cross entropy, in ms: python benchmarks/bench_products.py"""
import torch
import triton
import triton.testing

from triton_ops import cross_entropy, matmul

INNER = 2560


def product_report(dtype):
    return triton.testing.Benchmark(
        x_names=["M", "N"],
        x_vals=[1024, 2048, 3072, 4096],
        line_arg="provider",
        line_vals=["triton", "cublas"],
        line_names=["Triton", "cuBLAS"],
        ylabel="ms",
        plot_name="matmul-" + str(dtype).replace("torch.", ""),
        args={"dtype": dtype},
    )


@triton.testing.perf_report([product_report(dtype) for dtype in (torch.float16, torch.bfloat16)])
def bench_matmul(M, N, provider, dtype):
    a = torch.randn(M, INNER, device="cuda", dtype=dtype)
    b = torch.randn(INNER, N, device="cuda", dtype=dtype)
    if provider == "cublas":
        return triton.testing.do_bench(lambda: torch.matmul(a, b))
    torch.testing.assert_close(matmul(a, b), torch.matmul(a, b), rtol=2e-2, atol=2e-1)
    return triton.testing.do_bench(lambda: matmul(a, b))


@triton.testing.perf_report(
    triton.testing.Benchmark(
        x_names=["vocabulary"],
        x_vals=[8192, 16384, 32768, 65536],
        line_arg="provider",
        line_vals=["triton", "torch"],
        line_names=["Triton", "PyTorch"],
        ylabel="ms",
        plot_name="cross_entropy",
        args={},
    ))
def bench_cross_entropy(vocabulary, provider):
    logits = torch.randn(2048, vocabulary, device="cuda", dtype=torch.bfloat16)
    target = torch.randint(vocabulary, (2048,), device="cuda")
    if provider == "triton":
        return triton.testing.do_bench(lambda: cross_entropy(logits, target))
    return triton.testing.do_bench(lambda: torch.nn.functional.cross_entropy(logits, target, reduction="none"))


if __name__ == "__main__":
    bench_matmul.run(print_data=True)
    bench_cross_entropy.run(print_data=True)
