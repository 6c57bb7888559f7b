#!/bin/bash
# Container images without mmdebstrap and a network: the archive of a small root, its bill of materials and signature, the entry points and the
# compose file. tests/lint/images_run.sh (`make check-images`) builds and runs the real ones.
. "$(dirname "$0")/../support/tap.sh"
for program in python3 openssl jq; do
	command -v "$program" >/dev/null || { skip "images" "there is no $program"; exit 0; }
done
cd "$root" || exit 1
export VERSION=1.2.3 SOURCE_DATE_EPOCH=1700000000

# ---- an archive ----
mkdir -p "$tmp/root/opt/flopwatch/bin"
echo '#!/bin/sh' >"$tmp/root/opt/flopwatch/bin/tool"
tar --sort=name --owner=0 --group=0 --mtime=@1 -C "$tmp/root" -cf "$tmp/root.tar" .
write_archive() { python3 etc/images/archive.py "$1" "$tmp/root.tar" "etc/images/$1.json" "$2"; }
for image in daemon worker; do
	ok "$image: an archive" write_archive $image "$tmp/$image.tar"
	id=$out
	(umask 077 && TZ=Pacific/Auckland write_archive $image "$tmp/again.tar" >/dev/null)
	is "$image: again it has the same bytes" "$(sha256sum <"$tmp/again.tar")" "$(sha256sum <"$tmp/$image.tar")"
	mkdir "$tmp/$image"
	tar -xf "$tmp/$image.tar" -C "$tmp/$image"
	config=$tmp/$image/$(jq -r '.[0].Config' "$tmp/$image/manifest.json") layer=$tmp/$image/$(jq -r '.[0].Layers[0]' "$tmp/$image/manifest.json")
	is "$image: its name has the version" "$(jq -r '.[0].RepoTags[0]' "$tmp/$image/manifest.json")" "localhost/flopwatch-$image:1.2.3"
	is "$image: its id is the hash of its configuration" "$id" "sha256:$(sha256sum <"$config" | cut -d' ' -f1)"
	is "$image: which has that of its layer" "$(jq -r '.rootfs.diff_ids[0]' "$config")" "sha256:$(sha256sum <"$layer" | cut -d' ' -f1)"
	ok "$image: the layer is the root" cmp "$layer" "$tmp/root.tar"
	like "$image: its user is not root" "$(jq -r .config.User "$config")" '^90[01]:90[01]$'
	is "$image: it has a health check" "$(jq -r '.config.Healthcheck.Test[0]' "$config")" CMD
	is "$image: its time is the commit's" "$(jq -r .created "$config")" 2023-11-14T22:13:20Z
done
echo more >>"$tmp/root/opt/flopwatch/bin/tool"
tar --sort=name --owner=0 --group=0 --mtime=@1 -C "$tmp/root" -cf "$tmp/root.tar" .
unlike "another file is another image" "$(write_archive daemon "$tmp/again.tar")" "$(sha256sum <"$tmp/daemon/$(jq -r '.[0].Config' "$tmp/daemon/manifest.json")" | cut -d' ' -f1)"

# ---- its bill of materials, of a root with two packages of this system ----
if command -v dpkg-query >/dev/null; then
	for package in libc6 bash; do
		mkdir -p "$tmp/root/var/lib/dpkg/info" "$tmp/root/usr/share/doc/$package"
		cp "/usr/share/doc/$package/copyright" "$tmp/root/usr/share/doc/$package/"
		dpkg-query -s "$package" >>"$tmp/root/var/lib/dpkg/status" && echo >>"$tmp/root/var/lib/dpkg/status"
	done
	mkdir -p "$tmp/root/usr/lib" && cp -L /etc/os-release "$tmp/root/usr/lib/os-release"
	mkdir -p "$tmp/root/opt/flopwatch/lib" && echo library >"$tmp/root/opt/flopwatch/lib/libx.so.1"
	cat >"$tmp/bundle.json" <<'JSON'
{"files": [{"SPDXID": "SPDXRef-File-x", "fileName": "./lib/libx.so.1"}, {"SPDXID": "SPDXRef-File-y", "fileName": "./lib/liby.so.1"}],
 "packages": [
  {"SPDXID": "SPDXRef-Package-libx1", "name": "libx1", "versionInfo": "1", "licenseDeclared": "LicenseRef-x", "licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION", "downloadLocation": "NOASSERTION", "filesAnalyzed": false},
  {"SPDXID": "SPDXRef-Package-liby1", "name": "liby1", "versionInfo": "1", "licenseDeclared": "LicenseRef-y", "licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION", "downloadLocation": "NOASSERTION", "filesAnalyzed": false}],
 "relationships": [
  {"spdxElementId": "SPDXRef-File-x", "relationshipType": "GENERATED_FROM", "relatedSpdxElement": "SPDXRef-Package-libx1"},
  {"spdxElementId": "SPDXRef-File-y", "relationshipType": "GENERATED_FROM", "relatedSpdxElement": "SPDXRef-Package-liby1"}],
 "hasExtractedLicensingInfos": [{"licenseId": "LicenseRef-x", "name": "x", "extractedText": "x"}, {"licenseId": "LicenseRef-y", "name": "y", "extractedText": "y"}]}
