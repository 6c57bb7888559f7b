"""kernels_script.py - a cell that launches two kernels, one of them with an autotuner."""
# cells: product
import time

import flopwatch
import triton


@triton.autotune([triton.Config({"BLOCK": 128}, num_warps=8), triton.Config({"BLOCK": 64}, num_warps=4, maxnreg=96)], key=["n"])
@triton.jit
def product(n, BLOCK):
    time.sleep(n * 1e-6)


@triton.jit
def scale(n):
    pass


for call in flopwatch.cell("product"):
    with call:
        product[(1,)](300)
        scale[(1,)](300)
        scale[(1,)](300)
