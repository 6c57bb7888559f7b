#!/bin/sh
# `make dist`: writes the last commit to build/dist/flopwatch-VERSION.tar.gz. Owners, times and the compressor's header are fixed, so
# that the tarball is reproducible.
set -eu
cd "$(dirname "$0")/.."
name=flopwatch-${VERSION:?called by make dist}
[ -e .git ] || { echo "make dist: this is no checkout of git, so there is no commit to take" >&2; exit 1; }
[ -z "$(git status --porcelain)" ] || echo "make dist: what is not committed is left out" >&2
mkdir -p build/dist
# two commands instead of a pipe, so that a failure of git leaves no tarball
git -c core.autocrlf=false -c tar.umask=0022 archive --format=tar --prefix="$name/" --output="build/dist/$name.tar" HEAD
gzip -9nf "build/dist/$name.tar"
echo "build/dist/$name.tar.gz"
