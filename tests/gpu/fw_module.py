"""A flopwatch kernel module through ctypes: the structs of kernels/fw_kernel.h and fw_attention.h, and an attention problem that can be run.

Memory is the caller's: addresses come in as integers. Nothing here needs a GPU, so the same code drives a module for CPUs.
tests/kernels/test_module_ctypes.sh compares every size and offset with what a C compiler says.
"""
import ctypes
from ctypes import POINTER, Structure, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

ABI = 2
OK, UNSUPPORTED, INVALID, FAILED = range(4)
CPU, CUDA = 1, 2
ATTENTION = 1
FORWARD, BACKWARD = 1, 2
BF16, F32, I32, U32 = 1, 3, 8, 9
FULL, CAUSAL, BLOCKS, TOKENS, CACHE = 1, 2, 3, 4, 5
ALL_PHASES = 63
DETERMINISTIC = 1
Q, K, V, O, LSE, DO, DQ, DK, DV, CU_Q, CU_K, BLOCK_BITS, TOKEN_BITS, PAGES, SLOTS = range(15)
PHASES = {1: "range_merge", 2: "prepare", 4: "preprocess", 8: "run", 16: "fill", 32: "cast"}


class Tensor(Structure):
    _fields_ = [("data", c_void_p), ("stride", c_int64 * 3), ("dtype", c_int32), ("flags", c_int32)]


class Attention(Structure):
    _fields_ = ([("struct_size", c_uint32)] +
                [(name, c_int32) for name in ("nhq", "nhk", "headdim", "headdim_v", "dtype", "mask", "block_q", "block_k",
                                              "total_q", "total_k", "n_seqs", "max_q", "max_k")] +
                [("max_blocks", c_int64), ("scale", c_double)] +
                [(name, c_int32) for name in ("window", "page", "n_pages", "reserved")])


class Problem(Structure):
    _fields_ = [("struct_size", c_uint32), ("family", c_int32), ("direction", c_int32), ("flags", c_int32),
                ("shape", c_void_p), ("shape_size", c_uint32)]


class Info(Structure):
    _fields_ = [("struct_size", c_uint32), ("phases", c_uint32), ("once", c_uint32), ("reserved", c_uint32),
                ("workspace_bytes", c_uint64), ("persist_bytes", c_uint64), ("config", c_char_p),
                ("candidate", c_void_p), ("n_candidates", c_uint64)]


class Io(Structure):
    _fields_ = [("struct_size", c_uint32), ("n_slots", c_uint32), ("slot", POINTER(Tensor)), ("workspace", c_void_p),
                ("persist", c_void_p)]


class Work(Structure):
    _fields_ = [("struct_size", c_uint32), ("reserved", c_uint32), ("flops_issued", c_double), ("bytes_moved", c_double),
                ("tiles_total", c_int64), ("tiles_skipped", c_int64), ("tiles_partial", c_int64), ("blocks_kept", c_int64)]


class Provider(Structure):
    _fields_ = [("struct_size", c_uint32), ("device", c_int32), ("family", c_int32), ("flags", c_int32), ("name", c_char_p),
                ("can", ctypes.CFUNCTYPE(c_int, POINTER(Problem), c_void_p, c_size_t)),
                ("plan", ctypes.CFUNCTYPE(c_int, POINTER(Problem), c_char_p, c_int, POINTER(c_void_p), POINTER(Info), c_void_p,
                                          c_size_t)),
                ("bind", ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(Io))),
                ("enqueue", ctypes.CFUNCTYPE(c_int, c_void_p, c_uint32, c_void_p)),
                ("count", ctypes.CFUNCTYPE(c_int, POINTER(Problem), c_char_p, POINTER(Io), POINTER(Work))),
                ("error", ctypes.CFUNCTYPE(c_char_p, c_void_p)),
                ("destroy", ctypes.CFUNCTYPE(None, c_void_p))]


class ModuleTable(Structure):
    _fields_ = [("abi", c_uint32), ("struct_size", c_uint32), ("n_providers", c_uint32), ("reserved", c_uint32),
                ("build", c_char_p), ("provider", POINTER(POINTER(Provider)))]


STRUCTS = {"fw_tensor": Tensor, "fw_attention": Attention, "fw_problem": Problem, "fw_info": Info, "fw_io": Io, "fw_work": Work,
           "fw_provider": Provider, "fw_module": ModuleTable}


