#!/bin/bash
# Make a folder that runs on another machine: programs, their shared libraries ($ORIGIN/../lib), bwrap, suites, kernels,
# the licences of all of these and a software bill of materials. The C library is that of the other machine: Debian 12's is the oldest
# supported one. FOLDER.tar.gz has the same contents and is reproducible: equal bytes for the same commit and system.
# STATIC names the libraries that programs may link statically.
set -eu
cd "$(dirname "$0")/.."
to=${1:?usage: bundle.sh FOLDER}
: "${VERSION:?called by make bundle}"
for program in patchelf python3; do
	command -v "$program" >/dev/null || { echo "$program is missing; etc/install-dependencies.sh test installs it" >&2; exit 1; }
done
export LC_ALL=C.UTF-8 TZ=UTC VERSION
umask 022
# The commit's time; for an unpacked tarball the time of its files, which is equal.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y Makefile)}
export SOURCE_DATE_EPOCH
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
origins=$made/origins

rm -rf "$to.new"
mkdir -p "$to.new/bin" "$to.new/lib" "$to.new/share/suites" "$to.new/share/kit" "$to.new/share/licences/flopwatch"
cp build/bin/* "$to.new/bin/"
cp "$(command -v bwrap)" "$to.new/bin/"
cp etc/suites/*.yaml "$to.new/share/suites/"
cp -r daemon/kit/flopwatch*.h daemon/kit/flopwatch.py daemon/kit/before "$to.new/share/kit/"
cp LICENSE "$to.new/share/licences/flopwatch/"
cp -r kernels "$to.new/kernels"
find "$to.new/kernels" \( -name build -o -name __pycache__ \) -type d -prune -exec rm -rf {} +

printf 'shared\tbin/bwrap\t%s\n' "$(command -v bwrap)" >>"$origins"
for program in "$to.new"/bin/*; do
	ldd "$program" | awk '/=> \// { print $3 }'
done | sort -u | grep -vE '/(libc|libm|libdl|libpthread|librt|libresolv|ld-linux[^/]*|libgcc_s)\.so' | while read -r library; do
	cp -L "$library" "$to.new/lib/"
	printf 'shared\tlib/%s\t%s\n' "${library##*/}" "$library" >>"$origins"
done

# A program contains an archive if it defines every symbol of one of its objects.
for program in build/bin/*; do nm -P --defined-only "$program" >"$made/${program##*/}.symbols"; done
for name in ${STATIC-}; do
	archive=$(gcc -print-file-name="lib$name.a")
	[ -e "$archive" ] || archive=${CUDA_LIBRARIES-}/lib$name.a
	[ -e "$archive" ] || continue
	nm -gPA --defined-only "$archive" >"$made/archive" 2>/dev/null || { echo "nm cannot read $archive" >&2; exit 1; }
	for program in build/bin/*; do
		if awk '
			NR == FNR { member[NR] = $1; symbol[NR] = $2; n[$1]++; next }
			{ defined[$1] = 1 }
			END { for (i in symbol) if (symbol[i] in defined && ++has[member[i]] == n[member[i]]) exit 0; exit 1 }' \
			"$made/archive" "$made/${program##*/}.symbols"; then
			printf 'static\tbin/%s\t%s\n' "${program##*/}" "$archive" >>"$origins"
		fi
	done
done
if [ -s build/npm/uplot.js ]; then
	printf 'embedded\tbin/flopwatchd\tuplot\t%s\tMIT\t%s\n' "$(sed -n 's/^ *"version": "\(.*\)".*/\1/p' web/node_modules/uplot/package.json)" \
		web/node_modules/uplot/LICENSE >>"$origins"
fi

for file in "$to.new"/bin/* "$to.new"/lib/*; do
	strip -s "$file" 2>/dev/null || true
done
# The linker's build id is a hash that includes debug information, which contains the path of the build folder.
for program in build/bin/*; do objcopy --remove-section .note.gnu.build-id "$to.new/bin/${program##*/}"; done
for program in "$to.new"/bin/*; do patchelf --set-rpath '$ORIGIN/../lib' "$program"; done
for library in "$to.new"/lib/*; do patchelf --set-rpath '$ORIGIN' "$library"; done
python3 etc/sbom.py bundle "$to.new" "$origins"
chmod -R u+rwX,go+rX,go-w "$to.new"
find "$to.new" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +

rm -rf "$to" "$to.tar.gz"
mv "$to.new" "$to"
size=$(du -sm "$to" | cut -f1)
[ "$size" -lt 64 ] || { echo "the bundle is larger than 64 MiB" >&2; exit 1; }
tar --format=gnu --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --transform="s,^\.,flopwatch-$VERSION," \
	-C "$to" -cf "$to.tar" .
gzip -nf "$to.tar" # -9 takes three times as long for 0.4 % less
echo "bundle: $to, $size MiB; $to.tar.gz"
