"""sums.py - a benchmark of two cells, with the kit."""
import hashlib
import os
import zlib

import flopwatch

N = 200000
data = bytes(range(256)) * 1000
total = 0


def check():
    wanted = zlib.crc32(data[:N])
    return flopwatch.compare([total + bool(os.environ.get("WRONG"))], [wanted], relative=0, absolute=0.02)


for call in flopwatch.cell("sum/200000", bytes=N, check=check, output=lambda: total):
    with call:
        zlib.crc32(data[: int(N * 0)])
        total = zlib.crc32(data[:N])

for call in flopwatch.cell("hash/200000", bytes=N, inputs=[data[:N], data[1 : N + 1]]):
    with call as one:
        hashlib.sha256(one)
