#!/bin/sh
# `make uninstall`: removes the files and folders that `make install` created with the same DESTDIR and PREFIX, as listed in MANIFEST.
# Changed files and folders with other files are retained, as are the state, the cache and the users of the daemon.
set -eu
root=${DESTDIR-}
prefix=${PREFIX:-/usr}
manifest=$root$prefix/share/flopwatch/MANIFEST
[ -e "$manifest" ] || {
	echo "make uninstall: there is no $manifest, so nothing is removed; DESTDIR and PREFIX have to be those of make install" >&2
	exit 1
}
for unit in multi-user.target.wants/flopwatchd.service sockets.target.wants/flopwatch-worker.socket; do
	[ ! -L "$root/etc/systemd/system/$unit" ] || {
		echo "make uninstall: the units are enabled; first, as root: systemctl disable --now flopwatchd.service flopwatch-worker.socket" >&2
		exit 1
	}
done

sed -n 's/^file //p' "$manifest" | while read -r hash file; do
	[ -e "$root$file" ] || [ -L "$root$file" ] || continue
	sum=""
	[ -L "$root$file" ] || [ ! -f "$root$file" ] || sum=$(sha256sum <"$root$file")
	if [ "${sum%% *}" = "$hash" ]; then
		rm -f "$root$file"
	else
		echo "left, because it was changed since it was installed: $root$file"
	fi
done
folders=$(sed -n 's/^folder //p' "$manifest" | LC_ALL=C sort -r)
rm -f "$manifest"
printf '%s\n' "$folders" | while read -r folder; do
	[ ! -d "$root$folder" ] || rmdir --ignore-fail-on-non-empty "$root$folder"
done
echo "uninstalled from ${root:-/}"
[ -n "$root" ] || echo "what the daemon stored is left: /var/lib/flopwatch, /var/cache/flopwatch, /var/cache/flopwatch-worker, and the users flopwatch and flopwatch-run"
