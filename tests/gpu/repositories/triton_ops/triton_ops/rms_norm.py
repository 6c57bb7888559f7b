"""Normalisation by the root mean square of the last dimension."""
import torch
import triton
import triton.language as tl

from triton_ops.launch import row_block


@triton.jit
def _rms_norm_forward(out, x, weight, stride, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    mask = column < columns
    value = tl.load(x + row * stride + column, mask=mask, other=0.0).to(tl.float32)
    scale = 1.0 / tl.sqrt(tl.sum(value * value, axis=0) / columns + eps)
    w = tl.load(weight + column, mask=mask, other=0.0).to(tl.float32)
    tl.store(out + row * stride + column, value * scale * w, mask=mask)


def rms_norm(x, weight, eps=1e-6):
    rows, columns = x.shape
    out = torch.empty_like(x)
    block, warps = row_block(columns)
    _rms_norm_forward[(rows,)](out, x, weight, x.stride(0), columns, eps, BLOCK=block, num_warps=warps)
    return out
