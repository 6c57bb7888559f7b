"""Two cells of fixed work in Python's C libraries, with the kit. The file `share` in its folder has the share of additional work, e.g. 0.02.

The processes of such a program run at one speed, to 0.3 %; those of spin.py, which the interpreter runs itself, do not.
"""
import hashlib
import random
import zlib

import flopwatch

share = float(open("share").read())
block = random.Random(1).randbytes(int(400000 * (1 + share)))
page = random.Random(2).randbytes(int(30000 * (1 + share)))
for call in flopwatch.cell("sha256", flops=len(block)):
    with call:
        hashlib.sha256(block).digest()
for call in flopwatch.cell("compress", flops=len(page)):
    with call:
        zlib.compress(page)
