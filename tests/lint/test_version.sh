#!/bin/bash
# The version is one line of the Makefile: programs are built with it, the kit and the page of changes have the same, and no other file has any.
. "$(dirname "$0")/../support/tap.sh"
cd "$root" || exit 1
version=$(sed -n 's/^VERSION  *:= *//p' Makefile)
like "the Makefile has one" "$version" '^[0-9]+\.[0-9]+\.[0-9]+$'
for program in flopwatch flopwatchd flopwatch-git flopwatch-worker flopwatch-runner flopwatch-send; do
	is "$program is of it" "$("$bin/$program" --version)" "$program $version"
done
is "flopwatch.h, which travels alone, too" "$(sed -n 's/^#define FLOPWATCH_KIT //p' daemon/kit/flopwatch.h)" "\"flopwatch.h $version\""
is "and flopwatch.py" "$(python3 -c 'import sys; sys.dont_write_bytecode = True; sys.path.insert(0, "daemon/kit"); import flopwatch; print(flopwatch.__version__)')" "$version"
is "and the Python client" "$(sed -n 's/^version = //p' clients/python/pyproject.toml)" "\"$version\""
like "the newest entry of the changes is about it" "$(grep -m 1 '^## ' doc/CHANGELOG.md)" "^## ${version//./\\.} \\("
is "no other source has it written down" "$(git grep -lF "$version" -- Makefile daemon db web systemd etc kernels | paste -sd' ')" \
	"Makefile daemon/kit/flopwatch.h daemon/kit/flopwatch.py"
