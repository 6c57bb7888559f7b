"""As much of Triton as its benchmarks need, for tests on machines without it."""
from . import runtime, testing
from .runtime.autotuner import Config, autotune
from .runtime.jit import jit


def searched():
    """A kernel whose first call searches for a configuration with do_bench, as its autotuner does."""
    if not searched.done:
        searched.done = True
        testing.do_bench(lambda: None, quantiles=(0.5,))


searched.done = False
