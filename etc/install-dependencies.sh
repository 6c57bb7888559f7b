#!/bin/sh
# Install missing packages for `make demo`, `make test` or `make campaign PART=fuzz` on Debian 12 or Ubuntu 24.04. Prints nothing if none is missing.
set -eu

build="gcc make git ca-certificates libc6-dev libgomp1 libgit2-dev libmicrohttpd-dev libgnutls28-dev libjansson-dev libyaml-dev liblz4-dev libzstd-dev zlib1g-dev libsqlite3-dev libcurl4-openssl-dev libssl-dev nettle-dev libseccomp-dev bubblewrap"
demo="curl scdoc" # scdoc: for the man pages of `make install` after `make demo`
test="libcmocka-dev curl jq gojq sqlite3 clang-format-14 patchelf python3 python3-pandas python3-pip python3-setuptools python3-wheel python3-jsonschema python3-yaml python3-aiosmtpd openssl procps binutils elfutils faketime scdoc mandoc tidy openssh-server openssh-client munge slurmctld slurmd slurm-client"
fuzz="clang-14 libclang-rt-14-dev"
wish="" # optional packages; tests skip without them

case "${1:-build}" in
build) want="$build" ;;
demo) want="$build $demo" ;;
test) want="$build $demo $test" wish="python3-clang-14 zsh fish hyperfine systemd g++ libbenchmark-dev python3-pytest-benchmark prometheus python3-prometheus-client"
	# its program may come from another package, which would conflict
	command -v kubectl >/dev/null || wish="$wish kubernetes-client" ;;
fuzz) want="$build $fuzz" ;;
*) echo "usage: install-dependencies.sh build|demo|test|fuzz" >&2; exit 2 ;;
esac

missing_of() { # packages: prints those that are not installed
	for package; do
		dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || printf ' %s' "$package"
	done
}
# shellcheck disable=SC2086
missing=$(missing_of $want) wished=$(missing_of $wish)
[ -n "$missing$wished" ] || exit 0

sudo=""
[ "$(id -u)" = 0 ] || sudo="sudo"
install() { $sudo env DEBIAN_FRONTEND=noninteractive timeout 900 apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@" >"$log" 2>&1; }
# If the distribution has another version of the formatter, continue: its test is skipped.
drop_unknown() {
	apt-cache show clang-format-14 >/dev/null 2>&1 && return
	echo "there is no clang-format-14 here, so the format of sources is not checked"
	missing=$(echo "$missing" | sed 's/ clang-format-14//')
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT

if [ -n "$missing" ]; then
	if ! command -v apt-get >/dev/null; then
		echo "flopwatch: these packages are missing and there is no apt-get to install them:$missing" >&2
		exit 1
	fi
	[ -z "$sudo" ] || command -v sudo >/dev/null || { echo "flopwatch: run as root, or install sudo; missing:$missing" >&2; exit 1; }
	echo "installing:$missing"
	# shellcheck disable=SC2086
	install $missing || { $sudo apt-get update >"$log" 2>&1 && drop_unknown && install $missing; } ||
		{ tail -20 "$log" >&2; echo "flopwatch: could not install:$missing" >&2; exit 1; }
fi
# Optional packages: do not prompt for a password, and do not run apt-get update for unknown ones.
if [ -n "$wished" ]; then
	[ -z "$sudo" ] || sudo="sudo -n"
	# shellcheck disable=SC2086
	install $wished || echo "flopwatch: could not install:$wished; their tests are skipped"
fi
