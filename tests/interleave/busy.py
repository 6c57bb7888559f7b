"""Calls of some us while other processes use the same core, each compared with its processor time: see busy.c."""
import io
import resource
import sys
import time

import flopwatch

interrupted = calls = small = cell = 0
out, sys.stdout, sys.stderr = sys.stdout, io.StringIO(), io.StringIO()
while interrupted < int(sys.argv[1]):
    cell += 1
    cpu_ns, n = 0, 0
    for call in flopwatch.cell("cell/%d" % cell):
        if len(call.times) == n + 1:
            calls += 1
            small += call.times[n] < 0.5e-6 * cpu_ns
        n = len(call.times)
        with call:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw
            began = time.thread_time_ns()
            sum(range(400))
            cpu_ns = time.thread_time_ns() - began
            interrupted += resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw != before
print("calls %d interrupted %d small %d" % (calls, interrupted, small), file=out)
