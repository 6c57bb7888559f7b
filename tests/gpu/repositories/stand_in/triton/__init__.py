"""As much of Triton as triton_ops needs to list its cells: kernels that do nothing."""
from triton import language, testing


class jit:
    def __init__(self, function):
        self.function = function

    def __getitem__(self, grid):
        assert all(size > 0 for size in grid)
        return lambda *arguments, **words: None


def next_power_of_2(n):
    return 1 << (n - 1).bit_length()


def cdiv(a, b):
    return -(-a // b)
