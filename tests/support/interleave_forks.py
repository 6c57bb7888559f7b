"""Offer a program to fork its runs, as a worker does, request RUNS runs of two calls a cell, and print its lines.

usage: interleave_forks.py RUNS PROGRAM..."""
import os
import socket
import subprocess
import sys

runs = int(sys.argv[1])
ours, theirs = socket.socketpair()
env = dict(os.environ, FLOPWATCH_INTERLEAVE=str(theirs.fileno()), FLOPWATCH_FORK="1")
child = subprocess.Popen(sys.argv[2:], env=env, pass_fds=[theirs.fileno()], stdout=sys.stderr)
theirs.close()
link = ours.makefile("rw", newline="\n")
given = {}
for line in link:
    print(line, end="", flush=True)
    if line.startswith("flopwatch "):
        given = {}
        link.write("welcome 1 pairs\n")
    elif line.startswith("turn "):
        given[line] = given.get(line, 0) + 1
        link.write("go 0 1\n" if given[line] <= 2 else "next\n")
    elif line.startswith(("parent", "ended ")):
        if runs == 0:
            break
        runs -= 1
        link.write("next\nfork\n")  # the first line was sent to a child that has ended
    link.flush()
ours.shutdown(socket.SHUT_RDWR)
child.wait()
