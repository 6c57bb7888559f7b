"""A problem of the family of grouped products through ctypes: the struct of kernels/fw_grouped.h, over fw_module."""
import ctypes
from ctypes import Structure, c_int32, c_uint32, c_void_p

import fw_module as fw

GROUPED = 4
FORWARD, DGRAD, WGRAD = 1, 3, 4
DIRECTIONS = {"forward": FORWARD, "dgrad": DGRAD, "wgrad": WGRAD}
X, W, OFFSETS, Y, DY, DX, DW, N_SLOTS = range(8)


class Shape(Structure):
    _fields_ = [("struct_size", c_uint32)] + [(name, c_int32) for name in ("groups", "rows", "n", "k")]


STRUCTS = {"fw_grouped": Shape}


class GroupedProblem:
    """Sizes of a problem; this object owns the targets of fw_problem's pointers."""

    def __init__(self, groups, rows, k, n, direction=FORWARD):
        self.shape = Shape(ctypes.sizeof(Shape), groups, rows, n, k)
        self.problem = fw.Problem(ctypes.sizeof(fw.Problem), GROUPED, direction, 0, ctypes.cast(ctypes.pointer(self.shape), c_void_p),
                                  ctypes.sizeof(Shape))

    why_not = fw.AttentionProblem.why_not


class GroupedPlan(fw.Plan):
    """A plan of one provider, bound to addresses of packed tensors."""

    def bind(self, addresses, workspace=None, persist=None):
        self.tensors = (fw.Tensor * N_SLOTS)()
        for slot, address in addresses.items():
            self.tensors[slot].data, self.tensors[slot].dtype = address, fw.I32 if slot == OFFSETS else fw.BF16
        self.io = fw.Io(ctypes.sizeof(fw.Io), N_SLOTS, self.tensors, workspace, persist)
        self._check(self.provider.bind(self.plan, ctypes.byref(self.io)), "bind")
