#!/bin/bash
# comments.py: which Python sources are equal except for comments and layout.
. "$(dirname "$0")/../support/tap.sh"
script=$(<"$root/daemon/worker/comments.py")
mkdir "$tmp/base" "$tmp/target"
compare() { # base, target: "same" or nothing
	printf "$1" >"$tmp/base/0"
	printf "$2" >"$tmp/target/0"
	(cd "$tmp" && /usr/bin/python3 -I -S -B -c "$script" 1 2>/dev/null)
}
same() { is "$1" "$(compare "$2" "$3")" same; }
differ() { is "$1" "$(compare "$2" "$3")" ""; }

same "a comment" 'def f(x):\n    return x + 1\n' '# f\ndef f(x):  # one more\n\n    # add\n    return x + 1\n'
same "layout" 'def f(x, y):\n    return (x,\n  y)\n' 'def f(x,y):\n  return (x, y)\n'
same "line ends" 'x = 1\ny = 2\n' 'x = 1\r\ny = 2\r\n'
same "an encoding that both have" '# coding: latin-1\nx = "\351"\n' '# coding: latin-1\nx = "\351"  # e\n'
differ "a value" 'x = 1\n' 'x = 1.0\n'
differ "a name" 'x = 1\n' 'y = 1\n'
differ "a docstring, which a program can read" 'def f():\n    "one"\n' 'def f():\n    "two"\n'
differ "a text that looks like a comment" 'x = "# a"\n' 'x = "# b"\n'
differ "a line of a text" 'x = """\n# a\n"""\n' 'x = """\n# b\n"""\n'
differ "an encoding" '# coding: latin-1\nx = 1\n' 'x = 1\n'
differ "the interpreter of a script" '#!/usr/bin/python3\nx = 1\n' '#!/usr/bin/python3 -O\nx = 1\n'
differ "a type that torch.jit.script reads" 'def f(x):\n    # type: (int) -> int\n    return x\n' 'def f(x):\n    # type: (float) -> float\n    return x\n'
differ "a directive of a compiler" '# cython: boundscheck=True\nx = 1\n' '# cython: boundscheck=False\nx = 1\n'
differ "dependencies of a script" '# /// script\n# dependencies = ["a"]\n# ///\n' '# /// script\n# dependencies = ["b"]\n# ///\n'
differ "what is not Python on both sides" 'x = (\n' 'x = ( # open\n'
differ "a line end that only some tools read" 'x = 1 # a\ry = 2\n' 'x = 1 # a\ry = 3\n'
deep=$(printf '(%.0s' {1..5000})
differ "an expression that is too deep" "x = ${deep}1\\n" "x = ${deep}1  # deep\\n"
cp "$tmp/base/0" "$tmp/base/1"
cp "$tmp/base/0" "$tmp/target/1"
printf 'x = 1\n' | tee "$tmp/base/0" >"$tmp/target/0"
is "one differing file of two" "$(cd "$tmp" && /usr/bin/python3 -I -S -B -c "$script" 2 2>/dev/null)" ""
