"""Y = X W^T in bf16 in Triton, for linear_peers.py: a block a tile, tiles in order of eight rows down, then the next column."""
import torch
import triton
import triton.language as tl

TILES = [triton.Config({"M": 128, "N": 256, "K": 64}, num_stages=3, num_warps=8),
         triton.Config({"M": 128, "N": 128, "K": 64}, num_stages=4, num_warps=4),
         triton.Config({"M": 256, "N": 128, "K": 64}, num_stages=3, num_warps=8)]
ROWS_DOWN = 8


@triton.autotune(TILES, key=["m", "n", "k"])
@triton.jit
def _product(x, w, y, m, n, k, DOWN: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    tile, down, across = tl.program_id(0), tl.cdiv(m, M), tl.cdiv(n, N)
    band = tile // (DOWN * across)
    height = min(down - band * DOWN, DOWN)
    within = tile % (DOWN * across)
    rows = (band * DOWN + within % height) * M + tl.arange(0, M)
    columns = (within // height) * N + tl.arange(0, N)
    depth = tl.arange(0, K)
    from_x = x + rows[:, None] % m * k + depth[None, :]
    from_w = w + columns[None, :] % n * k + depth[:, None]
    total = tl.zeros((M, N), dtype=tl.float32)
    for step in range(0, k, K):
        inside = depth < k - step
        total = tl.dot(tl.load(from_x, mask=inside[None, :], other=0.0), tl.load(from_w, mask=inside[:, None], other=0.0), total)
        from_x += K
        from_w += K
    tl.store(y + rows[:, None] * n + columns[None, :], total.to(tl.bfloat16), mask=(rows[:, None] < m) & (columns[None, :] < n))


def matmul(x, w):
    """x (m, k), w (n, k), both packed; the result is new."""
    (m, k), n = x.shape, w.shape[0]
    y = torch.empty((m, n), dtype=x.dtype, device=x.device)
    _product[lambda meta: (triton.cdiv(m, meta["M"]) * triton.cdiv(n, meta["N"]),)](x, w, y, m, n, k, DOWN=ROWS_DOWN)
    return y
