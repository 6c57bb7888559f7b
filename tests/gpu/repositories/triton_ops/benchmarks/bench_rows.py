"""Row-wise operators against PyTorch, in GB/s: python benchmarks/bench_rows.py"""
import torch
import triton
import triton.testing

from triton_ops import layer_norm, rms_norm, softmax


def report(name):
    return triton.testing.Benchmark(
        x_names=["columns"],
        x_vals=[1024, 2048, 4096, 8192],
        line_arg="provider",
        line_vals=["triton", "torch"],
        line_names=["Triton", "PyTorch"],
        ylabel="GB/s",
        plot_name=name,
        args={"rows": 4096},
    )


def gigabytes(x, run):
    ms, low, high = triton.testing.do_bench(run, quantiles=[0.5, 0.2, 0.8])
    moved = 2e-6 * x.numel() * x.element_size()
    return moved / ms, moved / high, moved / low


@triton.testing.perf_report(report("softmax"))
def bench_softmax(rows, columns, provider):
    x = torch.randn(rows, columns, device="cuda", dtype=torch.bfloat16)
    if provider == "triton":
        torch.testing.assert_close(softmax(x), torch.softmax(x, dim=-1))
        return gigabytes(x, lambda: softmax(x))
    return gigabytes(x, lambda: torch.softmax(x, dim=-1))


@triton.testing.perf_report(report("layer_norm"))
def bench_layer_norm(rows, columns, provider):
    x = torch.randn(rows, columns, device="cuda", dtype=torch.bfloat16)
    weight = torch.randn(columns, device="cuda", dtype=torch.bfloat16)
    bias = torch.randn(columns, device="cuda", dtype=torch.bfloat16)
    if provider == "triton":
        return gigabytes(x, lambda: layer_norm(x, weight, bias))
    return gigabytes(x, lambda: torch.nn.functional.layer_norm(x, (columns,), weight, bias))


@triton.testing.perf_report(report("rms_norm"))
def bench_rms_norm(rows, columns, provider):
    x = torch.randn(rows, columns, device="cuda", dtype=torch.bfloat16)
    weight = torch.randn(columns, device="cuda", dtype=torch.bfloat16)
    if provider == "triton":
        return gigabytes(x, lambda: rms_norm(x, weight))
    return gigabytes(x, lambda: torch.nn.functional.rms_norm(x, (columns,), weight))


if __name__ == "__main__":
    for bench in (bench_softmax, bench_layer_norm, bench_rms_norm):
        bench.run(print_data=True)
