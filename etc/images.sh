#!/bin/bash
# `make images`: build/images/flopwatch-daemon.tar and flopwatch-worker.tar, archives for `podman load` and `docker load`, each with its bill of
# materials. mmdebstrap makes a small Debian of this machine's release (the bundle needs its C library) with build/bundle in /opt/flopwatch.
# The same commit, release and package versions give the same bytes.
#   APT_SOURCES  a file of package sources instead of this machine's, such as one of a snapshot
#   SIGN_KEY     a private key in PEM: signs each bill of materials, which contains the hash of its image; `openssl dgst -verify` checks it
# `images.sh fill IMAGE ROOT` is the step of mmdebstrap that adds our files, `images.sh sign KEY FILE` writes FILE.sig.
set -eu
cd "$(dirname "$0")/.."
export LC_ALL=C.UTF-8 TZ=UTC
umask 022
here=$PWD

# Users have fixed numbers, so that volumes fit every version of the images.
add_user() { # root, name, number, home folder
	chroot "$1" useradd --system --uid "$3" --user-group --home-dir "$4" --no-create-home --shell /usr/sbin/nologin "$2"
}
add_folder() { # root, path, mode, owner
	install -d -m "$3" -o "$4" -g "$4" "$1$2"
}
fill() {
	local image=$1 tree=$2
	mkdir -p "$tree/opt" "$tree/etc/flopwatch"
	cp -r --preserve=mode,timestamps build/bundle "$tree/opt/flopwatch"
	add_user "$tree" flopwatch 900 /var/lib/flopwatch
	add_user "$tree" flopwatch-run 901 /var/cache/flopwatch-worker
	add_folder "$tree" /var/lib/flopwatch-worker 755 901
	if [ "$image" = daemon ]; then
		rm "$tree/opt/flopwatch/bin/flopwatch-worker" "$tree/opt/flopwatch/bin/flopwatch-runner"
		add_folder "$tree" /var/lib/flopwatch 700 900
		add_folder "$tree" /var/cache/flopwatch 750 900
		install -m 644 etc/images/flopwatchd.yml "$tree/etc/flopwatch/flopwatchd.yml"
		install -m 755 etc/images/healthy.sh "$tree/opt/flopwatch/bin/healthy"
	else
		rm "$tree/opt/flopwatch/bin/flopwatchd" "$tree/opt/flopwatch/bin/flopwatch-git" "$tree/opt/flopwatch/bin/flopwatch-send"
		add_folder "$tree" /var/cache/flopwatch-worker 700 901
		install -m 755 etc/images/listen.sh "$tree/opt/flopwatch/bin/listen"
	fi
	rm "$tree/opt/flopwatch/flopwatch.spdx.json" # it describes all programs; the image has its own
	rm -f "$tree"/etc/passwd- "$tree"/etc/group- "$tree"/etc/shadow- "$tree"/etc/gshadow- "$tree"/etc/subuid- "$tree"/etc/subgid-
	rm -rf "$tree"/var/cache/ldconfig/* "$tree"/var/cache/debconf/* "$tree"/var/log/* "$tree"/var/lib/apt/lists/*
}
sign() { # key, file
	openssl dgst -sha256 -sign "$1" -out "$2.sig" "$2"
}
case ${1-} in
fill | sign)
	"$@"
	exit
	;;
esac

: "${VERSION:?called by make images}"
export VERSION
for program in mmdebstrap python3 openssl; do
	command -v "$program" >/dev/null || { echo "make images: $program is missing; apt-get install $program" >&2; exit 1; }
done
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y Makefile)}
export SOURCE_DATE_EPOCH
to=${1:-$here/build/images}
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
sources=${APT_SOURCES-}
for file in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list.d/ubuntu.sources /etc/apt/sources.list; do
	[ -n "$sources" ] || [ ! -e "$file" ] || sources=$file
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir -p "$to"

# A worker compiles what is pushed; socat starts one for each connection of the daemon.
packages_daemon=ca-certificates
packages_worker=ca-certificates,elfutils,g++,gcc,libc6-dev,libgomp1,make,socat
for image in daemon worker; do
	packages=packages_$image
	mmdebstrap --quiet --variant=minbase --include="${!packages}" --skip=output/dev --aptopt='Acquire::Languages "none"' \
		--customize-hook="'$here/etc/images.sh' fill $image \"\$1\"" "$release" "$work/$image.tar" "$sources"
	python3 etc/images/archive.py "$image" "$work/$image.tar" "etc/images/$image.json" "$work/flopwatch-$image.tar"
	mkdir "$work/$image"
	tar -xf "$work/$image.tar" -C "$work/$image" ./opt ./usr/share/doc ./usr/share/common-licenses ./usr/lib/os-release ./var/lib/dpkg
	python3 etc/sbom.py image "$work/flopwatch-$image.tar" "$work/$image" build/bundle/flopwatch.spdx.json
	rm -rf "${work:?}/$image"
	mv "$work/flopwatch-$image.tar" "$work/flopwatch-$image.spdx.json" "$to/"
	rm -f "$to/flopwatch-$image.spdx.json.sig"
	[ -z "${SIGN_KEY-}" ] || sign "$SIGN_KEY" "$to/flopwatch-$image.spdx.json"
	echo "$to/flopwatch-$image.tar, $(du -m "$to/flopwatch-$image.tar" | cut -f1) MiB, sha256 $(sha256sum <"$to/flopwatch-$image.tar" | cut -d' ' -f1)"
done
