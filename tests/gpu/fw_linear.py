"""A problem of the linear family through ctypes: the structs of kernels/fw_linear.h, over fw_module."""
import ctypes
from ctypes import Structure, c_int32, c_uint32, c_void_p

import fw_module as fw

LINEAR = 2
FORWARD, DGRAD, WGRAD, TOTAL = 1, 3, 4, 5
DIRECTIONS = {"forward": FORWARD, "dgrad": DGRAD, "wgrad": WGRAD, "total": TOTAL}
BF16, E4M3, E5M2, I8, I4 = 1, 4, 5, 6, 7
UNSCALED, BY_TENSOR, BY_ROW, BY_GROUP, BY_BLOCK = range(5)
SCALE_BLOCK = 128
ASYMMETRIC, POWER_OF_TWO = 1, 2
FAST_ACCUM = 2
X, W, BIAS, Y, DY, DX, DW, S, N_SLOTS = range(9)
QUANTISE_WEIGHT = 1


class Operand(Structure):
    _fields_ = [(name, c_int32) for name in ("dtype", "scaling", "group", "flags")]


class Shape(Structure):
    _fields_ = ([("struct_size", c_uint32)] + [(name, c_int32) for name in ("m", "n", "k", "prologue", "activation", "bias")] +
                [(name, Operand) for name in ("x", "w", "dy")])


STRUCTS = {"fw_linear_operand": Operand, "fw_linear_shape": Shape}

# recipe -> (X, W, flags of the problem); int4wo carries its group after the last dash
RECIPES = {"baseline": ((), (), 0), "int8wo": ((), (I8, BY_ROW), 0), "float8wo": ((), (E4M3, BY_ROW), 0),
           "float8dq-tensor": ((E4M3, BY_TENSOR), (E4M3, BY_TENSOR), FAST_ACCUM),
           "float8dq-row": ((E4M3, BY_ROW), (E4M3, BY_ROW), FAST_ACCUM),
           "float8dq-block": ((E4M3, BY_BLOCK, SCALE_BLOCK), (E4M3, BY_BLOCK, SCALE_BLOCK), 0)}


def operands(recipe):
    name, _, group = recipe.rpartition("-")
    if name == "int4wo":
        return Operand(), Operand(I4, BY_GROUP, int(group), ASYMMETRIC), 0
    x, w, flags = RECIPES[recipe]
    return Operand(*x), Operand(*w), flags


class LinearProblem:
    """Sizes of a linear problem; this object owns the targets of fw_problem's pointers."""

    def __init__(self, m, k, n, direction=FORWARD, recipe="baseline", prologue=0, activation=0, bias=0, flags=0,
                 dy=()):
        x, w, recipe_flags = operands(recipe)
        self.shape = Shape(ctypes.sizeof(Shape), m, n, k, prologue, activation, bias, x, w, Operand(*dy))
        self.problem = fw.Problem(ctypes.sizeof(fw.Problem), LINEAR, direction, flags | recipe_flags,
                                  ctypes.cast(ctypes.pointer(self.shape), c_void_p), ctypes.sizeof(Shape))

    why_not = fw.AttentionProblem.why_not


class LinearPlan(fw.Plan):
    """A plan of one provider, bound to addresses of packed bf16 matrices."""

    def bind(self, addresses, workspace=None, persist=None):
        self.tensors = (fw.Tensor * N_SLOTS)()
        for slot, address in addresses.items():
            self.tensors[slot].data, self.tensors[slot].dtype = address, BF16
        self.io = fw.Io(ctypes.sizeof(fw.Io), N_SLOTS, self.tensors, workspace, persist)
        self._check(self.provider.bind(self.plan, ctypes.byref(self.io)), "bind")
