"""module.py - a block of a transformer in PyTorch, forward and backward, with the kit. `extra.py` in its folder has the additional work."""
import flopwatch
import torch
from extra import EXTRA

torch.manual_seed(0)
BATCH, TOKENS, WIDTH, HEADS = 8, 2048, 2048, 16


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(WIDTH)
        self.project = torch.nn.Linear(WIDTH, 3 * WIDTH)
        self.up = torch.nn.Linear(WIDTH, 4 * WIDTH)
        self.down = torch.nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = self.project(self.norm(x)).view(BATCH, TOKENS, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        x = x + torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(BATCH, TOKENS, WIDTH)
        y = x + self.down(torch.nn.functional.gelu(self.up(x)))
        for _ in range(EXTRA):
            y = torch.nn.functional.gelu(self.up(y))[..., :WIDTH]
        return y


block = Block().to("cuda", torch.bfloat16)
x = torch.randn(BATCH, TOKENS, WIDTH, device="cuda", dtype=torch.bfloat16)
flops = 2 * BATCH * TOKENS * WIDTH * WIDTH * (3 + 4 + 4) + 2 * BATCH * TOKENS * TOKENS * WIDTH
y = None


def finite():
    assert torch.isfinite(y).all(), "the output is not finite"


for call in flopwatch.cell("block/forward", flops=flops, check=finite, output=lambda: y):
    with call, torch.no_grad():
        y = block(x)

x.requires_grad_(True)
for call in flopwatch.cell("block/forward+backward", flops=3 * flops):
    block.zero_grad(set_to_none=True)
    x.grad = None
    with call:
        y = block(x)
        y.backward(x.detach())
