#!/usr/bin/env python3
"""code_changed.py COMMIT PATH...: exit status 1 if code under PATH differs between COMMIT and HEAD, or COMMIT is unknown; 0 if it is
equal but for comments and space between words, which a program does not see."""
import re
import subprocess
import sys

# Whatever may contain the beginning of a comment without being one comes first.
C = re.compile(rb'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|(//[^\n]*|/\*.*?\*/)', re.S)
SQL = re.compile(rb"'(?:''|[^'])*'|\"[^\"\n]*\"|(--[^\n]*|/\*.*?\*/)", re.S)
COMMENTS = {"c": C, "h": C, "cu": C, "cuh": C, "sql": SQL}


def code_of(path, text):
    comments = COMMENTS.get(path.rsplit(".", 1)[-1])
    if not comments:
        return text
    found, end = [], 0
    for m in comments.finditer(text):
        found += text[end:m.start()].split() + ([] if m.group(1) else [m.group(0)])
        end = m.end()
    return found + text[end:].split()


def main():
    commit, paths = sys.argv[1], sys.argv[2:]
    diff = subprocess.run(["git", "diff", "--name-status", "--no-renames", "-z", commit, "HEAD", "--", *paths],
                          capture_output=True, check=False)
    if diff.returncode != 0:
        return 1
    fields = diff.stdout.decode().split("\0")[:-1]
    for status, path in zip(fields[::2], fields[1::2]):
        if status != "M":
            return 1
        old, new = (subprocess.run(["git", "show", f"{at}:{path}"],
                                   capture_output=True, check=True).stdout for at in (commit, "HEAD"))
        if code_of(path, old) != code_of(path, new):
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
