#!/usr/bin/env python3
"""The kit's record of Triton kernels with the installed Triton and PyTorch, on a GPU: PYTHONPATH=daemon/kit PYTHON tests/gpu/reported_kernels.py

Prints a line per check, and exits with 1 if one failed."""
import importlib.util
import os
import sys
import tempfile

import flopwatch
import torch
import triton

os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()
SOURCE = '''
import triton
import triton.language as tl

@triton.autotune([triton.Config({"BLOCK": 256}, num_warps=4), triton.Config({"BLOCK": 1024}, num_warps=8)], key=["n"])
@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)%s
    tl.store(y + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)

@triton.jit
def negate(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, -tl.load(x + at, mask=at < n), mask=at < n)
'''
failed = 0


def check(name, good, *shown):
    global failed
    failed += not good
    print("ok" if good else "not ok", "-", name, *shown)


def load(name, extra):
    path = os.path.join(tempfile.mkdtemp(), name + ".py")
    with open(path, "w") as file:
        file.write(SOURCE % extra)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def record(call):
    launches = flopwatch._Launches()
    launches.begin()
    try:
        call()
    finally:
        launches.end()
    torch.cuda.synchronize()
    return [dict(word.split("=", 1) for word in ("kernel=" + line[12:]).split(" ")) for line in launches.lines()]


n = 1 << 20
x, y = torch.ones(n, device="cuda"), torch.empty(n, device="cuda")


def call_of(module):
    def call():
        module.double[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, n)
        module.negate[(triton.cdiv(n, 512),)](y, n, BLOCK=512)
        module.negate[(triton.cdiv(n, 512),)](y, n, BLOCK=512)

    return call


print("triton", triton.__version__, "torch", torch.__version__)
first = load("first", "")
plain = triton.runtime.jit.JITFunction.run
lines = record(call_of(first))
for line in lines:
    print("#", line)
check("two kernels, without the search", [line["kernel"] for line in lines] == ["double", "negate"] and lines[0]["of"] == "2")
check("launches", [line["launches"] for line in lines] == ["1", "2"])
check("the choice", lines[0].get("config", "").startswith("BLOCK=") and "num_warps" in lines[0].get("config", "") and "config" not in lines[1])
check("resources", all(key in line for line in lines for key in ("num_warps", "num_stages", "shared", "registers", "spills")))
check("hashes", all(len(line.get(key, "")) == 64 for line in lines for key in ("code", "source")))
check("the result", bool((y == 2).all()))
check("methods are restored", triton.runtime.jit.JITFunction.run is plain)
again = record(call_of(first))
check("a further call reports the same", again == lines)
second = load("second", "  # a comment\n    # of two lines")
other = record(call_of(second))
check("a comment changes no source", [line["source"] for line in other] == [line["source"] for line in lines])
if other[0]["config"] == lines[0]["config"]:
    check("nor code", [line["code"] for line in other] == [line["code"] for line in lines])
third = load("third", " + 0 * n")
check("a change of source does", record(call_of(third))[0]["source"] != lines[0]["source"])
for mode in ("default", "max-autotune-no-cudagraphs"):
    compiled = torch.compile(lambda a: torch.nn.functional.gelu(a) * 2 + 1, mode=mode)
    compiled(x)  # the compiler runs here
    lines = record(lambda: compiled(x))
    for line in lines:
        print("#", line)
    check("a kernel of torch.compile, mode %s" % mode, len(lines) == 1 and "config" in lines[0] and "registers" in lines[0])
sys.exit(failed > 0)
