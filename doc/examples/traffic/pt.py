"""pt.py - attention or BigBird in PyTorch. Usage: pt.py attention|bigbird"""
import sys

import flopwatch
import torch

import masks

q, k, v = masks.inputs()
mask = masks.bigbird_mask(masks.bigbird_blocks()).cuda() if sys.argv[1] == "bigbird" else None
masks.check(torch.nn.functional.scaled_dot_product_attention(q[:, :1], k[:, :1], v[:, :1], attn_mask=mask),
    masks.reference(q[:, :1], k[:, :1], v[:, :1], mask))
for call in flopwatch.cell("%s/pytorch" % sys.argv[1]):
    with call:
        torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
torch.cuda.synchronize()
