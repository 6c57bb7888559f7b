#!/usr/bin/env python3
"""A stand-in for nsys, for tests without a GPU: `profile` runs the program of its command line and writes what it printed as the report, and
`stats` prints how many lines that was. Nothing is traced. FAKE_NSYS_FAILS: both end with status 1.
"""
import os
import subprocess
import sys


def profile(words):
    options = {}
    while words[0].startswith("-"):
        if words[0].startswith("--"):
            name, value = words[0].split("=")
            options[name], words = value, words[1:]
        else:
            options[words[0]], words = words[1], words[2:]
    assert options.pop("--trace") == "cuda,nvtx" and options.pop("--force-overwrite") == "true", options
    result = subprocess.run(words, stdout=subprocess.PIPE, check=False)
    with open(options.pop("-o") + ".nsys-rep", "wb") as report:
        report.write(result.stdout)
    assert not options, options
    return result.returncode


def stats(words):
    assert words[0] == "--force-export=true" and len(words) == 2, words
    with open(words[1]) as report:
        print("made-up statistics of %d lines" % len(report.readlines()))
    return 0


if __name__ == "__main__":
    if os.environ.get("FAKE_NSYS_FAILS"):
        sys.exit("The target application cannot be traced.")
    sys.exit({"profile": profile, "stats": stats}[sys.argv[1]](sys.argv[2:]))
