"""Two cells of fixed work in PyTorch, with the kit. The file `share` in its folder has the share of additional work, e.g. 0.02."""
import flopwatch
import torch

share = float(open("share").read())
torch.manual_seed(0)
batch, rows = int(200 * (1 + share)), int(100000 * (1 + share))
a, b = (torch.randn(batch, 1024, 1024, device="cuda", dtype=torch.bfloat16) for _ in range(2))
x = torch.randn(rows, 1024, device="cuda", dtype=torch.bfloat16)
with torch.no_grad():
    for call in flopwatch.cell("products", flops=2 * batch * 1024**3):
        with call:
            torch.bmm(a, b)
    for call in flopwatch.cell("softmax", bytes=4 * rows * 1024):
        with call:
            torch.softmax(x, dim=1)
