#!/bin/bash
# Make a folder that runs on another machine: programs, the shared libraries they need beside them ($ORIGIN/../lib), bwrap,
# suites, kernels. The C library itself stays the other machine's: Debian 12's is older than any we support.
set -eu
cd "$(dirname "$0")/.."
to=${1:?usage: bundle.sh FOLDER}
command -v patchelf >/dev/null || { echo "patchelf is missing; etc/install-dependencies.sh test installs it" >&2; exit 1; }

rm -rf "$to.new"
mkdir -p "$to.new/bin" "$to.new/lib" "$to.new/share/suites" "$to.new/share/kit"
cp build/bin/* "$to.new/bin/"
cp "$(command -v bwrap)" "$to.new/bin/"
cp etc/suites/*.yaml "$to.new/share/suites/"
cp daemon/kit/flopwatch*.h daemon/kit/flopwatch.py "$to.new/share/kit/"
cp -r kernels "$to.new/kernels"
rm -rf "$to.new/kernels/build"

for program in "$to.new"/bin/*; do
	ldd "$program" | awk '/=> \// { print $3 }'
done | sort -u | grep -vE '/(libc|libm|libdl|libpthread|librt|libresolv|ld-linux[^/]*|libgcc_s)\.so' | while read -r library; do
	cp -L "$library" "$to.new/lib/"
done
for file in "$to.new"/bin/* "$to.new"/lib/*; do
	strip -s "$file" 2>/dev/null || true
done
for program in "$to.new"/bin/*; do patchelf --set-rpath '$ORIGIN/../lib' "$program"; done
for library in "$to.new"/lib/*; do patchelf --set-rpath '$ORIGIN' "$library"; done

rm -rf "$to"
mv "$to.new" "$to"
size=$(du -sm "$to" | cut -f1)
echo "bundle: $to, $size MiB"
[ "$size" -lt 64 ] || { echo "the bundle is larger than 64 MiB" >&2; exit 1; }
