#!/bin/bash
# `make bundle`: licences of all its components, a bill of materials that matches its files, and the same bytes in every folder. FULL=1 builds all
# of it in two folders, which takes minutes; without it only one program.
# Only computes.
. "$(dirname "$0")/../support/tap.sh"
export CCACHE_DISABLE=1 # ccache could use an object of one directory in the build of another
cd "$root" || exit 1
for program in patchelf python3 dpkg-query; do
	command -v "$program" >/dev/null || { skip "the bundle" "$program is not installed"; exit 0; }
done
unset SOURCE_DATE_EPOCH MAKEFLAGS MFLAGS
check="python3 tests/support/sbom_check.py"
static=$(sed -n 's/^STATIC .*-lnettle.*(comma)-Bstatic \(.*\) -Wl.*/\1/p' Makefile | sed 's/-l//g')
is "archives that programs may have inside are known" "$(wc -w <<<"$static")" 4
make_bundle() { # folder: of the programs in build/bin
	VERSION=1.2.3 STATIC="$static seccomp" etc/bundle.sh "$1"
}

# ---- made twice ----
ok "a bundle" make_bundle "$tmp/first"
other_way() { (umask 077 && cd / && TZ=Pacific/Auckland LC_ALL=C make_bundle_from_there); }
make_bundle_from_there() { VERSION=1.2.3 STATIC="$static seccomp" "$root/etc/bundle.sh" "$tmp/a-folder-with-a-longer-name/second"; }
mkdir "$tmp/a-folder-with-a-longer-name"
ok "another one, later, elsewhere, with another umask" other_way
is "has the same bytes" "$(sha256sum <"$tmp/a-folder-with-a-longer-name/second.tar.gz")" "$(sha256sum <"$tmp/first.tar.gz")"
is "and the same files, times and rights in its folder" "$(cd "$tmp/a-folder-with-a-longer-name/second" && find . -type f -printf '%m %T@ %p ' -exec sha256sum {} \; | sort)" \
	"$(cd "$tmp/first" && find . -type f -printf '%m %T@ %p ' -exec sha256sum {} \; | sort)"
is "the time is the commit's" "$(stat -c %Y "$tmp/first/bin/flopwatchd")" "$(git log -1 --format=%ct 2>/dev/null || stat -c %Y Makefile)"
is "no name of this machine's folders is in it" "$(grep -rlaF -- "$root/" "$tmp/first" | head -n 3)" ""
is "its owner has no name" "$(tar -tvzf "$tmp/first.tar.gz" | awk '{ print $2 }' | sort -u)" "0/0"
ok "its programs run" "$tmp/first/bin/flopwatch" --version
ok "the worker, too" "$tmp/first/bin/flopwatch-worker" probe

# ---- built twice ----
build_in() { # folder
	git clone -q --no-hardlinks "$root" "$1" || return 1
	cp Makefile "$1/" && mkdir "$1/build" && cp build/cuda.mak "$1/build/"
	if [ -n "${FULL-}" ]; then
		make --no-print-directory -s -C "$1" -j2 bundle
	else
		make --no-print-directory -s -C "$1" -j2 CFLAGS="-O0 -g" HARDEN=-fPIE WERROR=0 build/bin/flopwatch-git
	fi
}
ok "built in a folder" build_in "$tmp/here"
ok "and in another" build_in "$tmp/over/there/it/is"
if [ -n "${FULL-}" ]; then
	is "bundles have the same bytes" "$(sha256sum <"$tmp/here/build/bundle.tar.gz")" "$(sha256sum <"$tmp/over/there/it/is/build/bundle.tar.gz")"
else
	unlike "the programs differ" "$(sha256sum <"$tmp/here/build/bin/flopwatch-git")" "$(sha256sum <"$tmp/over/there/it/is/build/bin/flopwatch-git")"
	strip_as_bundled() { eval "$(grep '^for program in build/bin/.*objcopy' etc/bundle.sh | sed "s,build/bin/\*,$1/build/bin/flopwatch-git,; s,\"\$to.new/bin/[^\"]*\",\"\$program\",")" && strip -s "$1/build/bin/flopwatch-git"; }
	strip_as_bundled "$tmp/here"
	strip_as_bundled "$tmp/over/there/it/is"
	is "as they are in the bundle they have the same bytes" "$(sha256sum <"$tmp/here/build/bin/flopwatch-git")" "$(sha256sum <"$tmp/over/there/it/is/build/bin/flopwatch-git")"
fi

# ---- licences ----
licences=$tmp/first/share/licences
declare -A original=() package_of=()
linked=$(ldd build/bin/* "$(command -v bwrap)")
for library in "$tmp"/first/lib/* bwrap; do
	file=$(awk -v name="${library##*/}" '$1 == name { print $3; exit }' <<<"$linked")
	original[$library]=${file:-$(command -v "$library")}
