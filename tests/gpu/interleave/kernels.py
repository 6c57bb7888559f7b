"""kernels.py - a softmax and a matrix product in Triton; `stages.py` in its folder has the number of stages."""
import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(out, x, row, columns, WIDTH: tl.constexpr, num_stages: tl.constexpr):
    start = tl.program_id(0)
    step = tl.num_programs(0)
    offsets = tl.arange(0, WIDTH)
    for i in tl.range(start, row, step, num_stages=num_stages):
        values = tl.load(x + i * columns + offsets, mask=offsets < columns, other=-float("inf")).to(tl.float32)
        powers = tl.exp(values - tl.max(values, axis=0))
        tl.store(out + i * columns + offsets, (powers / tl.sum(powers, axis=0)).to(tl.bfloat16), mask=offsets < columns)


def softmax(x, out, stages):
    rows, columns = x.shape
    softmax_kernel[(1024,)](out, x, rows, columns, WIDTH=triton.next_power_of_2(columns), num_stages=stages, num_warps=8)


@triton.jit
def matmul_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    across = tl.cdiv(N, BN)
    in_group = GROUP * across
    first = pid // in_group * GROUP
    size = min(tl.cdiv(M, BM) - first, GROUP)
    row = first + pid % in_group % size
    column = pid % in_group // size
    rows = (row * BM + tl.arange(0, BM)) % M
    columns = (column * BN + tl.arange(0, BN)) % N
    deep = tl.arange(0, BK)
    pa = a + rows[:, None] * K + deep[None, :]
    pb = b + deep[:, None] * N + columns[None, :]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, tl.cdiv(K, BK)):
        total = tl.dot(tl.load(pa), tl.load(pb), total)
        pa += BK
        pb += BK * N
    tl.store(c + rows[:, None] * N + columns[None, :], total.to(tl.bfloat16))


def matmul(a, b, c, stages):
    M, K = a.shape
    N = b.shape[1]
    grid = (triton.cdiv(M, 128) * triton.cdiv(N, 128),)
    matmul_kernel[grid](a, b, c, M, N, K, BM=128, BN=128, BK=64, GROUP=8, num_stages=stages, num_warps=8)


def inputs(n):
    """Operands and a place for the result of either kernel."""
    torch.manual_seed(n)
    a = torch.randn(n, n, device="cuda", dtype=torch.bfloat16)
    return a, torch.randn_like(a), torch.empty_like(a)
