#!/bin/sh
# `make deb`: builds a package in build/deb from the tarball in build/dist, with etc/debian as its debian/. Needs no network.
# `deb.sh control FOLDER` only writes debian/ into an unpacked tree.
set -eu
cd "$(dirname "$0")/.."
version=${VERSION:?called by make deb}

write_control() { # unpacked tree; the package gets the version and date of the commit
	cp -r "$1/etc/debian" "$1/debian"
	cat >"$1/debian/changelog" <<CHANGES
flopwatch ($version) stable; urgency=medium

  * See /usr/share/doc/flopwatch/doc/CHANGELOG.md.

 -- $(sed -n 's/^Maintainer: //p' "$1/etc/debian/control")  $(LC_ALL=C date -u -R -d "@$(stat -c %Y "$1/Makefile")")
CHANGES
}
if [ "${1-}" = control ]; then
	write_control "$2"
	exit
fi

command -v dpkg-buildpackage >/dev/null || { echo "make deb: dpkg-buildpackage is missing; apt-get install dpkg-dev debhelper scdoc" >&2; exit 1; }
tree=build/deb/flopwatch-$version
rm -rf build/deb
mkdir -p build/deb
tar -xzf "build/dist/flopwatch-$version.tar.gz" -C build/deb
write_control "$tree"
# The package's make is independent: it inherits no options and no job server.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES VERSION
(cd "$tree" && dpkg-buildpackage -us -uc -b -J"$(nproc)") >build/deb/build.log 2>&1 || {
	tail -n 30 build/deb/build.log >&2
	echo "make deb: the build failed; build/deb/build.log has all of it" >&2
	exit 1
}
rm -rf "$tree"
ls build/deb/*.deb
