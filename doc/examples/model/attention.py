"""attention.py - the attention of the model. A branch replaces this function, for example by one that skips masked blocks."""
import torch


def attend(q, k, v, mask):
    """Of tensors (batch, heads, tokens, head dim); `mask` (tokens, tokens) is True where a query uses a key."""
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
