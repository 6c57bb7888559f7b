#!/bin/sh
# Install what is missing for `make demo` or `make test` on Debian 12 or Ubuntu 24.04. Quiet when nothing is missing.
set -eu

build="gcc make git ca-certificates libc6-dev libgomp1 libgit2-dev libmicrohttpd-dev libjansson-dev libyaml-dev libsqlite3-dev libcurl4-openssl-dev nettle-dev bubblewrap"
demo="curl"
test="libcmocka-dev curl jq wrk sqlite3 clang-format-14 patchelf python3 python3-jsonschema procps binutils scdoc"

case "${1:-build}" in
build) want="$build" ;;
demo) want="$build $demo" ;;
test) want="$build $demo $test" ;;
*) echo "usage: install-dependencies.sh build|demo|test" >&2; exit 2 ;;
esac

missing=""
for package in $want; do
	dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null; then
	echo "flopwatch: these packages are missing and there is no apt-get to install them:$missing" >&2
	exit 1
fi
sudo=""
if [ "$(id -u)" != 0 ]; then
	sudo="sudo"
	command -v sudo >/dev/null || { echo "flopwatch: run as root, or install sudo; missing:$missing" >&2; exit 1; }
fi
echo "installing:$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install() { $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing >"$log" 2>&1; }
install || { $sudo apt-get update >"$log" 2>&1 && install; } || { tail -20 "$log" >&2; echo "flopwatch: could not install:$missing" >&2; exit 1; }
