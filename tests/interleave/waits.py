"""Calls that wait for the device: at their end, in the middle, and before more work. PyTorch is a stand-in on a simulated device."""
import ctypes
import sys
import time
import types

driver = ctypes.CDLL("libcuda.so.1")
torch = types.ModuleType("torch")
torch.cuda = sys.modules["torch.cuda"] = types.ModuleType("torch.cuda")
torch.cuda.is_initialized = lambda: True
torch.cuda.reset_peak_memory_stats = lambda: None
torch.cuda.max_memory_allocated = lambda: 0
torch.cuda.current_stream = lambda: types.SimpleNamespace(cuda_stream=0)
torch.cuda.synchronize = lambda: driver.cuStreamSynchronize(None)
sys.modules["torch"] = torch

import flopwatch


def queue_work():
    end = time.perf_counter_ns() + 300000
    while time.perf_counter_ns() < end:
        pass
    driver.fake_cuda_work(50)


def ends():
    queue_work()
    torch.cuda.synchronize()


def twice():
    ends()
    ends()


def goes_on():
    ends()
    driver.fake_cuda_work(20)


for function in queue_work, ends, twice, goes_on:
    for call in flopwatch.cell(function.__name__, device="cuda"):
        with call:
            function()
