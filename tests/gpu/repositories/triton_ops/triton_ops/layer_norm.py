"""Layer normalisation over the last dimension."""
import torch
import triton
import triton.language as tl

from triton_ops.launch import row_block


@triton.jit
def _layer_norm_forward(out, x, weight, bias, stride, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    mask = column < columns
    value = tl.load(x + row * stride + column, mask=mask, other=0.0).to(tl.float32)
    centred = tl.where(mask, value - tl.sum(value, axis=0) / columns, 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(centred * centred, axis=0) / columns + eps)
    w = tl.load(weight + column, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(bias + column, mask=mask, other=0.0).to(tl.float32)
    tl.store(out + row * stride + column, centred * scale * w + b, mask=mask)


def layer_norm(x, weight, bias, eps=1e-5):
    rows, columns = x.shape
    out = torch.empty_like(x)
    block, warps = row_block(columns)
    _layer_norm_forward[(rows,)](out, x, weight, bias, x.stride(0), columns, eps, BLOCK=block, num_warps=warps)
    return out
