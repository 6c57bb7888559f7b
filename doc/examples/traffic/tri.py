"""tri.py - attention or BigBird in Triton: one kernel, which reads the listed blocks of keys only. Usage: tri.py attention|bigbird"""
import sys

import flopwatch
import torch
import triton
import triton.language as tl

import masks


@triton.jit
def attention(q, k, v, out, blocks, kept, scale, TOKENS: tl.constexpr, DIM: tl.constexpr, BLOCK: tl.constexpr):
    row, head = tl.program_id(0), tl.program_id(1)
    base = head.to(tl.int64) * TOKENS * DIM
    token, column = tl.arange(0, BLOCK), tl.arange(0, DIM)
    at = base + (row * BLOCK + token)[:, None] * DIM + column[None, :]
    query = tl.load(q + at)
    top = tl.full([BLOCK], -float("inf"), tl.float32)
    total = tl.zeros([BLOCK], tl.float32)
    sums = tl.zeros([BLOCK, DIM], tl.float32)
    for i in range(kept):
        block = tl.load(blocks + row * kept + i)
        of = base + (block * BLOCK + token)[:, None] * DIM + column[None, :]
        scores = tl.dot(query, tl.trans(tl.load(k + of))) * scale
        higher = tl.maximum(top, tl.max(scores, 1))
        weights = tl.exp2(scores - higher[:, None])
        shrink = tl.exp2(top - higher)
        sums = sums * shrink[:, None] + tl.dot(weights.to(tl.bfloat16), tl.load(v + of))
        total = total * shrink + tl.sum(weights, 1)
        top = higher
    tl.store(out + at, (sums / total[:, None]).to(tl.bfloat16))


def run(q, k, v, out, blocks):
    n = masks.TOKENS // masks.BLOCK
    attention[(n, masks.BATCH * masks.HEADS)](q, k, v, out, blocks, blocks.shape[1], 1.4426950408889634 / masks.DIM**0.5,
        TOKENS=masks.TOKENS, DIM=masks.DIM, BLOCK=masks.BLOCK, num_warps=4)


q, k, v = masks.inputs()
out = torch.empty_like(q)
n = masks.TOKENS // masks.BLOCK
is_sparse = sys.argv[1] == "bigbird"
blocks = masks.bigbird_blocks() if is_sparse else torch.arange(n, dtype=torch.int32).repeat(n, 1)
mask = masks.bigbird_mask(blocks).cuda() if is_sparse else None
blocks = blocks.cuda()
for call in flopwatch.cell("%s/triton" % sys.argv[1]):
    with call:
        run(q, k, v, out, blocks)
torch.cuda.synchronize()
masks.check(out[:, :1], masks.reference(q[:, :1], k[:, :1], v[:, :1], mask))
