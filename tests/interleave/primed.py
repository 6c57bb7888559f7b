"""primed.py - calls on a device that the host queues slowly, on the simulated driver: see primed.c."""
import ctypes
import time

import flopwatch

driver = ctypes.CDLL("libcuda.so.1")


def keep_host(us):
    until = time.perf_counter_ns() + us * 1000
    while time.perf_counter_ns() < until:
        pass


def a():
    driver.fake_cuda_work(25)
    keep_host(400)
    driver.fake_cuda_work(25)


def waits():
    driver.fake_cuda_work(50)
    driver.cuStreamSynchronize(None)
    keep_host(100)


def long():
    keep_host(9000)
    driver.fake_cuda_work(50)


def grows():
    grows.n += 1
    keep_host(300 if grows.n <= 5 else 1500)
    driver.fake_cuda_work(50)


grows.n = 0
for work in a, waits, long, grows:
    for call in flopwatch.cell(work.__name__, device="cuda"):
        with call:
            work()
