"""As much of PyTorch as a comparison of results needs, for tests on machines without it: tensors of one axis that divide as IEEE 754 says."""
import math


def _divide(x, y):
    if y == 0:
        return math.nan if x == 0 or x != x else math.copysign(math.inf, x)
    return x / y


class Tensor:
    def __init__(self, values):
        self.values = [float(x) for x in values]
        self.shape = (len(self.values),)

    def _with(self, other, do):
        others = other.values if isinstance(other, Tensor) else [other] * len(self.values)
        return Tensor(do(x, y) for x, y in zip(self.values, others))

    def __sub__(self, other):
        return self._with(other, lambda x, y: x - y)

    def __add__(self, other):
        return self._with(other, lambda x, y: x + y)

    def __mul__(self, other):
        return self._with(other, lambda x, y: x * y)

    def __truediv__(self, other):
        return self._with(other, _divide)

    def __eq__(self, other):
        return self._with(other, lambda x, y: x == y)

    __radd__, __rmul__ = __add__, __mul__

    def __getitem__(self, at):
        return self.values[at]

    def abs(self):
        return Tensor(map(abs, self.values))

    def double(self):
        return self

    flatten = double

    def numel(self):
        return len(self.values)

    def argmax(self):
        return self.values.index(max(self.values))

    def masked_fill(self, mask, value):
        return Tensor(value if m else x for x, m in zip(self.values, mask.values))


def tensor(value):
    return value


def nan_to_num(values, nan=0.0):
    return Tensor(nan if x != x else x for x in values.values)


def unravel_index(at, shape):
    return (at,)
