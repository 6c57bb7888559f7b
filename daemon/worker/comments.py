"""comments.py COUNT - print "same" if each file base/N equals target/N, N below COUNT, except for comments and layout.

Two Python sources with the same syntax tree compile to the same bytecode, except for line numbers and file names. The tree
contains docstrings, which a program can read (docopt, argparse), so they must be equal. So must the few comments that programs
and the system read: see SPECIAL. The files are those of a branch, so this runs in the sandbox, with limits of time and memory.
"""
import ast
import re
import sys

# the interpreter of a script; encodings; types for torch.jit.script; directives of Cython, distutils and Pythran
SPECIAL = re.compile(rb"\A#!.*|#[^\n]*?(?:coding[:=]|\b(?:type|cython|distutils|pythran|pragma)\b)[^\n]*")
INLINE_METADATA = b"# ///"  # dependencies of a script, read by its runner
CONTROLS = re.compile(rb"[\0\f]|\r(?!\n)")  # line ends and blanks that tools read differently


def form(name):
    with open(name, "rb") as file:
        text = file.read()
    if INLINE_METADATA in text or CONTROLS.search(text):
        return text
    return ast.dump(ast.parse(text)), SPECIAL.findall(text)


if all(form("base/%d" % i) == form("target/%d" % i) for i in range(int(sys.argv[1]))):
    print("same")
