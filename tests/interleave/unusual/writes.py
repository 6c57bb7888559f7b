"""writes.py - a program that is timed as a whole: it starts another one and prints its time, with much other output on standard error."""
import json
import subprocess
import sys
import time

times = []
for _ in range(8):
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "sum(range(100000))"], check=True)
    times.append(1e3 * (time.perf_counter() - began))
print("note: " + "x" * 100000, file=sys.stderr)
print(json.dumps({"cell": "writes", "ms": times}))
