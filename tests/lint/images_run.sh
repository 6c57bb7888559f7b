#!/bin/bash
# `make check-images`: builds the container images of `make images` twice, compares them, verifies the signatures of their bills of materials, and
# lets the daemon and the worker of the images judge a push, each as its own user in its own root. Takes minutes and the network, so `make test` has
# only a fraction of it (test_images.sh).
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
if [ "$(id -u)" != 0 ] || ! command -v mmdebstrap >/dev/null; then
	skip "the images" "that takes root and mmdebstrap"
	exit 0
fi
if ! why=$(unshare --mount --pid --fork --kill-child sh -c 'mount -t proc proc /proc && mount -t tmpfs none /mnt' 2>&1); then
	skip "the images" "there are no namespaces and mounts of one's own here: $why"
	exit 0
fi
version=$(sed -n 's/^VERSION  *:= *//p' "$root/Makefile")
openssl ecparam -genkey -name prime256v1 -noout -out "$tmp/key.pem" && openssl pkey -in "$tmp/key.pem" -pubout -out "$tmp/public.pem"
SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct 2>/dev/null || stat -c %Y "$root/Makefile")
export SOURCE_DATE_EPOCH # a commit in between would be another time
make_images() { (umask "$2" && TZ=$3 VERSION=$version SIGN_KEY=$tmp/key.pem "$root/etc/images.sh" "$1"); }
ok "the images are built" make_images "$tmp/first" 022 UTC
ok "and again, with another umask and time zone" make_images "$tmp/second" 077 Pacific/Auckland
for image in daemon worker; do
	archive=$tmp/first/flopwatch-$image.tar sbom=$tmp/first/flopwatch-$image.spdx.json
	is "$image: both have the same bytes" "$(sha256sum <"$tmp/second/flopwatch-$image.tar")" "$(sha256sum <"$archive")"
	is "$image: and the same bill of materials" "$(sha256sum <"$tmp/second/flopwatch-$image.spdx.json")" "$(sha256sum <"$sbom")"
	ok "$image: its signature is that of the key" openssl dgst -sha256 -verify "$tmp/public.pem" -signature "$sbom.sig" "$sbom"
	is "$image: it has the hash of the image" "$(jq -r '.packages[] | select(.name == "flopwatch").checksums[] | select(.algorithm == "SHA256").checksumValue' "$sbom")" \
		"$(sha256sum <"$archive" | cut -d' ' -f1)"
	mkdir "$tmp/$image" "$tmp/$image.parts"
	tar -xf "$archive" -C "$tmp/$image.parts"
	layer=$(jq -r '.[0].Layers[0]' "$tmp/$image.parts/manifest.json") config=$(jq -r '.[0].Config' "$tmp/$image.parts/manifest.json")
	is "$image: the configuration has the hash of the layer" "$(jq -r '.rootfs.diff_ids[0]' "$tmp/$image.parts/$config")" "sha256:$(sha256sum <"$tmp/$image.parts/$layer" | cut -d' ' -f1)"
	tar -xf "$tmp/$image.parts/$layer" -C "$tmp/$image"
	rm -r "$tmp/$image.parts"
	ok "$image: the bill of materials is true of every file" python3 "$root/tests/support/sbom_check.py" "$sbom" "$tmp/$image/opt/flopwatch"
	is "$image: and has every Debian package" "$(jq '[.packages[] | select(.SPDXID | startswith("SPDXRef-Package-")) | select(.name != "flopwatch")] | length' "$sbom")" \
		"$(dpkg-query --admindir="$tmp/$image/var/lib/dpkg" -W | wc -l)"
	is "$image: no file belongs to a user without a name" "$(find "$tmp/$image" -xdev \( -nouser -o -nogroup \) ! -uid 900 ! -uid 901 | head -n 3)" ""
	is "$image: nothing is writable for everybody" "$(find "$tmp/$image" -xdev -type f -perm -o+w | head -n 3)" ""
done
is "the worker has no CUDA toolkit" "$(find "$tmp/worker" -xdev ! -path '*/licences/*' \( -name 'nvcc*' -o -name 'libcudart*' \) | head -n 3)" ""
rm -r "$tmp/second"

# ---- both run ----
inside() { # image, user, command...: in its root, as an engine runs it, with the volume of both and the repository; ends with this shell
	local image=$1 user=$2
	shift 2
	setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child sh -c '
		mkdir -p "$0/srv/git/kernels.git" "$0/dev"
		for device in null zero random urandom full; do : >"$0/dev/$device" && mount --bind "/dev/$device" "$0/dev/$device" || exit 1; done
		mount --bind "$1" "$0/var/lib/flopwatch-worker" && mount --bind "$2" "$0/srv/git/kernels.git" || exit 1
		mount -t proc proc "$0/proc" && user=$3 && root=$0 && shift 3 || exit 1
		# not exec: a process that changes its user would survive this shell, the first process of the namespace
		chroot --userspec="$user:$user" "$root" /usr/bin/env -i PATH=/opt/flopwatch/bin:/usr/bin:/bin LC_ALL=C.UTF-8 "$@"
		exit $?' \
		"$tmp/$image" "$tmp/volume" "$tmp/kernels.git" "$user" "$@" </dev/null
}
new_repo kernels
push kernels main
chmod 755 "$tmp" # users of the images reach the volume and the repository
mkdir -m 755 "$tmp/volume" && chown 901:901 "$tmp/volume"
sed -e 's,^repos: .*,repos: [{name: kernels\, url: /srv/git/kernels.git}],' -e 's/^sandbox: .*/sandbox: none/' -e 's,worker.sock},worker.sock\, device: sim},' \
	-e 's/^listen: .*/listen: 127.0.0.1:0/' "$root/etc/images/flopwatchd.yml" >"$tmp/daemon/etc/flopwatch/flopwatchd.yml"
echo 'profile: off' >>"$tmp/daemon/etc/flopwatch/flopwatchd.yml"
inside worker 901 listen --sandbox none --device sim >"$tmp/worker.log" 2>&1 &
on_exit kill $!
ok "the worker listens, as its health check reports" await inside worker 901 listen --check
inside daemon 900 flopwatchd --config /etc/flopwatch/flopwatchd.yml >"$tmp/log" 2>&1 &
on_exit kill $!
await test -s "$tmp/daemon/var/lib/flopwatch/port"
there=http://127.0.0.1:$(cat "$tmp/daemon/var/lib/flopwatch/port")
ok "the daemon's health check finds it healthy" await inside daemon 900 env "FLOPWATCH_SERVER=$there" healthy
fails "and another port not" 5 inside daemon 900 env FLOPWATCH_SERVER=http://127.0.0.1:9 healthy
ok "the pushed branch is judged" inside daemon 900 flopwatch --server "$there" --quiet wait main --timeout 300
is "by the worker of its image" "$(inside daemon 900 flopwatch --server "$there" --json jobs | jq -r '.items[0] | .state + " " + .verdict')" "done unchanged"
is "with the daemon's files of its user" "$(stat -c %u "$tmp/daemon/var/lib/flopwatch/flopwatch.db")" 900