done
every_name() { # of files: packages may list them below /lib or below /usr/lib
	local file
	for file in "$@" $(realpath "$@"); do printf '%s\n' "$file" "${file#/usr}" "/usr$file"; done | sort -u
}
mapfile -t names < <(every_name "${original[@]}")
while IFS= read -r line; do package_of[${line##*: }]=${line%%[:,]*}; done < <(dpkg-query -S "${names[@]}" 2>/dev/null)
for library in "$tmp"/first/lib/* bwrap; do
	package=""
	for name in $(every_name "${original[$library]}"); do package=${package:-${package_of[$name]-}}; done
	ok "${library##*/} is of a package" test -n "$package"
	is "it has the licence of ${package:-?}" "$(sha256sum <"$licences/$package/copyright")" "$(sha256sum <"/usr/share/doc/$package/copyright")"
done
for library in nettle jansson yaml; do
	package=$(dpkg-query -S "$(gcc -print-file-name=lib$library.a | xargs realpath)" | cut -d: -f1)
	ok "so has $package, which is inside of programs" test -s "$licences/$package/copyright"
done
missing=""
for name in $(grep -rhoE '/usr/share/common-licenses/[A-Za-z0-9.-]*[A-Za-z0-9]' "$licences"/*/copyright | sed 's,.*/,,' | sort -u); do
	[ ! -e "/usr/share/common-licenses/$name" ] || [ -s "$licences/common/$name" ] || missing+="$name "
done
is "every licence that these refer to is there" "$missing" ""
ok "and ours" cmp LICENSE "$licences/flopwatch/LICENSE"

# ---- the bill of materials ----
sbom=$tmp/first/flopwatch.spdx.json
ok "it is what SPDX 2.3 asks for, and true of every file" $check "$sbom" "$tmp/first" "$licences"
is "it names this version" "$(jq -r '.packages[] | select(.name == "flopwatch") | .versionInfo' "$sbom")" "1.2.3"
is "and libcurl's as it is installed" "$(jq -r '.packages[] | select(.name | startswith("libcurl")) | .name + " " + .versionInfo' "$sbom")" \
	"$(dpkg-query -W -f '${Package} ${Version}\n' 'libcurl[0-9]*' | grep -E '^libcurl4(t64)? ')"
for program in flopwatch flopwatch-worker flopwatch-runner; do
	is "it knows that $program has nettle inside" "$(jq -r --arg file "./bin/$program" '(.files[] | select(.fileName == $file).SPDXID) as $id |
		[.relationships[] | select(.spdxElementId == $id and .relationshipType == "STATIC_LINK") | .relatedSpdxElement] | index("SPDXRef-Package-nettle-dev") != null' "$sbom")" true
done
is "and that flopwatchd has not" "$(jq -r '(.files[] | select(.fileName == "./bin/flopwatchd").SPDXID) as $id |
	[.relationships[] | select(.spdxElementId == $id and .relationshipType == "STATIC_LINK")] | length' "$sbom")" 0
if command -v pyspdxtools >/dev/null; then
	ok "the validator of SPDX agrees" pyspdxtools --infile "$sbom"
else
	skip "the validator of SPDX agrees" "pyspdxtools is not installed"
fi
while read -r fault change; do # the check sees each of these
	jq "$change" "$sbom" >"$tmp/bad.json"
	fails "a bill without ${fault//_/ } is refused" 1 $check "$tmp/bad.json" "$tmp/first" "$licences"
done <<'FAULTS'
a_namespace del(.documentNamespace)
the_licence_of_its_data .dataLicense = "MIT"
a_version del(.packages[3].versionInfo)
a_licence del(.packages[3].licenseDeclared)
a_file del(.files[5])
a_true_checksum .files[5].checksums[0].checksumValue = "0000000000000000000000000000000000000000"
the_text_of_a_licence del(.hasExtractedLicensingInfos[0])
a_package_that_a_library_is_from del(.relationships[]|select(.relationshipType=="GENERATED_FROM"))
what_a_program_asks_for del(.relationships[]|select(.relationshipType=="DYNAMIC_LINK"))
what_it_describes del(.relationships[]|select(.relationshipType=="DESCRIBES"))
FAULTS
echo more >"$tmp/first/share/more"
fails "so is one that does not know a file" 1 $check "$sbom" "$tmp/first" "$licences"

# ---- of a Debian package ----
mkdir -p "$tmp/package/DEBIAN" "$tmp/package/usr/bin" "$tmp/package/usr/include/flopwatch"
cp build/bin/flopwatch-send "$tmp/package/usr/bin/"
cp daemon/kit/flopwatch.h kernels/fw_kernel.h "$tmp/package/usr/include/flopwatch/"
curl_package=$(dpkg-query -W -f '${Package}\n' 'libcurl[0-9]*' | grep -E '^libcurl4(t64)?$')
printf 'Package: flopwatch\nVersion: 1.2.3\nArchitecture: amd64\nMaintainer: a <a@example.org>\nDepends: libc6 (>= 2.3), %s (>= 7)\nDescription: d\n' "$curl_package" >"$tmp/package/DEBIAN/control"
dpkg-deb -b "$tmp/package" "$tmp/flopwatch_1.2.3_amd64.deb" >/dev/null
rm -r "$tmp/package/DEBIAN"
ok "a bill of a .deb" env VERSION=1.2.3 SOURCE_DATE_EPOCH=1700000000 etc/sbom.py deb "$tmp/flopwatch_1.2.3_amd64.deb"
sbom=$tmp/flopwatch_1.2.3_amd64.spdx.json
ok "is what SPDX asks for, too" $check "$sbom" "$tmp/package"
is "knows its checksum" "$(jq -r '.packages[0].checksums[] | select(.algorithm == "SHA256").checksumValue' "$sbom")" "$(sha256sum <"$tmp/flopwatch_1.2.3_amd64.deb" | cut -d' ' -f1)"
is "what it depends on" "$(jq -r '[.relationships[] | select(.relationshipType == "DEPENDS_ON").relatedSpdxElement] | sort | join(" ")' "$sbom")" "SPDXRef-Package-libc6 SPDXRef-Package-$curl_package"
is "and under what its files are" "$(jq -r '[.files[] | .fileName + " " + .licenseConcluded] | join(", ")' "$sbom")" \
	"./usr/bin/flopwatch-send Apache-2.0, ./usr/include/flopwatch/flopwatch.h MIT-0, ./usr/include/flopwatch/fw_kernel.h Apache-2.0"
