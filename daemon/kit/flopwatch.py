"""flopwatch.py - timed calls for Python: one file, no dependency.
SPDX-License-Identifier: MIT-0  (take it into any project, changed or not, without any notice)

    import flopwatch
    for call in flopwatch.cell("softmax/4096", flops=5 * n, bytes=8 * n):
        with call:
            softmax(x)

The body of `with` is one call of the cell "softmax/4096". It is repeated as often as needed. Run alone, the program prints a JSON line per
cell on standard output and a table on standard error. Run by flopwatch, its calls alternate with those of another version of the program, and
it prints nothing (doc/interleave.md). If the thread has a CUDA context (PyTorch, CuPy, Triton), calls are timed on the device, with the clock
during each call; the device begins a timed call when the host has queued all of it. Then a JSON line also has the median time of the host, the
number of calls that began too early and are left out, and whether the calls could be primed in this way.

Arguments of a cell, in addition to the flops and bytes of a call (None: not known):
  check     called after the first call; its return value, or an AssertionError, is an error of the result: see compare
  output    called after the first call; returns the result, whose hash is compared between versions
  config    the configuration that a search of the program chose: a text or a dict, or a function called after the first call; default: that of
            Triton's autotuner, if it chose one
  inputs    a list: `with call as x:` gets its elements, one after the other
  scrub     displace the device's L2 cache before each call (True)
  device    "cuda" or "cpu"; default: depends on the thread's CUDA context
  stream    the CUDA stream, as a number; default: PyTorch's current stream

    python3 -m flopwatch bench.py ...

runs an unmodified script. Everything that it times with triton.testing.do_bench, do_bench_cudagraph, perf_report or
torch.utils.benchmark.Timer becomes a cell. The script's output is written to standard error, since standard output is for the JSON lines.

    python3 -m pytest -p flopwatch --benchmark-json=FILE ...

makes a cell of each test with the fixture of pytest-benchmark when flopwatch runs it. Run alone, it writes also the tests that failed to the
JSON of pytest-benchmark, and at most 2000 rounds of each test.
"""
import ast
import atexit
import ctypes
import dataclasses
import functools
import gc
import hashlib
import importlib.abc
import importlib.machinery
import inspect
import json
import math
import os
import random
import re
import resource
import socket
import sys
import threading
import time
import warnings

__version__ = "0.1.0"
__all__ = ["cell", "compare", "main"]

_AHEAD, _SLOTS, _SMS, _SM_STEP = 2, 4, 256, 3  # every third SM represents the clock of all
_SPIN_MAX_US, _HOST_MAX_US = 10000, 8000  # the device waits for the host: at most, and for calls that are queued within
_AFTER_WAIT_US, _REST_MAX_US, _GAP_MAX_US = 200, 50, 1.2  # of a probe that waits: the spin behind it, and what else the device may do
_PROBES, _PLAIN_PROBES, _PROBE_S = 5, 2, 0.5  # calls that measure the host; those without a spin; longer calls get only one
_WAIT_PROBES = 6  # further ones if a call waits once, because the device's clock may blur where it waits
_ALONE_MIN, _ALONE_MAX, _ALONE_S, _WARM_S = 10, 400, 0.5, 0.05
_COLLECT_MAX_NS = 20000000
_CALLS = "FLOPWATCH_CALLS"  # a profiler's number of calls of each cell, which are then not timed


# ---- protocol ---------------------------------------------------------------------------------------------------------------


class _Channel:
    """The socket that grants turns; None without one."""

    def __init__(self):
        number = os.environ.pop("FLOPWATCH_INTERLEAVE", "")  # child processes must not use the socket
        may_fork = os.environ.pop("FLOPWATCH_FORK", "")
        self.link = None
        self.in_turn = False
        self.pid = os.getpid()
        self.is_list = False
        if not number.isdigit():
            return
        os.set_inheritable(int(number), False)
        self.link = socket.socket(fileno=int(number))
        self.link.setblocking(True)
        self.input = b""
        gc.collect()
        gc.freeze()
        if may_fork:
            self.serve_runs()
        self.send("flopwatch 1 flopwatch.py " + __version__)
        self.is_list = self.receive() == "welcome 1 list"
        atexit.register(self.close)

    def serve_runs(self):
        """Fork a child process for each run that the worker requests. Returns only in a child, or if this process cannot fork safely."""
        why_not = _why_not_fork()
        if why_not:
            self.send("fresh " + _line(why_not))
            return
        _hash_triton()
        self.send("parent")
        while True:
            if self.receive() != "fork":
                continue  # an answer to a child that was ended before it read it
            status = _fork()
            if status is None:
                self.pid = os.getpid()
                return
            self.send("ended " + ("signal %d" % os.WTERMSIG(status) if os.WIFSIGNALED(status) else "exit %d" % os.WEXITSTATUS(status)))

    def send(self, *lines):
        try:
            self.link.sendall("".join(line + "\n" for line in lines).encode())
        except OSError:
            os._exit(1)  # the other end is closed

    def receive(self):
        while b"\n" not in self.input:
            data = self.link.recv(4096)
            if not data:
                os._exit(1)
            self.input += data
        line, self.input = self.input.split(b"\n", 1)
        return line.decode()

    def request_turn(self, key):
        """Number of warm-up and of timed calls of the next turn, the shortest spin in us, and whether each call must be made once; None: no
        turns remain for the cell."""
        if self.in_turn:
            self.fail("the program left the cell before its calls were made")
        self.send("turn " + key)
        answer = self.receive().split(" ")
        if answer[0] != "go":
            return None
        self.in_turn = True
        spin = [float(word[8:]) for word in answer[3:] if word.startswith("spin_us=")]
        return int(answer[1]), int(answer[2]), spin[0] if spin else 0, "repeats=1" in answer[3:]

    def fail(self, why, failure="reported"):
        self.in_turn = False
        self.send("fail %s %s" % (failure, _line(why)))

    def close(self):
        if self.pid != os.getpid() or not self.link:
            return
        if self.in_turn:
            problem = getattr(sys, "last_value", None)  # what ended it
            self.fail(_problem_text(problem) if problem else "the program ended in the middle of a cell")
        self.send("bye")
        self.link = None


def _collect():
    """Collect garbage ahead of a cell. Modules take long to examine, 0.1 s with PyTorch: later collections leave them out."""
    began = time.perf_counter_ns()
    gc.collect()
    if time.perf_counter_ns() - began > _COLLECT_MAX_NS:
        gc.freeze()


def _problem_text(problem):
    return ("%s: %s" % (type(problem).__name__, problem)).rstrip(": ")


def _line(text):
    return " ".join(str(text).split())[:380]


_FORK_SAFE_THREADS = {"jemalloc_bg_thd"}  # jemalloc locks its state around a fork, and works without its thread in the child

_DRIVER_THREAD = "cuda[0-9a-f]+"  # of the driver's library before its initialisation, which each child does; queried by PyTorch

_unseeded = random.getstate()
_numpy_unseeded = None


def _numpy_random():
    module = sys.modules.get("numpy.random")
    return module if hasattr(module, "get_state") else None


def _keep_numpy_state(module):
    global _numpy_unseeded
    _numpy_unseeded = str(module.get_state())


def _why_not_fork():
    """Why children of this process would not run as fresh processes do; "": they would."""
    if "/libcuda.so." in _loaded():
        count = ctypes.c_int()
        if ctypes.CDLL("libcuda.so.1").cuDeviceGetCount(ctypes.byref(count)) != 3:  # CUDA_ERROR_NOT_INITIALIZED
            return "it uses CUDA before its first call or PyTorch's initialisation, and CUDA does not survive a fork"
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return "it has child processes before its first call"
    except ChildProcessError:
        pass
    # a first fork ends the threads of libraries that end theirs before a fork and start them again, such as OpenBLAS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    try:
        threads = [_thread_name(thread) for thread in os.listdir("/proc/self/task") if int(thread) != os.getpid()]
    except OSError:
        return "the system does not list its threads"
    threads = [name for name in threads if name not in _FORK_SAFE_THREADS and not re.fullmatch(_DRIVER_THREAD, name)]
    return "it has other threads before its first call: " + ", ".join(sorted(threads)) if threads else ""


