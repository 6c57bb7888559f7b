#!/bin/bash
# `make check-container`: buildah builds etc/Containerfile on a bare Debian (build/bare.tar, which `make check-deb` makes; BARE_ROOT names another),
# and its daemon answers. Takes minutes and the network, so `make test` leaves it out. It fetches only packages from this machine's package sources,
# and stores images in a separate store.
. "$(dirname "$0")/../support/tap.sh"
bare=${BARE_ROOT:-$root/build/bare.tar}
if [ "$(id -u)" != 0 ] || ! command -v buildah >/dev/null || [ ! -e "$bare" ]; then
	skip "the container" "that takes root, buildah and $bare"
	exit 0
fi
image() { buildah --root "$tmp/images" --runroot "$tmp/run" --storage-driver vfs "$@"; }
trap 'image rm --all >/dev/null 2>&1; image rmi --all --force >/dev/null 2>&1; tap_end' EXIT

empty=$(image from scratch) || exit 1
ok "a bare Debian becomes the base" image add -q "$empty" "$bare" /
ok "under a name" image commit -q --rm "$empty" localhost/bare
ok "etc/Containerfile builds" image bud --isolation chroot --pull-never --build-arg BASE=localhost/bare -f "$root/etc/Containerfile" -t localhost/flopwatch "$root"
container=$(image from --pull-never localhost/flopwatch) || exit 1
version=$(sed -n 's/^VERSION  *:= *//p' "$root/Makefile")
inside() { image run --isolation chroot "$container" -- "$@"; }
is "the command line is of our version" "$(inside flopwatch --version)" "flopwatch $version"
is "it runs as the daemon's user" "$(inside id -un)" "flopwatch"
is "whose command is the daemon's" "$(image inspect --type image --format '{{.OCIv1.Config.Entrypoint}} {{.OCIv1.Config.Cmd}}' localhost/flopwatch)" \
	"[flopwatchd] [--config /etc/flopwatch/flopwatchd.yml]"

cat >"$tmp/session" <<'SESSION'
# buildah's runtime makes no namespaces, and a sandbox cannot make any
sed 's/^sandbox: required/sandbox: auto/' /etc/flopwatch/flopwatchd.yml >/tmp/flopwatchd.yml
flopwatchd --config /tmp/flopwatchd.yml >/tmp/daemon.log 2>&1 &
daemon=$!
until flopwatch devices >/tmp/devices 2>&1 && grep -q cpu /tmp/devices; do
	kill -0 "$daemon" || { cat /tmp/daemon.log; exit 1; }
	sleep 0.2
done
cat /tmp/devices
kill "$daemon"
wait "$daemon"
SESSION
export -f image inside
export tmp container
# on a separate loopback
in_session() { unshare --net bash -c 'ip link set lo up && inside timeout -k 5 300 bash -c "$(cat "$tmp/session")"'; }
ok "the daemon starts with its worker, answers, and ends on request" in_session
like "the worker measures on this CPU" "$out" 'cpu'
