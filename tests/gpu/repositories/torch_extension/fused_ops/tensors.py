"""Tensors of PyTorch on its GPU, or plain arrays of the host."""
import array

try:
    import torch
except ImportError:
    torch = None

on_gpu = torch is not None and torch.cuda.is_available()


class HostArray:
    """As much of a tensor as the operators need."""

    def __init__(self, values):
        self.values = array.array("f", values)

    def numel(self):
        return len(self.values)

    def data_ptr(self):
        return self.values.buffer_info()[0]


def random(n):
    if on_gpu:
        return torch.randn(n, device="cuda")
    return HostArray(((i * 7919) % 1000) / 500 - 1 for i in range(n))


def empty_like(x):
    return torch.empty_like(x) if on_gpu else HostArray(bytes(4 * x.numel()))


def current_stream():
    return torch.cuda.current_stream().cuda_stream if on_gpu else 0


def synchronize():
    if on_gpu:
        torch.cuda.synchronize()
