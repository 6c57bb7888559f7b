"""collects.py - collects its garbage in every eighth call, which takes longer than the call does."""
import gc

import flopwatch

gc.disable()
keep = [[i] for i in range(30000)]
calls = 0

for call in flopwatch.cell("collects"):
    with call:
        calls += 1
        sum(i * i for i in range(10000))
        if calls % 8 == 0:
            gc.collect()
