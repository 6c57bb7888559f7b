"""Product of two matrices of 16-bit floating-point numbers."""
import torch
import triton
import triton.language as tl


@triton.jit
def _matmul(c, a, b, M, N, K, a_row, a_column, b_row, b_column, c_row, c_column, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
            BLOCK_K: tl.constexpr):
    row = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    column = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    a_tile = a + (row % M)[:, None] * a_row + inner[None, :] * a_column
    b_tile = b + inner[:, None] * b_row + (column % N)[None, :] * b_column
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(0, tl.cdiv(K, BLOCK_K)):
        rest = K - step * BLOCK_K
        x = tl.load(a_tile, mask=inner[None, :] < rest, other=0.0)
        y = tl.load(b_tile, mask=inner[:, None] < rest, other=0.0)
        total = tl.dot(x, y, total)
        a_tile += BLOCK_K * a_column
        b_tile += BLOCK_K * b_row
    c_tile = c + row[:, None] * c_row + column[None, :] * c_column
    tl.store(c_tile, total.to(c.dtype.element_ty), mask=(row[:, None] < M) & (column[None, :] < N))


def matmul(a, b):
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), device=a.device, dtype=a.dtype)
    _matmul[(triton.cdiv(M, 128), triton.cdiv(N, 128))](c, a, b, M, N, K, *a.stride(), *b.stride(), *c.stride(), BLOCK_M=128, BLOCK_N=128,
                                                       BLOCK_K=64, num_warps=8, num_stages=3)
    return c