def _hash_triton():
    """Let Triton hash its own files once for all runs. Each process that compiles or loads a kernel does so, in 0.3 s, and remembers the result."""
    for name in ("triton.runtime.cache", "triton.compiler.compiler"):
        key = getattr(sys.modules.get(name), "triton_key", None)
        if callable(key):
            try:
                key()
            except Exception:  # the run shows the problem
                pass
            return


def _thread_name(thread):
    with open("/proc/self/task/%s/comm" % thread) as file:
        return file.read().strip()


def _fork():
    """Fork. Returns None in the child, and in the parent the child's wait status."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            pass
    ctypes.CDLL(None).fflush(None)
    state, child = random.getstate(), os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    if state != _unseeded:
        random.setstate(state)  # the fork has seeded the generator at random, as a fresh process does; the script had seeded it otherwise
    numpy_random = _numpy_random()
    if numpy_random and str(numpy_random.get_state()) == _numpy_unseeded:
        numpy_random.seed()
    _waits.file = None  # of the parent's thread
    return None


_interleave = None
_rows = None  # output of the JSON lines, if that is not sys.stdout


def _open():
    global _interleave
    if _interleave is None:
        _interleave = _Channel()
    return _interleave


def _lacks_bytecode():
    """Whether Python would compile all modules of PyTorch or Triton in each process: their folders have no bytecode and cannot be written."""
    for name in ("torch", "triton"):
        spec = importlib.machinery.PathFinder.find_spec(name)
        if spec and spec.origin and spec.cached and not os.path.exists(spec.cached) and not os.access(os.path.dirname(spec.origin), os.W_OK):
            return True
    return False


if os.environ.get("FLOPWATCH_INTERLEAVE"):
    # results of compilers and searches are cached for further processes of this version
    for _name, _folder in (("TRITON_CACHE_DIR", "triton"), ("TORCHINDUCTOR_CACHE_DIR", "inductor"), ("CUDA_CACHE_PATH", "cuda")):
        os.environ.setdefault(_name, os.path.join(os.getcwd(), ".flopwatch", _folder))
    os.environ["CUDA_CACHE_DISABLE"] = "0"  # 1 in the sandbox, where the default folder is lost
    os.environ.setdefault("TRITON_CACHE_AUTOTUNING", "1")
    if _lacks_bytecode():
        sys.pycache_prefix = os.path.join(os.getcwd(), ".flopwatch", "python")
if os.environ.get("FLOPWATCH_FORK"):
    os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")  # torch.cuda.is_available() would initialise CUDA, which prevents forks


# ---- clocks -----------------------------------------------------------------------------------------------------------------


def _switches(who):
    return resource.getrusage(who).ru_nivcsw


def _waits():
    """Time in ns during which this thread was runnable without a processor; 0 if the system does not report it."""
    try:
        if _waits.file is None:
            _waits.file = os.open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        return int(os.pread(_waits.file, 96, 0).split()[1])
    except (OSError, IndexError, ValueError):
        return 0


_waits.file = None


def _without_waits(call, cpu, waited, gaps):
    """Time of a call without the time that other tasks took, and the subtracted time; None: the call has no valid time. All in ns.

    The counter of waiting is read outside of the two clock readings, so a wait may be in the gaps between counter and clock instead of in the
    call. Therefore at most the call's time minus its processor time is subtracted, and a call is dropped if the uncertainty of the subtraction
    exceeds half of its remaining time.
    """
    most = max(min(waited, call - cpu), 0)
    least = min(max(waited - gaps, 0), most)
    took = call - most
    return (None if took <= 0 or 2 * (most - least) > took else took), most


class _Host:
    """Calls timed by the host's clock."""

    who = resource.RUSAGE_SELF
    spins = False

    def __init__(self):
        self.took = [None] * _SLOTS  # ns
        self.was_cut = [False] * _SLOTS

    def idle_us(self):
        return 0

    def scrub(self):
        pass

    def enter(self, slot, is_probe, ends_in_wait):
        pass

    def leave(self):
        return time.perf_counter_ns()

    def start(self, slot):
        self.opened = time.perf_counter_ns()
        self.waited = _waits()
        self.cpu = time.thread_time_ns()
        self.began = time.perf_counter_ns()

    def stop(self, slot, ended):
        cpu = time.thread_time_ns() - self.cpu
        waited = _waits() - self.waited
        gaps = self.began - self.opened + time.perf_counter_ns() - ended
        self.took[slot], off = _without_waits(ended - self.began, cpu, waited, gaps)
        self.was_cut[slot] = 2 * off > ended - self.began

    def finish(self, slot):
        took = self.took[slot]
        return (0 if took is None else took * 1e-6), 0, 0

    def wait(self):
        pass


