#!/bin/bash
# clang-format 14 over every C source and header; --fix rewrites them.
set -eu
cd "$(dirname "$0")/.."
format=$(command -v clang-format-14) || { echo "clang-format-14 is missing; etc/install-dependencies.sh test installs it" >&2; exit 1; }
files=$(git ls-files 'daemon/*.[ch]' 'db/*.[ch]' 'web/*.[ch]' 'kernels/*.[ch]' 'kernels/*.cu' 'tests/*.[ch]')
if [ "${1-}" = --fix ]; then
	"$format" -i $files
else
	"$format" --dry-run -Werror $files
fi
