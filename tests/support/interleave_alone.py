"""Give a program turns as a worker that lists its cells, and print its lines; with SINGLE, turns of one call are made once; with
SKIP, no turns.

usage: interleave_alone.py PROGRAM..."""
import os
import socket
import subprocess
import sys

ours, theirs = socket.socketpair()
env = dict(os.environ, FLOPWATCH_INTERLEAVE=str(theirs.fileno()))
child = subprocess.Popen(sys.argv[1:], env=env, pass_fds=[theirs.fileno()], stdout=sys.stderr)
theirs.close()
link = ours.makefile("rw", newline="\n")
interleave = {}
single = " repeats=1" if "SINGLE" in os.environ else ""
for line in link:
    print(line, end="")
    if line.startswith("flopwatch "):
        link.write("welcome 1 list\n")
    elif line.startswith("turn "):
        interleave[line] = interleave.get(line, 0) + 1
        link.write("next\n" if "SKIP" in os.environ else {1: "go 0 1\n", 2: f"go 1 1{single}\n", 3: "go 0 8\n"}.get(interleave[line], "next\n"))
    link.flush()
print("exit", child.wait())
