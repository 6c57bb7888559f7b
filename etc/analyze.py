#!/usr/bin/env python3
"""gcc -fanalyzer over the sources whose path contains TEXT, one at a time, with the options of compile_commands.json: analyze.py [TEXT].

A line of etc/analyze.txt suppresses the findings of one kind in a file: FOLDER/FILE.c WARNING REASON. A line that suppresses nothing in a
whole run is a mistake.
Exit status 1: findings.
"""
import json
import os
import re
import subprocess
import sys

FINDING = re.compile(r"^(\S+?:\d+:\d+|cc1): warning: .*\[-Wanalyzer-([\w-]+)\]")
HEADING = re.compile(r"^(?:\S+: )?In function ")
LEFT_OUT = {"-Werror", "-MMD", "-MP", "-fstack-protector-strong"}


def read_suppressions(path):
    with open(path) as file:
        lines = [line.split(None, 2) for line in file if line.strip() and not line.startswith("#")]
    return {(words[0], words[1]) for words in lines if len(words) == 3}


def analyze(entry):
    """The output of gcc: of each finding a line and its notes."""
    words = [word for word in entry["arguments"] if word not in LEFT_OUT]
    words[words.index("-o") + 1] = os.devnull
    done = subprocess.run([*words, "-fanalyzer", "-fdiagnostics-plain-output", "-Wno-error"], cwd=entry["directory"], text=True,
                          stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"{entry['file']}: gcc ended with {done.returncode}\n{done.stderr}")
    return done.stderr


def main():
    text = sys.argv[1] if len(sys.argv) > 1 else ""
    here = os.path.dirname(os.path.abspath(__file__))
    suppressed = read_suppressions(os.path.join(here, "analyze.txt"))
    with open(os.path.join(here, "..", "compile_commands.json")) as file:
        entries = [entry for entry in json.load(file) if text in entry["file"] and os.path.exists(entry["file"])]
    used, n = set(), 0
    os.nice(10)
    for entry in entries:
        shows = True
        for line in analyze(entry).splitlines():
            found = FINDING.match(line)
            if found:
                key = (entry["file"], found[2])
                shows = key not in suppressed
                used.add(key)
                n += shows
            if shows and not HEADING.match(line):
                print(line, flush=True)
    unused = suppressed - used if not text else set()
    for file, warning in sorted(unused):
        print(f"etc/analyze.txt: {file} {warning} suppresses nothing")
    print(f"{len(entries)} sources, {n} findings")
    return n > 0 or bool(unused)


sys.exit(main())