# Each SM writes its cycle counter and the time: two such stamps give the clock in between. The other kernel only waits; its loop ends
# after 2^22 readings, more than 10 ms take, if the timer should stand still.
_PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry flopwatch_stamp(.param .u64 table)
{
	.reg .pred %p;
	.reg .b32 %r<3>;
	.reg .b64 %d<5>;
	mov.u32 %r1, %tid.x;
	setp.ne.u32 %p, %r1, 0;
	@%p bra END;
	mov.u32 %r2, %smid;
	setp.ge.u32 %p, %r2, 256;
	@%p bra END;
	ld.param.u64 %d1, [table];
	cvta.to.global.u64 %d1, %d1;
	mul.wide.u32 %d2, %r2, 16;
	add.s64 %d1, %d1, %d2;
	mov.u64 %d3, %globaltimer;
	mov.u64 %d4, %clock64;
	st.global.v2.u64 [%d1], {%d4, %d3};
END:
	ret;
}
.visible .entry flopwatch_spin(.param .u64 ns)
{
	.reg .pred %p;
	.reg .b32 %r1;
	.reg .b64 %d<5>;
	ld.param.u64 %d1, [ns];
	mov.u64 %d2, %globaltimer;
	mov.u32 %r1, 4194304;
WAIT:
	mov.u64 %d3, %globaltimer;
	sub.s64 %d4, %d3, %d2;
	sub.s32 %r1, %r1, 1;
	setp.lt.s64 %p, %d4, %d1;
	setp.gt.and.s32 %p, %r1, 0, %p;
	@%p bra WAIT;
	ret;
}
"""


class _Cuda:
    """Calls timed by the device's clock, using only the driver API."""

    who = getattr(resource, "RUSAGE_THREAD", 1)
    driver = None
    shared = {}
    inside = None  # the clock of the current call

    @classmethod
    def load(cls):
        if cls.driver is None:
            try:
                cls.driver = ctypes.CDLL("libcuda.so.1")
            except OSError:
                cls.driver = False
        return cls.driver

    @classmethod
    def context(cls):
        """The CUDA context of this thread; 0 none."""
        now = ctypes.c_void_p()
        if not cls.load() or cls.driver.cuCtxGetCurrent(ctypes.byref(now)) != 0:
            return 0
        return now.value or 0

    @classmethod
    def of(cls, stream):
        if not cls.context():
            cls.make_context()
        here = cls.context()
        if here not in cls.shared:
            cls.shared[here] = cls()
        cls.shared[here].stream = ctypes.c_void_p(stream)
        return cls.shared[here]

    @classmethod
    def make_context(cls):
        if not cls.load():
            raise RuntimeError("flopwatch: no libcuda.so.1 on this machine")
        device, context = ctypes.c_int(), ctypes.c_void_p()
        cls.must("cuInit", 0)
        cls.must("cuDeviceGet", ctypes.byref(device), 0)
        cls.must("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        cls.must("cuCtxSetCurrent", context)

    @classmethod
    def must(cls, name, *arguments):
        status = getattr(cls.driver, name)(*arguments)
        if status != 0:
            text = ctypes.c_char_p()
            cls.driver.cuGetErrorName(status, ctypes.byref(text))
            raise RuntimeError("flopwatch: %s: %s" % (name, (text.value or b"?").decode()))

    def __init__(self):
        device = ctypes.c_int()
        self.must("cuCtxGetDevice", ctypes.byref(device))
        self.sms = self.attribute(16, device)
        self.scrub_bytes = 2 * (self.attribute(38, device) or 64 << 20)
        self.scrubbed = self.memory(self.scrub_bytes)
        self.value = 0
        self.idle = self.event(2)
        self.events = [(self.event(0), self.event(0)) for _ in range(_SLOTS)]
        self.host = [0.0] * _SLOTS
        self.was_cut = [False] * _SLOTS
        self.began = [0] * _SLOTS
        self.table = (ctypes.c_uint64 * (2 * _SMS * 2))()
        self.kernel = None
        self.has_begun = [False] * _SLOTS  # before the host had queued all of the call
        self.marks = [self.event(0) for _ in range(3)]  # of a probe: two when it has waited for the device, one at its end
        module, kernel, self.spinner = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        if self.driver.cuModuleLoadData(ctypes.byref(module), _PTX) == 0:
            self.must("cuModuleGetFunction", ctypes.byref(kernel), module, b"flopwatch_stamp")
            self.must("cuModuleGetFunction", ctypes.byref(self.spinner), module, b"flopwatch_spin")
            self.kernel = kernel
            self.spin_ns = ctypes.c_uint64()
            self.spin_parameters = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.byref(self.spin_ns), ctypes.c_void_p))
            self.stamps = self.memory(_SLOTS * 2 * _SMS * 16)
            self.parameter = ctypes.c_uint64()
            self.parameters = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.byref(self.parameter), ctypes.c_void_p))

    def attribute(self, which, device):
        value = ctypes.c_int()
        self.must("cuDeviceGetAttribute", ctypes.byref(value), which, device)
        return value.value

    def memory(self, size):
        address = ctypes.c_uint64()
        self.must("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        return address.value

    def event(self, flags):
        event = ctypes.c_void_p()
        self.must("cuEventCreate", ctypes.byref(event), flags)
        return event

    def idle_us(self):
        began = time.perf_counter_ns()
        self.must("cuEventRecord", self.idle, self.stream)
        self.must("cuEventSynchronize", self.idle)
        return (time.perf_counter_ns() - began) * 1e-3

    def scrub(self):
        self.value = (self.value + 1) & 0xFF
        self.must("cuMemsetD8Async", ctypes.c_uint64(self.scrubbed), ctypes.c_ubyte(self.value), ctypes.c_size_t(self.scrub_bytes), self.stream)

    def stamp(self, slot, end):
        if not self.kernel:
            return
        self.parameter.value = self.stamps + (2 * slot + end) * _SMS * 16
        if end == 0:
            self.must("cuMemsetD8Async", self.parameter, ctypes.c_ubyte(0), ctypes.c_size_t(2 * _SMS * 16), self.stream)
        self.must("cuLaunchKernel", self.kernel, 2 * self.sms, 1, 1, 32, 1, 1, 0, self.stream, self.parameters, None)

    @property
    def spins(self):
        return self.kernel is not None

    def spin(self, us):
        """Keep the device busy for that time, so that the host can queue the next call before the device begins it."""
        self.spin_ns.value = int(1e3 * us)
        self.must("cuLaunchKernel", self.spinner, 1, 1, 1, 1, 1, 1, 0, self.stream, self.spin_parameters, None)

    def enter(self, slot, is_probe, ends_in_wait):
        """The program's call begins. `ends_in_wait`: it does nothing after it has waited for the device; its time ends before that."""
        self.slot, self.is_probe, self.ends_in_wait = slot, is_probe, ends_in_wait
        self.n_waits, self.waited_ns, self.rest_us, self.thread = 0, 0, 0, threading.get_ident()
        _Cuda.inside = self

    def leave(self):
        """The program's call has returned. Returns when the host had queued its work, in ns."""
        _Cuda.inside = None
        if self.is_probe and self.n_waits == 1:
            self.must("cuEventRecord", self.marks[2], self.stream)
        return self.waited_ns if self.ends_in_wait and self.n_waits == 1 else time.perf_counter_ns()

    def begin_wait(self):
        """The program's call begins to wait for the device."""
        self.n_waits += 1
        self.waited_ns = time.perf_counter_ns()
        if self.is_probe:
            self.must("cuEventRecord", self.marks[2], self.stream)
        elif self.ends_in_wait and self.n_waits == 1:
            self.end(self.slot, self.waited_ns)

    def end_wait(self, plain, *arguments):
        """Wait for the device as the program does; in a probe so that the rest of the call is seen."""
        if not self.is_probe or self.n_waits > 1:
            return plain(*arguments)
        self.must("cuEventSynchronize", self.marks[2])
        times = [time.perf_counter_ns()]
        for _ in range(2):  # the first one takes longer than the second if other streams are busy
            plain(*arguments)
            times.append(time.perf_counter_ns())
        self.rest_us = (times[1] - times[0] - (times[2] - times[1])) * 1e-3
        self.spin(_AFTER_WAIT_US)
        for mark in self.marks[:2]:
            self.must("cuEventRecord", mark, self.stream)

    def ended_in_wait(self):
        """Whether the last probe waited for the device once, for all that it had queued, and queued nothing after that. The device is idle."""
        if self.n_waits != 1 or self.rest_us > _REST_MAX_US:
            return False
        gaps = [ctypes.c_float(), ctypes.c_float()]
        for gap, mark, following in zip(gaps, self.marks, self.marks[1:]):
            self.must("cuEventElapsedTime", ctypes.byref(gap), mark, following)
        return gaps[1].value < gaps[0].value + 1e-3 * _GAP_MAX_US  # work would take longer

    def start(self, slot):
        self.stamp(slot, 0)
        self.must("cuEventRecord", self.events[slot][0], self.stream)
        self.began[slot] = time.perf_counter_ns()

    def end(self, slot, queued_ns):
        self.host[slot] = (queued_ns - self.began[slot]) * 1e-3
        self.must("cuEventRecord", self.events[slot][1], self.stream)
        self.has_begun[slot] = self.driver.cuEventQuery(self.events[slot][0]) == 0

    def stop(self, slot, queued_ns):
        if not self.ends_in_wait or self.n_waits != 1:
            self.end(slot, queued_ns)
        self.stamp(slot, 1)

    def finish(self, slot):
        ms = ctypes.c_float()
        self.must("cuEventSynchronize", self.events[slot][1])
        self.must("cuEventElapsedTime", ctypes.byref(ms), *self.events[slot])
        return max(ms.value, 0), self.host[slot], self.mhz(slot)

    def mhz(self, slot):
        if not self.kernel:
            return 0
        size = ctypes.sizeof(self.table)
        self.must("cuMemcpyDtoH_v2", self.table, ctypes.c_uint64(self.stamps + slot * size), ctypes.c_size_t(size))
        table, clocks = self.table[:], []
        for i in range(0, 2 * _SMS, 2 * _SM_STEP):
            cycles, ns, cycles_after, ns_after = table[i], table[i + 1], table[2 * _SMS + i], table[2 * _SMS + i + 1]
            if ns and ns_after > ns and cycles_after > cycles:
                clocks.append((cycles_after - cycles) / (ns_after - ns) * 1e3)
        clocks.sort()
        return clocks[len(clocks) // 2] if clocks else 0

    def wait(self):
        self.must("cuStreamSynchronize", self.stream)


def _torch():
    """The module torch, if the program has imported it and uses its GPU."""
    torch = sys.modules.get("torch")
    try:
        return torch if torch and torch.cuda.is_initialized() else None
    except AttributeError:  # only partly imported
        return None


def _watch_waits(torch):
    """A call that waits for the device at its end, as scripts do that read the host's clock, can be primed if that wait is known."""
    plain = torch.cuda.synchronize
    if hasattr(plain, "flopwatch"):
        return

    def synchronize(*arguments, **words):
        clock = _Cuda.inside
        if clock is None or clock.thread != threading.get_ident():
            return plain(*arguments, **words)
        clock.begin_wait()
        return clock.end_wait(functools.partial(plain, *arguments, **words))

    synchronize.flopwatch = True
    torch.cuda.synchronize = synchronize


def _clock_for(device, stream):
    torch = _torch()
    if device is None:
        device = "cuda" if torch or ("libcuda.so.1" in _loaded() and _Cuda.context()) else "cpu"
    if device == "cpu":
        return _Host()
    if stream is None:
        stream = torch.cuda.current_stream().cuda_stream if torch else 0
    if torch:
        _watch_waits(torch)
    return _Cuda.of(stream)


def _loaded():
    """The loaded libraries of this process: a query of the driver would load it."""
    try:
        with open("/proc/self/maps") as maps:
            return maps.read()
    except OSError:
        return ""


# ---- results ----------------------------------------------------------------------------------------------------------------


def _flat(values):
    """The elements of a tensor, an array or a sequence as a flat list."""
    for name in ("detach", "cpu"):
        if hasattr(values, name):
            values = getattr(values, name)()
    if hasattr(values, "float") and hasattr(values, "flatten"):
        values = values.float().flatten()
    elif hasattr(values, "ravel"):
        values = values.ravel()
    return values.tolist() if hasattr(values, "tolist") else list(values)


def compare(got, wanted, relative=1e-5, absolute=0.0):
    """Description of the worst element, if its error exceeds `absolute` plus `relative` times the wanted value; else None."""
    torch = sys.modules.get("torch")
    if torch and isinstance(got, torch.Tensor) and isinstance(wanted, torch.Tensor) and got.shape == wanted.shape:
        a, b = got.double(), wanted.double()
        off = (a - b).abs() / (absolute + relative * b.abs())
        # equal values are correct, also with a tolerance of 0, and if infinite
        off = torch.nan_to_num(off, nan=math.inf).masked_fill(a == b, 0.0).flatten()
        at = int(off.argmax()) if off.numel() else 0
        worst, values = (float(off[at]) if off.numel() else 0, (float(got.flatten()[at]), float(wanted.flatten()[at])) if off.numel() else None)
        place = [int(i) for i in torch.unravel_index(torch.tensor(at), got.shape)] if worst > 1 else [at]
    else:
        a, b = _flat(got), _flat(wanted)
        if len(a) != len(b):
            return "%d elements instead of %d" % (len(a), len(b))
        worst, at, place = 0.0, 0, [0]
        for i, (x, y) in enumerate(zip(a, b)):
            allowed = absolute + relative * abs(y)
            off = 0.0 if x == y else abs(x - y) / allowed if allowed > 0 else math.inf
            off = math.inf if math.isnan(off) else off
            if off > worst:
                worst, at, place = off, i, [i]
        values = (a[at], b[at]) if a else None
    if worst <= 1:
        return None
    return "worst element [%s]: %.9g instead of %.9g, %.3g times what is allowed" % (",".join(map(str, place)), *values, worst)


def _hash(result):
    """Hash of the bits of a result: tensors, arrays, bytes, numbers, and sequences of them."""
    digest = hashlib.sha256()

    def add(value):
        if isinstance(value, (list, tuple)):
            for item in value:
                add(item)
            return
        torch = sys.modules.get("torch")
        if torch and isinstance(value, torch.Tensor):
            value = value.detach().contiguous().cpu().flatten().view(torch.uint8).numpy().tobytes()
        elif hasattr(value, "tobytes"):
            value = value.tobytes()
        digest.update(value if isinstance(value, (bytes, bytearray)) else repr(value).encode())

    add(result)
    return digest.hexdigest()[:32]


# ---- kernels ----------------------------------------------------------------------------------------------------------------


_KERNELS_MAX, _NAME_MAX, _CONFIG_MAX = 16, 120, 240
_DEBUG_LINE = re.compile(r"\s*(//.*|\.loc\b.*|\.file\b.*|\$L__(tmp|func_begin|func_end)\d+:\s*)?")


def _code_of(assembly):
    """Hash of PTX without comments, line numbers and debug sections; None without PTX."""
    text = assembly.get("ptx") if isinstance(assembly, dict) else None
    if not isinstance(text, str):
        return None
    lines, is_debug = [], False
    for line in text.splitlines():
        is_debug = is_debug or line.lstrip().startswith(".section\t.debug") or line.lstrip().startswith(".section .debug")
        if not is_debug and not _DEBUG_LINE.fullmatch(line):
            lines.append(line.strip())
        is_debug = is_debug and line.strip() != "}"
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _config_text(config):
    """A configuration of an autotuner as NAME=VALUE,NAME=VALUE."""
    values = dict(config.kwargs)
    for name in ("num_warps", "num_stages", "num_ctas", "maxnreg"):
        value = getattr(config, name, None)
        if value is not None and (name, value) != ("num_ctas", 1):
            values[name] = value
    return _clean(",".join("%s=%s" % (name, str(value).replace(",", ";")) for name, value in values.items()), _CONFIG_MAX)


def _source_of(function, configs):
    """Hash of a kernel's syntax tree and of the configurations that its autotuner chooses from; None without source."""
    try:
        tree = ast.dump(ast.parse(function.src))
    except (AttributeError, SyntaxError, TypeError, ValueError, RecursionError):
        return None
    return hashlib.sha256("\n".join([tree] + [_config_text(config) for config in configs]).encode()).hexdigest()


class _Launches:
    """The Triton kernels that are launched while it records. Recording wraps methods of Triton 3, so it is only done in untimed calls.

    An autotuner launches every configuration in its search, and then the chosen one: only that counts.
    """

    def __init__(self):
        self.found, self.last, self.undo = {}, None, []

    def begin(self):
        jit, tuner = sys.modules.get("triton.runtime.jit"), sys.modules.get("triton.runtime.autotuner")
        inductor = sys.modules.get("torch._inductor.runtime.triton_heuristics")
        for module, name, wrap in ((jit, "JITFunction", self.of_function), (tuner, "Autotuner", self.of_tuner),
                                   (inductor, "CachingAutotuner", self.of_inductor)):
            kind = getattr(module, name, None)
            plain = getattr(kind, "run", None)
            if callable(plain) and "run" in vars(kind):
                self.undo.append((kind, plain))
                kind.run = wrap(plain)

    def end(self):
        for kind, plain in self.undo:
            kind.run = plain
        self.undo = []

    def add(self, function, kernel, config=None, configs=()):
        self.last = function, kernel
        entry = self.found.setdefault((id(kernel), config and id(config)), [function, kernel, config, configs, 0])
        entry[4] += 1

    def of_function(self, plain):
        def run(function, *arguments, **words):
            kernel = plain(function, *arguments, **words)
            if kernel is not None and not words.get("warmup"):
                self.add(function, kernel)
            return kernel

        return run

    def of_tuner(self, plain):
        def run(tuner, *arguments, **words):
            outer, self.found, self.last = self.found, {}, None
            try:
                result = plain(tuner, *arguments, **words)
            finally:
                self.found = outer
            config = getattr(tuner, "best_config", None)
            if self.last and config is not None:
                self.add(*self.last, config, getattr(tuner, "configs", ()))
            return result

        return run

    def of_inductor(self, plain):
        def run(tuner, *arguments, **words):
            result = plain(tuner, *arguments, **words)
            launchers = getattr(tuner, "launchers", None)
            if launchers:
                self.add(getattr(tuner, "fn", None), launchers[0], getattr(launchers[0], "config", None), getattr(tuner, "configs", None) or ())
            return result

        return run

    def config(self):
        """The choices of the autotuners: of one kernel NAME=VALUE,..., of several each with its kernel; "" none."""
        chosen = [(_kernel_name(function, kernel), _config_text(config)) for function, kernel, config, _, _ in self.found.values()
                  if config is not None]
        chosen = list(dict.fromkeys(chosen))
        return chosen[0][1] if len(chosen) == 1 else " ".join("%s(%s)" % one for one in chosen)

    def lines(self):
        """One line of facts for each kernel, in the order of their first launches."""
        kernels = {}
        for function, kernel, config, configs, launches in self.found.values():
            words = _kernel_words(function, kernel, config, configs)
            kernels[words] = kernels.get(words, 0) + launches
        return ["fact kernel %s launches=%d of=%d" % (words, n, len(kernels)) for words, n in list(kernels.items())[:_KERNELS_MAX]]


def _kernel_name(function, kernel):
    name = getattr(getattr(kernel, "metadata", None), "name", None) or getattr(kernel, "name", None)
    return _clean(name or getattr(function, "__name__", None) or "kernel", _NAME_MAX)


def _kernel_words(function, kernel, config, configs):
    metadata = getattr(kernel, "metadata", None)
    binary = getattr(kernel, "bin", kernel)  # of a launcher of inductor
    words = [_kernel_name(function, kernel)]
    for word, owner, key in (("num_warps", metadata or config, "num_warps"), ("num_stages", metadata or config, "num_stages"),
                             ("shared", metadata or kernel, "shared"), ("registers", kernel, "n_regs"), ("spills", kernel, "n_spills")):
        value = getattr(owner, key, None)
        if isinstance(value, int) and value >= 0:
            words.append("%s=%d" % (word, value))
    for word, value in (("code", _code_of(getattr(binary, "asm", None))), ("source", _source_of(function, configs)),
                        ("config", _config_text(config) if config is not None else None)):
        if value:
            words.append("%s=%s" % (word, value))
    return " ".join(words)


# ---- cells ------------------------------------------------------------------------------------------------------------------


_KEY_MAX = 159


def _clean(key, size=_KEY_MAX):
    """A name without spaces and control characters, at most `size` bytes (None: of any length)."""
    text = "".join(c if c.isprintable() and not c.isspace() and c not in '"\\' else "_" for c in str(key))
    while size and len(text.encode()) > size:
        text = text[:-1]
    return text or "_"


def _cell_key(key):
    """The name of a cell. A longer one is cut, and ends with a hash of all of it: with a number, it would depend on the cells before it."""
    text = _clean(key, None)
    if len(text.encode()) <= _KEY_MAX:
        return text
    digest = "~" + hashlib.sha256(str(key).encode(errors="replace")).hexdigest()[:8]
    return _clean(text, _KEY_MAX - len(digest)) + digest


class _Spin:
    """How long the device is kept busy ahead of the timed calls of a cell: twice the time in which the host queued recent ones.

    Otherwise the device would wait for the host during the call, and the wait would count as time of the call. Some extra calls measure the host
    first. A call that waits for the device cannot be primed: its host time contains the spin.
    """

    def __init__(self):
        self.step, self.probes = 0, _PROBES  # extra calls so far, and in all
        self.why_not = ""  # why the calls are not primed
        self.host_us = 0.0  # until a recent call was queued
        self.factor = 1.0  # grows with late calls

    def is_probing(self):
        return self.step < self.probes

    def is_on(self):
        return self.step >= self.probes and not self.why_not

    def wanted_us(self):
        return min(2 * self.host_us * self.factor + 20, _SPIN_MAX_US)

    def probe_us(self):
        """Spin ahead of the next extra call."""
        times, more = ((0, 0), (0, 0), (2, 200), (4, 1000), (3, 2000))[min(self.step, 4)]
        return min(times * self.host_us + more, _SPIN_MAX_US)

    def note_probe(self, spin_us, host_us, all_s, waits_once=False):
        """Note an extra call: its spin, the host's time with it, and the time until the device was idle again. `waits_once`: it waited for the
        device, perhaps at its end."""
        self.step += 1
        if waits_once:
            self.probes = _PROBES + _WAIT_PROBES
        if self.step <= _PLAIN_PROBES:
            self.host_us = min(host_us, self.host_us or host_us)
            is_last = self.step == _PLAIN_PROBES or all_s > _PROBE_S
            if is_last and self.host_us > _HOST_MAX_US:
                self.end("the call keeps the host for more than %d ms" % (_HOST_MAX_US // 1000))
            elif all_s > _PROBE_S:
                self.end("")  # far longer than the host's time: it does not wait at its end
        elif host_us < 0.9 * spin_us:
            self.end("")  # queued while the device was still busy
        elif self.step == self.probes:
            self.end("the call waits for the device")

    def end(self, why_not):
        self.step, self.why_not = self.probes, why_not

    def note_call(self, host_us, is_late):
        self.host_us = max(host_us, 0.9 * self.host_us)
        if not is_late:
            self.factor = max(1.0, 0.95 * self.factor)
        elif self.wanted_us() < _SPIN_MAX_US:
            self.factor *= 2


_seen = {}


def _unique(key):
    """Append a number to the name of the second and further cells of the same name."""
    _seen[key] = _seen.get(key, 0) + 1
    return key if _seen[key] == 1 else _cell_key("%s#%d" % (key, _seen[key]))


class _Cell:
    """The current cell, and the context manager of its calls."""

    def __init__(self, key, flops, bytes, check, output, inputs, scrub, device, stream, config=None):
        self.key = _unique(_cell_key(key))
        self.flops, self.bytes, self.check, self.output, self.config = flops, bytes, check, output, config
        self.inputs, self.scrub, self.device, self.stream = inputs, scrub, device, stream
        self.clock = None
        self.warm = self.calls = self.made = self.issued = self.finished = 0
        self.is_sustained = self.is_over = self.is_single = False
        self.repeats = 0  # how often the program repeats a call in its present turn; 0: it does not choose
        self.is_cut = [False] * _SLOTS  # another task took the processor during the call
        self.is_early = [False] * _SLOTS  # the device began a primed call before it was queued: it has no time
        self.times = []
        self.untimed = 0  # calls without a valid time because of interruptions
        self.late = 0  # calls that began before they were queued, which have no time either
        self.host_us = []
        self.spin, self.least_us = _Spin(), 0
        self.ends_in_wait = False  # a call waits for the device once, at its end
        self.is_probe = self.is_primed = False  # the current call measures the host; the device spins ahead of it
        self.first_ms = self.spent = 0
        self.launches = None  # records the kernels of the first call
        self.fixed = 0  # number of calls if a profiler gives it
        self.interleave = _open()

    # -- number of calls

    def wants(self):
        """Whether to make another call."""
        if self.clock is None:
            self.fixed = 0 if self.interleave.link else max(0, int(os.environ.get(_CALLS) or 0))
            # a profiler counts kernels, so that a clock must launch none
            self.clock = _Host() if self.fixed else _clock_for(self.device, self.stream)
            _collect()
        if self.is_over:
            return False
        self.is_probe = self.made > 0 and self.warm == 0 and self.calls == 0 and self.clock.spins and self.spin.is_probing()
        if self.is_probe:
            return True
        if self.interleave.link:
            if self.warm == 0 and self.calls == 0:
                turn = self.interleave.request_turn(self.key)
                if turn is None:
                    return False
                self.warm, self.calls, self.least_us, self.is_single = turn
                self.is_sustained = self.calls > 1
                self.idle = self.clock.idle_us()
            return True
        if self.fixed:
            self.calls = 1
            self.is_over = self.made == self.fixed
            return not self.is_over
        done = len(self.times)
        if _ALONE_MAX in (done, self.untimed + self.late) or (done >= _ALONE_MIN and self.spent > _ALONE_S):
            return False
        self.warm = int(0 < self.made < 1000 and done == 0 and self.spent < _WARM_S)
        self.calls = 1
        return True

    # -- one call

    def __enter__(self):
        self.slot = self.issued % _SLOTS
        given = self.inputs[self.made % len(self.inputs)] if self.inputs else None
        if self.made == 0:
            torch = _torch()
            if torch:
                torch.cuda.reset_peak_memory_stats()
            if self.interleave.link:
                self.launches = _Launches()
                self.launches.begin()
        self.collects = gc.isenabled()
        gc.disable()
        self.clock.enter(self.slot, self.is_probe, self.ends_in_wait and self.warm == 0 and not self.is_probe)
        if self.is_probe:
            self.probe_us = self.spin.probe_us()
            self.entered = time.perf_counter_ns()
            if self.probe_us:
                self.clock.spin(self.probe_us)
        elif self.warm == 0:
            if self.scrub and not self.is_sustained:
                self.clock.scrub()
            self.switches = _switches(self.clock.who)
            self.is_primed = not self.is_sustained and self.clock.spins and self.spin.is_on()
            self.entered = time.perf_counter_ns()
            if self.is_primed:
                self.clock.spin(min(max(self.spin.wanted_us(), self.least_us), _SPIN_MAX_US))
            self.clock.start(self.slot)
        else:
            self.entered = time.perf_counter_ns()
        return given

    def __exit__(self, kind, problem, trace):
        queued = self.clock.leave()
        if self.launches:
            self.launches.end()
        if kind is None and self.warm == 0 and not self.is_probe:
            self.clock.stop(self.slot, queued)
        if self.collects:
            gc.enable()
        if kind is not None:
            if self.interleave.link and self.interleave.in_turn and issubclass(kind, Exception):
                self.interleave.fail(_problem_text(problem))
            return False
        self.made += 1
        if self.is_probe:
            self.clock.wait()
            self.ends_in_wait = self.clock.ended_in_wait()
            if self.ends_in_wait:
                queued = self.clock.waited_ns
            self.note_probe((queued - self.entered) * 1e-3, (time.perf_counter_ns() - self.entered) * 1e-9)
            return False
        if self.warm > 0:
            self.warm -= 1
            if not self.interleave.link:
                self.clock.wait()
                self.spent += (time.perf_counter_ns() - self.entered) * 1e-9
        else:
            self.is_cut[self.slot] = _switches(self.clock.who) != self.switches or self.clock.was_cut[self.slot]
            self.is_early[self.slot] = self.is_primed and self.clock.has_begun[self.slot]
            if self.is_primed and not self.is_cut[self.slot]:
                self.spin.note_call((queued - self.entered) * 1e-3, self.is_early[self.slot])
            self.issued += 1
            self.calls -= 1
            while self.issued - self.finished > (_AHEAD if self.calls > 0 else 0):
                self.finish()
        if self.made == 1:
            self.clock.wait()
            self.first_ms = (time.perf_counter_ns() - self.entered) * 1e-6
            if not self.interleave.link:
                self.times, self.host_us, self.untimed, self.spent = [], [], 0, 0  # a cold call: reported separately
            self.check_result()
        if self.interleave.link and self.warm == 0 and self.calls == 0 and not (self.clock.spins and self.spin.is_probing()):
            self.interleave.in_turn = False
        return False

    def note_probe(self, host_us, all_s):
        """Note a call that measured the host; the last one decides whether the calls are primed."""
        self.spin.note_probe(self.probe_us, host_us, all_s, self.clock.n_waits == 1)
        if self.spin.is_probing():
            return
        if self.interleave.link:
            if self.spin.why_not and self.interleave.is_list:
                self.interleave.send("fact unprimed " + self.spin.why_not)
            self.interleave.in_turn = False
        elif self.spin.why_not:
            print("%s: not primed: %s" % (self.key, self.spin.why_not), file=sys.stderr)

    def finish(self):
        slot = self.finished % _SLOTS
        self.finished += 1
        ms, host_us, mhz = self.clock.finish(slot)
        ms /= self.repeats or 1
        is_late = self.is_early[slot] and not self.is_cut[slot]
        if self.is_early[slot]:
            ms = mhz = 0
        if is_late:
            self.late += 1
        elif ms > 0:
            self.times.append(ms)
            self.host_us.append(host_us)
        else:  # without a time the call is not counted
            self.untimed += 1
            self.is_cut[slot] = True
        self.spent += ms * (self.repeats or 1) * 1e-3
        if not self.interleave.link:
            return
        line = "done %.9g" % ms
        facts = (("late", int(is_late)), ("host_us", host_us), ("mhz", mhz), ("idle_us", self.idle), ("cut", int(self.is_cut[slot])),
            ("spin_us", self.spin.wanted_us() if self.is_primed else 0), ("repeats", self.repeats))
        for name, value in facts:
            if value:
                line += " %s=%.7g" % (name, value)
        self.interleave.send(line)

    def check_result(self):
        """Check the result after the first call, and report facts about the cell."""
        wrong = None
        if self.check:
            try:
                wrong = self.check()
            except AssertionError as problem:
                wrong = str(problem) or "an assertion of its check failed"
        torch = _torch()
        memory = torch.cuda.max_memory_allocated() if torch else 0
        if not self.interleave.link:
            self.memory = memory
            if wrong:
                print(json.dumps({"cell": self.key, "error": _line(wrong)}), file=_rows, flush=True)
                self.is_over = True
            return
        if self.interleave.is_list:
            facts = (("flops", self.flops), ("bytes", self.bytes), ("first_ms", self.first_ms), ("memory_bytes", memory))
            self.interleave.send(*("fact %s %.9g" % fact for fact in facts if fact[1]))
            if self.output and not wrong:
                self.interleave.send("fact output " + _hash(self.output()))
        self.report_kernels()
        if wrong:
            self.interleave.fail(wrong, "wrong")
            self.warm = self.calls = 0
            self.spin.end("")

    def report_kernels(self):
        """Report what the first call launched. A later Triton may have other names: then nothing is reported."""
        try:
            lines = self.launches.lines()
            config = self.config_text() if self.interleave.is_list else ""
            if config:
                lines.insert(0, "fact config " + config)
        except Exception as problem:
            print("flopwatch: the kernels of %s are not reported: %s" % (self.key, problem), file=sys.stderr)
            lines = []
        self.launches = None
        if lines:
            self.interleave.send(*lines)

    def config_text(self):
        """The configuration that the program reports, else the choices of Triton's autotuners; "" none."""
        config = self.config() if callable(self.config) else self.config
        if config is None:
            config = self.launches.config()
        if isinstance(config, dict):
            config = " ".join("%s=%s" % one for one in config.items())
        return "".join(c if " " <= c <= "~" else " " for c in str(config)).strip()[:_KEY_MAX]

    # -- program run alone

    def print_row(self):
        """Print the JSON line, and a row of the table."""
        if self.interleave.link or self.is_over:
            return
        if not self.times:
            if self.untimed or self.late:
                why = "began before they were queued" if self.late else "were interrupted"
                print(json.dumps({"cell": self.key, "error": "all of its calls %s, so none has a time" % why}), file=_rows, flush=True)
            return
        row = {"cell": self.key, "ms": self.times}
        if self.clock.spins:
            row.update(host_us=sorted(self.host_us)[len(self.host_us) // 2], late=self.late, primed=self.spin.is_on())
        ordered = sorted(self.times)
        n = len(ordered)
        ms = ordered[n // 2]
        if self.flops:
            row["tflops"] = self.flops / (ms * 1e9)
        print(json.dumps(row, separators=(",", ":")), file=_rows, flush=True)
        if not _Cell.rows:
            print("%-40s %10s %21s %6s %10s %10s %10s" % ("cell", "ms", "10 % .. 90 %", "calls", "TFLOP/s", "GB/s", "first ms"), file=sys.stderr)
        _Cell.rows += 1
        figures = ["%.4g" % (v / (ms * scale)) if v else "-" for v, scale in ((self.flops, 1e9), (self.bytes, 1e6))]
        spread = "%.4f .. %9.4f" % (ordered[n // 10], ordered[n - 1 - n // 10])
        print("%-40s %10.4f %21s %6d %10s %10s %10.4g" % (self.key, ms, spread, n, *figures, self.first_ms), file=sys.stderr)

    rows = 0


def cell(key, flops=None, bytes=None, check=None, output=None, inputs=None, scrub=True, device=None, stream=None, config=None):
    """Iterate over the calls of a cell: see the top of this file."""
    it = _Cell(key, flops, bytes, check, output, inputs, scrub, device, stream, config)
    while it.wants():
        made = it.made
        yield it
        if it.made == made:
            raise RuntimeError("flopwatch: the loop over cell %r made no call: put the work into `with call:`" % key)
    it.print_row()


# ---- scripts that use other timers ---------------------------------------------------------------------------------------------


def _times(key, fn, before=None, scrub=True):
    """Time `fn` as a cell. Returns the times of this process, in ms."""
    it = _Cell(key, None, None, None, None, None, scrub, None, None)
    while it.wants():
        if before:
            before()
        with it:
            fn()
    it.print_row()
    return it.times or [math.nan]


def _quantile(ordered, q):
    at = q * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def _summary(times, quantiles, mode):
    """The return value of do_bench."""
    ordered = sorted(times)
    if quantiles is not None:
        found = [_quantile(ordered, q) for q in quantiles]
        return found[0] if len(found) == 1 else found
    if mode == "all":
        return list(times)
    return {"min": ordered[0], "max": ordered[-1], "median": _quantile(ordered, 0.5)}.get(mode, sum(ordered) / len(ordered))


_context = []  # names of the benchmarks that are running


def _describe(value):
    name = getattr(value, "__name__", None)
    text = str(value) if name is None else name
    return text.replace("torch.", "")


_LIBRARIES = ("triton", "torch", "flopwatch")
_STANDARD = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_VALUE_MAX = 40  # a longer text is a description, and no argument of a benchmark


def _is_own(frame):
    """Whether a frame is one of the script or of a module next to it, not of a library."""
    path = frame.f_code.co_filename
    library = frame.f_globals.get("__name__", "").partition(".")[0] in _LIBRARIES
    return not (library or path.startswith(("<", _STANDARD)) or "site-packages" in path or "dist-packages" in path)


def _own_frames(frame):
    """The frames of the script's own functions down to `frame`, outermost first, without its function `main`; and its module's frame."""
    frames = []
    while frame and not (frame.f_code.co_name == "<module>" and frame.f_globals.get("__name__") == "__main__"):
        if _is_own(frame):
            frames.insert(0, frame)
        frame = frame.f_back
    functions = [each for each in frames if not each.f_code.co_name.startswith("<")]
    return [each for each in functions if each.f_code.co_name != "main"] or functions, frames, frame


def _fields(value):
    """Names and values of a container of arguments; None: it is none."""
    if isinstance(value, dict):
        return [(name, field) for name, field in value.items() if isinstance(name, str)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [(field.name, getattr(value, field.name, None)) for field in dataclasses.fields(value)]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return list(zip(value._fields, value))
    return list(vars(value).items()) if type(value).__name__ in ("SimpleNamespace", "Namespace") else None


def _add_word(words, name, value, depth=2):
    """Append NAME=VALUE if the value has a simple type, and those of the fields of a container."""
    if isinstance(value, (bool, int, float, str)) or type(value).__name__ == "dtype":
        text = _describe(value)
        # a path differs between two checkouts
        if not name.startswith("_") and len(text) <= _VALUE_MAX and not os.path.isabs(text) and "%s=%s" % (name, text) not in words:
            words.append("%s=%s" % (name, text))
    elif depth > 0:
        for field, inner in _fields(value) or ():
            _add_word(words, field, inner, depth - 1)


def _arguments(frame):
    """The arguments of a function as words."""
    code, words = frame.f_code, []
    n = code.co_argcount + code.co_kwonlyargcount
    n_all = n + bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    for name in code.co_varnames[:n_all]:
        _add_word(words, name, frame.f_locals.get(name))
    return words


@functools.lru_cache(64)
def _loops_of(path):
    """The loops of a source file: first and last line, and names of the variables."""
    try:
        with open(path, "rb") as source:
            tree = ast.parse(source.read())
    except (OSError, SyntaxError, ValueError):
        return []
    found = []
    for node in ast.walk(tree):
        loops = [node] if isinstance(node, (ast.For, ast.AsyncFor)) else getattr(node, "generators", ())
        names = [target.id for loop in loops for target in ast.walk(loop.target) if isinstance(target, ast.Name)]
        if names:
            found.append((node.lineno, node.end_lineno or 0, names))
    return found


def _loops(frame):
    """The variables of the loops around the current line of a frame as words."""
    words = []
    for first, last, names in _loops_of(frame.f_code.co_filename):
        for name in names if first <= frame.f_lineno <= last else ():
            if name in frame.f_locals:
                _add_word(words, name, frame.f_locals[name])
    return words


def _bounded(lead, groups, frames):
    """A name of at most _KEY_MAX bytes, from the words of each function, outermost first.

    If it would be longer, it has the variables of the loops around the calls, which distinguish them, and of the other words those that fit,
    the innermost function's first; a hash distinguishes names that differ only in what is omitted.
    """

    def text_of(words):
        return _clean("/".join(dict.fromkeys([lead] + words)), None)

    words = [word for group in groups for word in group]
    whole = text_of(words)
    if len(whole.encode()) <= _KEY_MAX:
        return whole
    digest = "~" + hashlib.sha256(whole.encode()).hexdigest()[:8]
    loops, chosen = list(dict.fromkeys(word for frame in frames for word in _loops(frame))), []
    for word in dict.fromkeys(loops + [word for group in reversed(groups) for word in group]):
        if len(text_of(chosen + [word]).encode()) <= _KEY_MAX - len(digest):
            chosen.append(word)
    text = _clean(text_of(chosen), _KEY_MAX - len(digest))
    # without the hash, the name of a cell would depend on the order of the calls
    return text if loops and set(loops) <= set(chosen) and text not in _seen else text + digest


def _name_of_caller():
    """Name for a call without one: the function of the script, and the arguments of simple types of all its functions that are running.

    The variables of loops around the calls are added only if the name would not be unique otherwise.
    """
    functions, frames, module = _own_frames(sys._getframe(2))
    script = module.f_code.co_filename if module else sys._getframe(2).f_code.co_filename
    codes = [each.f_code for each in reversed(functions) if each.f_code.co_filename == script]
    if _context:
        lead = _context[-1]
        if _cell_key(lead) not in _seen:
            return lead
    elif codes:
        lead = getattr(codes[0], "co_qualname", codes[0].co_name).replace("<locals>.", "")
    else:
        lead = os.path.basename(script).rsplit(".", 1)[0]
    groups, frames = [_arguments(frame) for frame in functions], ([module] if module else []) + frames
    if _bounded(lead, groups, frames) in _seen:
        groups += [_loops(frame) for frame in frames]
    return _bounded(lead, groups, frames)


def _asked_by(prefix):
    """Whether a library of that name is the caller: the search of a compiler is not a benchmark of the script."""
    return (sys._getframe(2).f_globals.get("__name__", "") + ".").startswith(prefix)


def _patch_triton(testing):
    plain, plain_graph, mark = testing.do_bench, getattr(testing, "do_bench_cudagraph", None), getattr(testing, "Mark", None)

    def do_bench(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean", **others):
        if _asked_by("triton.") or _asked_by("torch."):
            return plain(fn, warmup=warmup, rep=rep, grad_to_none=grad_to_none, quantiles=quantiles, return_mode=return_mode, **others)

        def forget():
            for x in grad_to_none or ():
                x.grad = None

        return _summary(_times(_name_of_caller(), fn, forget), quantiles, return_mode)

    def do_bench_cudagraph(fn, rep=20, grad_to_none=None, quantiles=None, return_mode="mean", **others):
        if _asked_by("triton.") or _asked_by("torch."):
            return plain_graph(fn, rep=rep, grad_to_none=grad_to_none, quantiles=quantiles, return_mode=return_mode, **others)
        key = _name_of_caller()
        import torch

        with torch.cuda.stream(torch.cuda.Stream()):
            graph = None

            def replay():
                nonlocal graph
                if graph is None:  # during its turn, like everything else of a first call
                    fn()
                    torch.cuda.synchronize()
                    for x in grad_to_none or ():
                        x.detach_()
                        x.requires_grad_(True)
                        x.grad = None
                    graph = torch.cuda.CUDAGraph()
                    with torch.cuda.graph(graph, stream=torch.cuda.current_stream()):
                        fn()
                graph.replay()

            return _summary(_times(key, replay, scrub=False), quantiles, return_mode)

    testing.do_bench = do_bench
    if plain_graph:
        testing.do_bench_cudagraph = do_bench_cudagraph
    if not mark:
        return
    begin = mark.__init__

    def named(self, fn, benchmarks):
        known = benchmarks if isinstance(benchmarks, (list, tuple)) else [benchmarks]

        def plot_of(words):
            fits = [b for b in known if b.line_arg in words and all(x in words for x in b.x_names)]
            # the benchmarks of a list usually differ in their args, of which the values are passed unchanged
            exact = (b for b in fits if all(word in words and words[word] is value for word, value in (b.args or {}).items()))
            return next(exact, fits[0] if fits else None)

        def run(*arguments, **words):
            plot = plot_of(words)
            name = [plot.plot_name or fn.__name__] if plot else [fn.__name__]
            for word in (list(plot.x_names) + [plot.line_arg]) if plot else words:
                name.append("%s=%s" % (word, _describe(words[word])))
            _context.append("/".join(name))
            try:
                return fn(*arguments, **words)
            finally:
                _context.pop()

        begin(self, run, benchmarks)

    mark.__init__ = named


def _patch_timer(module):
    timer = module.Timer

    def unwrap(value):
        return value.value if type(value).__name__ == "CopyIfCallgrind" else value

    def measure(plain):
        def by_cell(self, *arguments, **words):
            from torch.utils.benchmark.utils import common

            spec = self._task_spec
            if getattr(getattr(self, "_language", None), "name", "PYTHON") != "PYTHON":
                return plain(self, *arguments, **words)
            name = [word for word in (spec.label, spec.sub_label, spec.description, spec.env) if word] or [spec.stmt]
            if spec.num_threads != 1:
                name.append("threads=%d" % spec.num_threads)
            space = {key: unwrap(value) for key, value in (getattr(self, "_globals", None) or {}).items()}
            with common.set_torch_threads(spec.num_threads):
                exec(compile(spec.setup, "<setup>", "exec"), space)
                code = compile(spec.stmt, "<stmt>", "exec")
                times = _times("/".join(name), lambda: exec(code, space))
            if math.isnan(times[0]):  # a cell without turns, which is decided; a Measurement of NaN cannot be printed
                print("flopwatch: %s is not timed in this run: its Measurement of 1 ms is a placeholder" % "/".join(name), file=sys.stderr)
                times = [1.0]
            return common.Measurement(number_per_run=1, raw_times=[ms * 1e-3 for ms in times], task_spec=spec)

        return by_cell

    for way in ("timeit", "autorange", "blocked_autorange", "adaptive_autorange"):
        if hasattr(timer, way):
            setattr(timer, way, measure(getattr(timer, way)))


def _patch_cuda(module):
    """Fork at the latest when the script uses the device for the first time."""
    plain, parent = module._lazy_init, os.getpid()

    def lazy_init():
        if os.getpid() == parent and not module.is_initialized():
            _open()
        plain()

    for name, other in list(sys.modules.items()):
        if name.partition(".")[0] == "torch" and getattr(other, "_lazy_init", None) is plain:
            other._lazy_init = lazy_init


_PATCHES = {"triton.testing": _patch_triton, "torch.utils.benchmark.utils.timer": _patch_timer}
_FORK_PATCHES = {"torch.cuda": _patch_cuda, "numpy.random": _keep_numpy_state}


class _Finder(importlib.abc.MetaPathFinder):
    """Finds modules as usual, and patches those of a table after they are loaded."""

    def __init__(self, patches):
        self._patches = patches
        sys.meta_path.insert(0, self)
        for name in patches:
            if name in sys.modules:
                patches[name](sys.modules[name])

    def find_spec(self, name, path, target=None):
        if name not in self._patches:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def load_and_change(module):
            load(module)
            self._patches[name](module)

        spec.loader.exec_module = load_and_change
        return spec


if os.environ.get("FLOPWATCH_FORK") and __name__ != "__main__":
    _Finder(_FORK_PATCHES)


# ---- pytest -----------------------------------------------------------------------------------------------------------------


_LISTED_CALLS = 2  # of a test, while the cells are listed: fewer than flopwatch grants, so that a failure of the test can follow
_REPEATED_MS, _REPEATS_MAX = 1, 1 << 20  # shorter functions are called several times, so that the clock's resolution does not matter
_ROUNDS_MAX = 2000  # of a test; fast functions have so many that a few tests would fill a file of the largest permitted size


class _Tests:
    """Makes cells of the tests with the fixture of pytest-benchmark. Without flopwatch it writes those that failed to the JSON of
    pytest-benchmark; then they are rows, and not a failure of all tests. Of many rounds each n-th is written."""

    def __init__(self):
        self._session, self._timed, self._failed, self._is_other = None, set(), {}, False
        self._cells = {}  # by the test's id

    def replace_timer(self, fixture):
        """Replace the two ways of a fixture to time a function."""
        plain, plain_pedantic = fixture._raw, fixture._raw_pedantic

        def raw(fixed, function, *args, **kwargs):
            if fixed.disabled:
                return plain(fixed, function, *args, **kwargs)
            return self.time_calls(fixed.fullname, lambda: (args, kwargs), function, 0)

        def raw_pedantic(fixed, target, args=(), kwargs=None, setup=None, rounds=1, warmup_rounds=0, iterations=1):
            if fixed.disabled:
                return plain_pedantic(fixed, target, args, kwargs, setup, rounds, warmup_rounds, iterations)
            return self.time_calls(fixed.fullname, lambda: setup and setup() or (args, kwargs or {}), target, iterations)

        fixture._raw, fixture._raw_pedantic = raw, raw_pedantic

    def add_cell(self, key):
        it = self._cells[key] = _Cell(key, None, None, None, None, None, True, None, None)
        return it

    def time_calls(self, key, make_arguments, function, iterations):
        """Time a function as a cell: `iterations` calls at a time, 0: as many as take _REPEATED_MS. Returns the result of the last call."""
        it = self.add_cell(key)
        repeats, result = 1, None
        limit = _LISTED_CALLS if it.interleave.is_list else math.inf
        while (it.interleave.in_turn or it.issued < limit) and it.wants():
            args, kwargs = make_arguments()
            # the first call may be cold, and calls on a device need no repetition
            it.repeats = iterations or (0 if it.clock.spins else 1 if it.is_single or it.made == 0 else repeats)
            with it:
                for _ in range(it.repeats or 1):
                    result = function(*args, **kwargs)
            if it.calls == 0 and it.times and it.times[-1] * repeats < _REPEATED_MS / 2:
                repeats = min(math.ceil(_REPEATED_MS / it.times[-1]), _REPEATS_MAX)
        if it.made == 0:  # a cell that is not measured: the test checks the result
            args, kwargs = make_arguments()
            result = function(*args, **kwargs)
        return result

    def report_failure(self, key, why):
        """Report a test that failed before or after its calls, while the cells are listed."""
        link = _open()
        if not link.is_list or link.in_turn:
            return
        it = self._cells.get(key) or self.add_cell(key)
        if link.request_turn(it.key):
            link.fail(why)

    def pytest_sessionstart(self, session):
        self._session = session

    def pytest_itemcollected(self, item):
        if "benchmark" in getattr(item, "fixturenames", ()):
            self._timed.add(item.nodeid)

    def pytest_runtest_logreport(self, report):
        if not report.failed:
            return
        if report.nodeid not in self._timed:
            self._is_other = True
            return
        crash = getattr(report.longrepr, "reprcrash", None)
        lines = (crash.message if crash else str(report.longrepr)).strip().splitlines() or ["failed"]
        if report.nodeid not in self._failed:
            self._failed[report.nodeid] = ("" if report.when == "call" else report.when + ": ") + lines[0]
            self.report_failure(report.nodeid, self._failed[report.nodeid])

    def pytest_benchmark_update_json(self, config, benchmarks, output_json):
        rows = [row for row in output_json["benchmarks"] if row["fullname"] not in self._failed]
        for row in rows:
            times = row["stats"].get("data", ())
            if len(times) > _ROUNDS_MAX:
                row["stats"]["data"] = times[::-(-len(times) // _ROUNDS_MAX)]
        output_json["benchmarks"] = rows + [{"fullname": name, "stats": {}, "error": why} for name, why in self._failed.items()]
        self.forgive()

    def pytest_sessionfinish(self):
        if self._cells:
            self.forgive()

    def forgive(self):
        """End with status 0 if only tests failed that are reported."""
        if self._failed and not self._is_other and self._session.exitstatus == 1:
            self._session.exitstatus = 0


def pytest_configure(config):
    """With `pytest -p flopwatch`."""
    if not config.pluginmanager.hasplugin("benchmark"):
        return
    tests = _Tests()
    config.pluginmanager.register(tests)
    if _open().link:
        from pytest_benchmark.fixture import BenchmarkFixture

        tests.replace_timer(BenchmarkFixture)


def main(words):
    """Run a script; its benchmarks become cells."""
    global _rows
    import runpy

    if not words or words[0] in ("-h", "--help"):
        print("usage: python3 -m flopwatch SCRIPT [ARGUMENTS]\n\nWhat SCRIPT times with triton.testing or torch.utils.benchmark becomes cells.\n"
              "The output of the program goes to standard error, the JSON lines to standard output.")
        return 0 if words else 2
    _Finder(_PATCHES)
    sys.argv = list(words)
    sys.path[0] = os.path.dirname(os.path.abspath(words[0]))
    _rows, sys.stdout = sys.stdout, sys.stderr
    runpy.run_path(words[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    import flopwatch

    sys.exit(flopwatch.main(sys.argv[1:]))
