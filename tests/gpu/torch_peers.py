"""Attention as PyTorch offers it, for peers.py: cuDNN, FlashAttention-2, packed sequences, FlexAttention.

Every peer takes the tensors of a problem, (token, head, element) bf16, and returns its output in the same shape with the graph that
its gradients need. Views only: no peer pays for a copy that another one does not need. What a peer cannot do it says by raising.
"""
import inspect

import torch
import torch.nn.functional as functional

SLOW_TO_COMPILE = {"flex"}


def _batched(t):
    return t.unsqueeze(0).transpose(1, 2)  # (1, head, token, element)


def _unbatched(t):
    return t.transpose(1, 2).squeeze(0)


def _sdpa(backend, case, q, k, v):
    from torch.nn.attention import sdpa_kernel
    if case.lengths or case.kept is not None:
        raise NotImplementedError("one sequence and no block mask only")
    with sdpa_kernel([backend]):
        return _unbatched(functional.scaled_dot_product_attention(_batched(q), _batched(k), _batched(v), is_causal=case.causal,
                                                                  enable_gqa=case.nhq != case.nhk))


def cudnn(case, q, k, v):
    from torch.nn.attention import SDPBackend
    return _sdpa(SDPBackend.CUDNN_ATTENTION, case, q, k, v)


def flash(case, q, k, v):
    from torch.nn.attention import SDPBackend
    return _sdpa(SDPBackend.FLASH_ATTENTION, case, q, k, v)


def varlen(case, q, k, v):
    """torch.nn.attention.varlen; its way of saying causal differs between releases."""
    if case.kept is not None:
        raise NotImplementedError("no block masks")
    from torch.nn.attention.varlen import varlen_attn
    known = inspect.signature(varlen_attn).parameters
    options = {}
    if case.causal and "is_causal" in known:
        options["is_causal"] = True
    elif case.causal:
        options["window_size"] = (-1, 0)
    if case.nhq != case.nhk and "enable_gqa" in known:
        options["enable_gqa"] = True
    longest = max(case.lengths or [case.tokens])
    return varlen_attn(q, k, v, case.offsets(), case.offsets(), longest, longest, **options)


_compiled = None


def _flex_attention():
    """flex_attention, compiled once; a new shape or mask compiles again."""
    global _compiled
    if _compiled is None:
        import torch._dynamo
        import torch._functorch.config
        from torch.nn.attention.flex_attention import flex_attention
        torch._functorch.config.donated_buffer = False  # gradients are computed repeatedly from one graph
        for limit in ("recompile_limit", "cache_size_limit"):
            try:
                setattr(torch._dynamo.config, limit, 64)
            except Exception:  # a release that does not know this name
                pass
        _compiled = torch.compile(flex_attention, dynamic=False)
    return _compiled


def _flex_mask(case):
    from torch.nn.attention.flex_attention import BlockMask, create_block_mask
    if case.kept is None:
        document = torch.repeat_interleave(torch.arange(len(case.lengths or [1]), device=case.device),
                                           torch.tensor(case.lengths or [case.tokens], device=case.device))
        causal = case.causal

        def sees(b, h, i, j):
            same = document[i] == document[j]
            return same & (i >= j) if causal else same

        return create_block_mask(sees, None, None, case.tokens, case.tokens, device=case.device)
    # whole blocks, so no code checks single elements; one row of heads per query head
    kept = case.kept.repeat_interleave(case.nhq // case.nhk, dim=0).unsqueeze(0)
    counts = kept.sum(-1, dtype=torch.int32)
    order = torch.argsort(kept.to(torch.int8), dim=-1, descending=True, stable=True).to(torch.int32).contiguous()
    options = {"BLOCK_SIZE": case.block}
    if "seq_lengths" in inspect.signature(BlockMask.from_kv_blocks).parameters:
        options["seq_lengths"] = (case.tokens, case.tokens)
    return BlockMask.from_kv_blocks(torch.zeros_like(counts), torch.zeros_like(order), counts, order, **options)


def _options(case):
    """Tiles of 64 for blocks of 64: the default ones are larger than a block, and then nothing compiles."""
    if case.block != 64:
        return None
    return {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_M1": 32, "BLOCK_N1": 64, "BLOCK_M2": 64, "BLOCK_N2": 32}


def flex(case, q, k, v):
    if not hasattr(case, "flex_mask"):
        case.flex_mask = _flex_mask(case)
    return _unbatched(_flex_attention()(_batched(q), _batched(k), _batched(v), block_mask=case.flex_mask,
                                        enable_gqa=case.nhq != case.nhk, kernel_options=_options(case)))


PEERS = {"cudnn": cudnn, "flash": flash, "varlen": varlen, "flex": flex}