class ModuleError(Exception):
    """Something the module refuses or fails at, in words. `status`: enum fw_status."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


class Module:
    """An opened module and its providers in order: the first that can is the default."""

    def __init__(self, path):
        try:
            self.library = ctypes.CDLL(path)  # RTLD_LOCAL
            entry = self.library.fw_entry
        except (OSError, AttributeError) as error:
            raise ModuleError(INVALID, f"{path}: {error}") from None
        entry.restype, entry.argtypes = POINTER(ModuleTable), [c_uint32]
        table = entry(ABI)
        if not table:
            raise ModuleError(INVALID, f"{path}: no kernel module of ABI {ABI}")
        sizes = [(table.contents.struct_size, ctypes.sizeof(ModuleTable), "fw_module")]
        self.providers = {}
        for i in range(table.contents.n_providers):
            provider = table.contents.provider[i].contents
            sizes.append((provider.struct_size, ctypes.sizeof(Provider), "fw_provider"))
            self.providers[provider.name.decode()] = provider
        for got, wanted, name in sizes:
            if got != wanted:
                raise ModuleError(INVALID, f"{path}: its {name} has {got} bytes, fw_module.py has {wanted}: they do not match")
        self.path = path


class AttentionProblem:
    """Sizes of an attention problem; this object owns the targets of fw_problem's pointers."""

    def __init__(self, direction, mask, total_q, total_k, nhq, nhk, headdim, lengths=None, block=0, max_blocks=0, scale=None, flags=0,
                 max_k=None, window=0, page=0, n_pages=0):
        """`lengths`: queries of each sequence, of keys as well unless `max_k`, the most keys of a sequence, is given."""
        lengths = lengths or [total_q]
        self.attention = Attention(ctypes.sizeof(Attention), nhq, nhk, headdim, headdim, BF16, mask, block, block, total_q, total_k,
                                   len(lengths), max(lengths), max_k or (max(lengths) if total_q == total_k else total_k), max_blocks,
                                   headdim ** -0.5 if scale is None else scale, window, page, n_pages)
        self.problem = Problem(ctypes.sizeof(Problem), ATTENTION, direction, flags, ctypes.cast(ctypes.pointer(self.attention), c_void_p),
                               ctypes.sizeof(Attention))

    def why_not(self, provider):
        """"" when the provider can, else its reason."""
        why = ctypes.create_string_buffer(256)
        status = provider.can(ctypes.byref(self.problem), ctypes.cast(why, c_void_p), len(why))
        return "" if status == OK else why.value.decode(errors="replace") or f"status {status}"


class Plan:
    """A plan of one provider, bound to addresses. `index`: CUDA ordinal, or number of CPU threads."""

    def __init__(self, provider, problem, index=0, config=None):
        why = ctypes.create_string_buffer(256)
        self.provider, self.problem, self.plan = provider, problem, c_void_p()
        info = Info(ctypes.sizeof(Info))
        status = provider.plan(ctypes.byref(problem.problem), config and config.encode(), index, ctypes.byref(self.plan),
                               ctypes.byref(info), ctypes.cast(why, c_void_p), len(why))
        if status != OK:
            self.plan = None
            raise ModuleError(status, f"{provider.name.decode()}: plan: {why.value.decode(errors='replace') or f'status {status}'}")
        self.workspace_bytes, self.persist_bytes, self.phases = info.workspace_bytes, info.persist_bytes, info.phases
        self.config = (info.config or b"").decode()

    def bind(self, addresses, workspace=None, persist=None):
        """`addresses`: {slot: address}. Tensors are row-major as fw_attention.h describes them."""
        a = self.problem.attention
        self.tensors = (Tensor * SLOTS)()
        for slot, address in addresses.items():
            tensor = self.tensors[slot]
            tensor.data = address
            if slot == LSE:
                tensor.dtype, tensor.stride[0], tensor.stride[1] = F32, a.total_q, 1
            elif slot in (CU_Q, CU_K, PAGES):
                tensor.dtype, tensor.stride[0] = I32, 1
            elif slot == BLOCK_BITS:
                tensor.dtype = U32
            else:
                heads = a.nhq if slot in (Q, O, DO, DQ) else a.nhk
                tensor.dtype = BF16
                tensor.stride[0], tensor.stride[1], tensor.stride[2] = heads * a.headdim, a.headdim, 1
        self.io = Io(ctypes.sizeof(Io), SLOTS, self.tensors, workspace, persist)
        self._check(self.provider.bind(self.plan, ctypes.byref(self.io)), "bind")

    def enqueue(self, stream=None, phases=ALL_PHASES):
        self._check(self.provider.enqueue(self.plan, phases, stream), "enqueue")

    def _check(self, status, step):
        if status != OK:
            text = (self.provider.error(self.plan) or b"").decode(errors="replace") or f"status {status}"
            raise ModuleError(status, f"{self.provider.name.decode()}: {step}: {text}")

    def __del__(self):
        if getattr(self, "plan", None):
            self.provider.destroy(self.plan)
            self.plan = None