JSON
	ok "a bill of materials" python3 etc/sbom.py image "$tmp/daemon.tar" "$tmp/root" "$tmp/bundle.json"
	sbom=$tmp/daemon.spdx.json
	ok "it is what SPDX 2.3 asks for, and true of every file" python3 tests/support/sbom_check.py "$sbom" "$tmp/root/opt/flopwatch"
	is "it has the packages of the root" "$(jq -r '[.packages[] | select(.sourceInfo != null).name] | sort | join(" ")' "$sbom")" "bash libc6"
	is "of the bundle's components, those of its files" "$(jq -r '[.packages[] | select(.SPDXID | startswith("SPDXRef-Bundled-")).name] | join(" ")' "$sbom")" "libx1"
	is "and the hash of the image" "$(jq -r '.packages[] | select(.name == "flopwatch").checksums[] | select(.algorithm == "SHA256").checksumValue' "$sbom")" \
		"$(sha256sum <"$tmp/daemon.tar" | cut -d' ' -f1)"
	openssl ecparam -genkey -name prime256v1 -noout -out "$tmp/key.pem" && openssl pkey -in "$tmp/key.pem" -pubout -out "$tmp/public.pem"
	verify() { openssl dgst -sha256 -verify "$tmp/public.pem" -signature "$sbom.sig" "$sbom"; }
	ok "a key signs it" etc/images.sh sign "$tmp/key.pem" "$sbom"
	ok "as its how-to verifies it" verify
	like "with the same text" "$(cat doc/howto/containers.md)" 'openssl dgst -sha256 -verify [a-z.]+ -signature flopwatch-daemon.spdx.json.sig flopwatch-daemon.spdx.json'
	sed -i 's/"bash"/"sh"/' "$sbom"
	fails "a changed one has no valid signature" 1 verify
else
	skip "the bill of materials of an image" "there is no dpkg-query"
fi

# ---- entry points ----
mkdir "$tmp/bin"
printf '#!/bin/sh\nprintf "%%s|" "$@" >"%s/said"\n' "$tmp" | tee "$tmp/bin/flopwatch" >"$tmp/bin/socat"
chmod +x "$tmp/bin/"*
PATH=$tmp/bin:$PATH
ok "the daemon's health check" sh etc/images/healthy.sh
is "requests its devices" "$(cat "$tmp/said")" "--quiet|devices|"
ok "the worker's entry point" sh etc/images/listen.sh --sandbox auto
like "starts a worker for each connection, with its options" "$(cat "$tmp/said")" \
	'^UNIX-LISTEN:[^|]*,fork,[^|]*\|EXEC:flopwatch-worker serve --cache /var/cache/flopwatch-worker --sandbox auto\|$'
printf '#!/bin/sh\nexit 1\n' >"$tmp/bin/socat"
fails "a worker that does not listen is unhealthy" 1 sh etc/images/listen.sh --check

# ---- configurations ----
ok "the image's configuration has no mistakes" "$bin/flopwatchd" --config etc/images/flopwatchd.yml --check-config
python3 -c 'import yaml' 2>/dev/null || { skip "the compose file" "there is no python3-yaml"; exit 0; }
compose() { python3 -c 'import sys, yaml; print(eval(sys.argv[1], {"it": yaml.safe_load(open("etc/compose.yml"))}))' "$1"; }
is "compose runs the images of make images" "$(compose '" ".join(sorted(s["image"] for s in it["services"].values()))')" \
	"localhost/flopwatch-daemon:latest localhost/flopwatch-worker:latest"
is "every volume is declared" "$(compose 'sorted({v.split(":")[0] for s in it["services"].values() for v in s["volumes"] if v[0].isalpha()} ^ set(it["volumes"]))')" "[]"
compose 'it["configs"]["flopwatchd"]["content"]' >"$tmp/compose.yml"
ok "its configuration has no mistakes" "$bin/flopwatchd" --config "$tmp/compose.yml" --check-config
