"""masks.py - the problem of all systems: shapes, inputs, BigBird's blocks, and fp32 references."""
import torch

BATCH, HEADS, TOKENS, DIM, BLOCK = 1, 16, 4096, 128, 64


def inputs():
    torch.manual_seed(0)
    return [torch.randn(BATCH, HEADS, TOKENS, DIM, device="cuda", dtype=torch.bfloat16) for _ in range(3)]


def bigbird_blocks(n_random=3):
    """Blocks of keys of each block of queries: the first and the last one, a window of three, and random ones. Shape: [n, kept]."""
    n = TOKENS // BLOCK
    generator = torch.Generator().manual_seed(0)
    rows = []
    for row in range(n):
        window = [min(max(row + d, 0), n - 1) for d in (-1, 0, 1)]
        kept = set(window + [0, n - 1])
        for block in torch.randperm(n, generator=generator).tolist():
            if len(kept) == 5 + n_random:
                break
            kept.add(block)
        rows.append(sorted(kept))
    return torch.tensor(rows, dtype=torch.int32)


def bigbird_mask(blocks):
    """The same as a mask of tokens. Shape: [TOKENS, TOKENS]."""
    n = TOKENS // BLOCK
    kept = torch.zeros(n, n, dtype=torch.bool)
    kept[torch.arange(n)[:, None], blocks.long()] = True
    return kept.repeat_interleave(BLOCK, 0).repeat_interleave(BLOCK, 1)


def reference(q, k, v, mask=None):
    scores = q.float() @ k.float().transpose(-1, -2) / DIM**0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.softmax(scores, -1) @ v.float()


def check(got, wanted):
    torch.testing.assert_close(got.float(), wanted, rtol=2e-2, atol=2e-2)
