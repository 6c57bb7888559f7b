"""As much of PyTorch as benchmarks/ of triton_ops needs to list its cells, for tests on machines without it: tensors without elements."""
import types


class dtype:
    def __init__(self, name, size):
        self.name, self.size = name, size

    def __str__(self):
        return "torch." + self.name

    __repr__ = __str__


float16, bfloat16, float32, int64 = dtype("float16", 2), dtype("bfloat16", 2), dtype("float32", 4), dtype("int64", 8)


class Tensor:
    def __init__(self, *shape, device="cuda", dtype=float32):
        self.shape, self.device, self.dtype = tuple(shape), device, dtype

    def numel(self):
        n = 1
        for size in self.shape:
            n *= size
        return n

    def element_size(self):
        return self.dtype.size

    def stride(self, axis=None):
        strides = [1]
        for size in self.shape[:0:-1]:
            strides.insert(0, strides[0] * size)
        return tuple(strides) if axis is None else strides[axis]


def randn(*shape, **words):
    return Tensor(*shape, **words)


def empty(shape, **words):
    return Tensor(*(shape if isinstance(shape, tuple) else (shape,)), **words)


def randint(high, shape, device):
    return Tensor(*shape, device=device, dtype=int64)


def empty_like(x, **words):
    return Tensor(*x.shape, device=x.device, dtype=x.dtype)


def matmul(a, b):
    return Tensor(a.shape[0], b.shape[1], dtype=a.dtype)


softmax = empty_like
nn = types.SimpleNamespace(functional=types.SimpleNamespace(layer_norm=lambda x, *others: x, rms_norm=lambda x, *others: x,
    cross_entropy=lambda x, target, reduction: x))
testing = types.SimpleNamespace(assert_close=lambda a, b, **words: None)
