#!/usr/bin/env python3
"""compile_commands.json for clangd and clang-tidy, from the commands of make: make -Bn V=1 all | compile-commands.py >compile_commands.json"""
import json
import os
import shlex
import sys

entries = {}
for line in sys.stdin:
    try:
        words = shlex.split(line)
    except ValueError:
        continue  # part of a multi-line shell command
    files = [w for w in words if w.endswith(".c")]
    if "-c" in words and len(files) == 1 and "-o" in words:
        entries[files[0]] = {"directory": os.getcwd(), "file": files[0], "arguments": words[words.index("-std=c17") - 1:] if "-std=c17" in words else words}
json.dump([entries[name] for name in sorted(entries)], sys.stdout, indent=1)
