#!/bin/bash
# The Python kit forks runs: one import for all of them, at the first use of the device; what prevents a fork; and random numbers.
. "$(dirname "$0")/../support/tap.sh"
export PYTHONPATH=$root/daemon/kit:$tmp/modules PYTHONDONTWRITEBYTECODE=1
python=/usr/bin/python3
mkdir -p "$tmp/modules/torch/cuda" "$tmp/lib"
cp "$root/build/tests/modules/fake_cuda.so" "$tmp/lib/libcuda.so.1"
cat >"$tmp/modules/slow.py" <<PY
with open("$tmp/log", "a") as log:
    log.write("import\n")
PY
# the part of PyTorch that initialises CUDA; a name that a submodule has imported refers to the plain function
echo 'from torch import cuda' >"$tmp/modules/torch/__init__.py"
cat >"$tmp/modules/torch/cuda/__init__.py" <<PY
import os
_users = []
def is_initialized():
    return os.getpid() in _users
def _lazy_init():
    if not is_initialized():
        _users.append(os.getpid())
        with open("$tmp/log", "a") as log:
            log.write("cuda\n")
def reset_peak_memory_stats():
    pass
def max_memory_allocated():
    return 0
from torch.cuda import memory
PY
printf 'from torch.cuda import _lazy_init\ndef reset():\n    _lazy_init()\n' >"$tmp/modules/torch/cuda/memory.py"
script() { # LINES: a script with one cell after them; its log is new
	: >"$tmp/log"
	printf '%s\n' "import flopwatch" "$@" "for call in flopwatch.cell('a', device='cpu'):" "    with call: pass" >"$tmp/script.py"
}
runs() { # NUMBER: kinds of lines, and what the log has
	LD_LIBRARY_PATH=$tmp/lib timeout 120 "$python" "$root/tests/support/interleave_forks.py" "$1" "$python" "$tmp/script.py" >"$tmp/said" 2>"$tmp/printed"
	sed 's/^\(turn\|done\|flopwatch\|fact\) .*/\1/' "$tmp/said" | uniq | paste -sd' '
	paste -sd' ' "$tmp/log"
}
one="flopwatch turn done turn done turn bye"
script "import slow"
is "three runs are forked after one import" "$(runs 3)" "parent $one ended exit 0 $one ended exit 0 $one ended exit 0
import"
script "import slow, torch" "torch.cuda._lazy_init()" "slow.log = open('$tmp/log', 'a').write('inputs ')"
is "at the first use of CUDA, which each run initialises" "$(runs 2)" "parent $one ended exit 0 $one ended exit 0
import cuda inputs cuda inputs "
mkdir -p "$tmp/modules/triton/runtime"
touch "$tmp/modules/triton/__init__.py" "$tmp/modules/triton/runtime/__init__.py"
cat >"$tmp/modules/triton/runtime/cache.py" <<PY
import functools
@functools.lru_cache
def triton_key():
    with open("$tmp/log", "a") as log:
        log.write("hashed\n")
    return "key"
PY
script "import slow, torch, triton.runtime.cache" "torch.cuda._lazy_init()" "triton.runtime.cache.triton_key()"
is "Triton hashes its files once for all runs" "$(runs 2 | tail -n 1)" "import hashed cuda cuda"
script "import torch" "torch.cuda.memory.reset()"
is "also by a submodule" "$(runs 2 | tail -n 1)" "cuda cuda"
script "import os, signal" "if flopwatch._open().link: os.kill(os.getpid(), signal.SIGSEGV)"
is "a signal that ends a run" "$(runs 2 | head -n 1)" "parent flopwatch ended signal 11 flopwatch ended signal 11"
script "import sys" "flopwatch._open()" "sys.exit(3)"
is "its exit status" "$(runs 1 | head -n 1)" "parent flopwatch bye ended exit 3"

# ---- what prevents a fork
script "import slow, threading, time" "threading.Thread(target=time.sleep, args=(100,), daemon=True).start()"
is "a thread" "$(runs 3)" "fresh it has other threads before its first call: python3 $one
import"
script "import subprocess" "child = subprocess.Popen(['sleep', '5'])"
is "a child process" "$(runs 3 | head -n 1)" "fresh it has child processes before its first call $one"
script "import ctypes" "ctypes.CDLL('libcuda.so.1').cuInit(0)"
is "CUDA in use" "$(runs 3 | head -n 1)" \
	"fresh it uses CUDA before its first call or PyTorch's initialisation, and CUDA does not survive a fork $one"
script "import ctypes" "ctypes.CDLL('libcuda.so.1')"
is "not its library alone" "$(runs 1 | head -n 1)" "parent $one ended exit 0"
is "without an offer nothing is forked" "$(LD_LIBRARY_PATH=$tmp/lib "$python" "$root/tests/support/interleave_alone.py" "$python" "$tmp/script.py" | sed -n '1s/ flopwatch.py.*//p')" "flopwatch 1"

# ---- random numbers
drawn() { # LINES: whether two runs draw the same number
	script "$@" "flopwatch._open()" "open('$tmp/log', 'a').write('%r ' % random.random())"
	runs 2 >/dev/null
	tr ' ' '\n' <"$tmp/log" | grep . | sort -u | wc -l
}
is "are other ones in each run" "$(drawn 'import random')" 2
is "unless the script has seeded them" "$(drawn 'import random' 'random.seed(7)')" 1
