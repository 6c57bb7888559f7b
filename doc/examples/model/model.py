"""model.py - a transformer whose attention is attention.py, from its input to its gradients, at several densities of the mask."""
import flopwatch
import torch
from torch import nn

from attention import attend

LAYERS, BATCH, TOKENS, WIDTH, HEADS, BLOCK = 4, 2, 1024, 512, 8, 64
DENSITIES = 0.1, 0.3, 0.5, 0.7, 0.9, 1.0
device = "cuda" if torch.cuda.is_available() else "cpu"
dtype = torch.float16 if device == "cuda" else torch.float32


def draw_mask(density):
    """Whole blocks of tokens, as a kernel can skip them. Each query uses its own block, so that no row is empty."""
    n = TOKENS // BLOCK
    generator = torch.Generator().manual_seed(42)
    blocks = torch.rand(n, n, generator=generator) < density
    blocks.fill_diagonal_(True)
    return blocks.repeat_interleave(BLOCK, 0).repeat_interleave(BLOCK, 1).to(device)


class Layer(nn.Module):
    def __init__(self, attention):
        super().__init__()
        self.attention = attention
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2))
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.feed = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x, mask):
        q, k, v = (part.view(BATCH, TOKENS, HEADS, -1).transpose(1, 2) for part in self.qkv(self.norms[0](x)).chunk(3, -1))
        x = x + self.out(self.attention(q, k, v, mask).transpose(1, 2).reshape(x.shape))
        return x + self.feed(self.norms[1](x))


class Model(nn.Module):
    def __init__(self, attention):
        super().__init__()
        torch.manual_seed(42)  # two models with other attention have equal weights
        self.layers = nn.ModuleList(Layer(attention) for _ in range(LAYERS))

    def forward(self, x, mask):
        for layer in self.layers:
            x = layer(x, mask)
        return x


def step(model, x, mask):
    """Forward and backward; returns the output and the gradient of the input."""
    x = x.detach().requires_grad_()
    model.zero_grad(set_to_none=True)
    y = model(x, mask)
    y.float().square().sum().backward()
    return y, x.grad


model = Model(attend).to(device, dtype)
x = torch.randn(BATCH, TOKENS, WIDTH, generator=torch.Generator().manual_seed(42)).to(device, dtype)
library = Model(nn.functional.scaled_dot_product_attention).to(device, dtype)
for density in DENSITIES:
    mask = draw_mask(density)
    for actual, expected in zip(step(model, x, mask), step(library, x, mask)):
        torch.testing.assert_close(actual, expected, rtol=2e-2, atol=2e-2 * expected.abs().max().item())
    for call in flopwatch.cell("model/forward/density=%g" % density):
        with call, torch.no_grad():
            model(x, mask)
    for call in flopwatch.cell("model/step/density=%g" % density):
        with call:
            step(model, x, mask)
