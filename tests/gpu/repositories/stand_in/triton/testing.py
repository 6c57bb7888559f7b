"""Signatures as in Triton 3."""


def do_bench(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean"):
    raise AssertionError("the kit times the calls")


class Benchmark:
    def __init__(self, x_names, x_vals, line_arg, line_vals, line_names, plot_name, args, xlabel="", ylabel="", styles=None):
        self.x_names, self.x_vals, self.line_arg, self.line_vals = x_names, x_vals, line_arg, line_vals
        self.line_names, self.plot_name, self.args = line_names, plot_name, args


class Mark:
    def __init__(self, fn, benchmarks):
        self.fn, self.benchmarks = fn, benchmarks

    def run(self, show_plots=False, print_data=False, save_path="", **words):
        for bench in self.benchmarks if isinstance(self.benchmarks, list) else [self.benchmarks]:
            for x in bench.x_vals:
                for y in bench.line_vals:
                    self.fn(**{name: x for name in bench.x_names}, **{bench.line_arg: y}, **bench.args, **words)


def perf_report(benchmarks):
    return lambda fn: Mark(fn, benchmarks)
