#!/bin/bash
# flopwatch init where Python code reads the metadata of its own package, which only an installed package has: the build writes it.
. "$(dirname "$0")/../support/tap.sh"
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 XDG_CACHE_HOME=$tmp/cache
mkdir "$XDG_CACHE_HOME"
new() { # an empty checkout with a package `rows` and one benchmark, as the current folder
	mkdir -p "$tmp/$1"
	cd "$tmp/$1" || exit 1
	git init -q -b main .
	cp -r "$root/tests/interleave/stand_in/triton" .
}
write() { # file: its text is standard input
	mkdir -p "$(dirname "$1")"
	cat >"$1"
}
init() { # its answer in $body, its status in $status
	rm -f .flopwatch.yaml
	body=$("$bin/flopwatch" init --json "$@" 2>"$tmp/errors")
	status=$?
}
build() { # the shell text of the build's command; "" none
	sed -n '/^build:/,/^$/ s/^  command: \[sh, -c, \(.*\)\]$/\1/p' .flopwatch.yaml | jq -r .
}
bench() { # script import...: a script that times one cell
	local file=$1
	shift
	{
		printf 'import time\nimport triton\n'
		printf '%s\n' "$@"
		printf 'def speed(n):\n    return triton.testing.do_bench(lambda: time.sleep(n * 1e-6))\n'
		printf 'if __name__ == "__main__":\n    for n in [64]:\n        speed(n)\n'
	} | write "$file"
}
cells() { # what a trial of the checkout measures
	"$bin/flopwatch" try --device cpu --json --quiet 2>&1 | jq -r '[.[0].cells[] | select(.ms > 0) | .cell] | join(" ")'
}

# ---- a library with a src folder, whose benchmarks share a file that reads its version
new shared
write pyproject.toml <<<'[build-system]
requires = ["setuptools"]
name = "not-this"
[project]
dynamic = ["version"]
name = "Row-Kernels" # on the index
[tool.other]
name = "nor-this"'
write src/row_kernels/norm.py <<<'def norm(n):
    return n'
write benchmark/scripts/utils.py <<<'from importlib.metadata import version
import os
ROWS_VERSION = version("row_kernels")
QUANTILES = [0.5]'
bench benchmark/scripts/benchmark_norm.py 'from utils import QUANTILES' 'from row_kernels.norm import norm'
init
is "the build writes the metadata next to the package, where Python searches it" "$status $(build)" \
	"0 mkdir -p src/row_kernels-0.dist-info && printf '%s\n' 'Metadata-Version: 2.1' 'Name: Row-Kernels' 'Version: 0' > src/row_kernels-0.dist-info/METADATA"
is "a comment has the reason" "$(grep -c '^# benchmark/scripts/utils.py reads the metadata of the package Row-Kernels, which only an installed package has;' .flopwatch.yaml)" 1
like "and so has the text" "$(rm .flopwatch.yaml; "$bin/flopwatch" init)" '  build: benchmark/scripts/utils.py reads the metadata of the package Row-Kernels'
is "the trial runs the script" "$(cells)" "speed/n=64"
sed -i '/^build:/,/^$/d' .flopwatch.yaml
text=$("$bin/flopwatch" try --device cpu 2>&1)
like "which fails without that build" "$text" 'PackageNotFoundError'
like "with a hint" "$text" 'hint: row_kernels is not installed in the sandbox, where programs run from the sources: let build.command write'

# ---- a package at the root, that reads its own version when it is imported
new root
write setup.cfg <<<'[options]
name = wrong
[metadata]
name = rows.fast'
write rows_fast/__init__.py <<<'import importlib.metadata as info
__version__ = info.version("rows-fast")'
write rows_fast/about.py <<<'from importlib import metadata
def about():
    return metadata.metadata("ROWS__fast")["Name"]
about()'
bench benchmarks/bench_norm.py 'from rows_fast import about'
init
is "every spelling of the name is the same package" "$status $(build)" \
	"0 mkdir -p rows_fast-0.dist-info && printf '%s\n' 'Metadata-Version: 2.1' 'Name: rows.fast' 'Version: 0' > rows_fast-0.dist-info/METADATA"
is "Python searches that folder" "$(grep -c 'PYTHONPATH=\.:\$PYTHONPATH exec python3 -m flopwatch benchmarks/bench_norm.py' .flopwatch.yaml)" 1
is "the trial runs" "$(cells)" "speed/n=64"
write rows_fast/about.py <<<''
write rows_fast/__init__.py <<<'import importlib.metadata
__version__ = importlib.metadata.version(__package__)'
init
is "a package that names itself" "$(build | grep -c 'mkdir -p rows_fast-0.dist-info')" 1
is "runs, too" "$(cells)" "speed/n=64"

# ---- a package of another name, which has a build already
new extension
write setup.py <<<'import os
from setuptools import setup, Extension
filename = "no"
setup(
    version=os.environ.get("V"),
    name="fused-rows",
    ext_modules=[Extension("fused_C", ["c.c"])])'
write c.c <<<'int x;'
write fr/__init__.py <<<'from pkg_resources import get_distribution as find
V = find("fused_rows").version'
bench benchmarks/bench_fused.py 'import fr'
init
is "the build gets two more steps" "$status $(build)" \
	"0 python3 setup.py build_ext --inplace && mkdir -p fused_rows-0.dist-info && printf '%s\n' 'Metadata-Version: 2.1' 'Name: fused-rows' 'Version: 0' > fused_rows-0.dist-info/METADATA"

# ---- a script that reads the version and imports no package
new alone
write pyproject.toml <<<'[tool.poetry]
name = "rows"'
write python/rows/__init__.py </dev/null
bench bench/bench_rows.py 'from importlib.metadata import (' '    version,' '    PackageNotFoundError,' ')' 'print(version("rows"))'
init
is "gets the folder of the metadata" "$status $(build | grep -c 'mkdir -p python/rows-0.dist-info') $(grep -c 'PYTHONPATH=\.:python:' .flopwatch.yaml)" "0 1 1"
is "and runs" "$(cells)" "speed/n=64"

# ---- code that needs no metadata
new decoys
write pyproject.toml <<<'[project]
name = "rows"'
write rows/__init__.py <<<'"""version("rows") is in importlib.metadata."""
from importlib.metadata import PackageNotFoundError, version
try:
    __version__ = version("rows")
except PackageNotFoundError:
    __version__ = "unknown"
# print(version("rows"))
TORCH = version("pip") if False else version("torch-of-others")'
write rows/other.py <<<'def version(name):
    return name
print(version("rows"))'
write unused/__init__.py <<<'from importlib.metadata import version
version("rows")'
write docs/conf.py <<<'from importlib.metadata import version
release = version("rows")'
write tests/test_version.py <<<'from importlib.metadata import version
def test_version():
    assert version("rows")'
bench benchmarks/bench_rows.py 'import rows'
init
is "calls with an answer for a missing package, of others, and in files that no benchmark imports" "$status $(grep -c '^build:' .flopwatch.yaml)" "0 0"

# ---- damaged sources
new damaged
write pyproject.toml <<<'[project]
name = "rows"'
write bench/timing.py <<<'import triton
def (
    triton.testing.do_bench(print)
def measure(fn):
    return triton.testing.do_bench(fn)'
write bench/bench_rows.py <<<'from importlib.metadata import version as , metadata as
from timing import measure
if __name__ == "__main__":
    measure(version("rows"'
ok "a name that is missing ends no search" timeout 60 "$bin/flopwatch" init --json
is "and hides no benchmark" "$(jq -r '.found | length' <<<"$out")" 1
