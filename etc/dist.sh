#!/bin/sh
# `make dist`: the last commit as build/dist/flopwatch-VERSION.tar.gz. Owners, times and the compressor's header are fixed, so that
# the tarball of a commit always has the same bytes.
set -eu
cd "$(dirname "$0")/.."
name=flopwatch-${VERSION:?called by make dist}
[ -e .git ] || { echo "make dist: this is no checkout of git, so there is no commit to take" >&2; exit 1; }
[ -z "$(git status --porcelain)" ] || echo "make dist: what is not committed is left out" >&2
mkdir -p build/dist
# two commands and no pipe, so that a git that fails leaves no tarball behind
git -c core.autocrlf=false -c tar.umask=0022 archive --format=tar --prefix="$name/" --output="build/dist/$name.tar" HEAD
gzip -9nf "build/dist/$name.tar"
echo "build/dist/$name.tar.gz"
