#!/bin/bash
# The guarantees of the sandbox, by the worker's user: root, a separate user, and root or a user in a container that permits no
# user namespaces. A measured module is never the machine's root, writes no setting of the kernel and has no network, or the
# worker stops with one clear line.
. "$(dirname "$0")/../support/tap.sh"
if [ "$(id -u)" != 0 ] || ! command -v setpriv >/dev/null; then
	skip "workers of several users" "only root becomes another user"
	exit 0
fi
. "$root/tests/support/integrity.sh"
# where every user may read them: this checkout may be private
chmod 755 "$tmp"
mkdir -p "$tmp/bin" "$tmp/modules"
cp "$bin"/flopwatch-worker "$bin"/flopwatch-runner "$tmp/bin/"
cp "$modules"/good.so "$modules"/prowler.so "$tmp/modules/"
chmod -R go+rX "$tmp"
worker=$tmp/bin/flopwatch-worker modules=$tmp/modules
measure() { # command before the worker, "--" and its options: measures module prowler; its outcome on one line
	local before=()
	while [ "$1" != -- ]; do before+=("$1") && shift; done
	shift
	rm -rf "$tmp/home"
	mkdir -m 777 "$tmp/home"
	HOME=$tmp/home XDG_CACHE_HOME=$tmp/home timeout 120 "${before[@]}" "$worker" compare --suite "$tmp/suite.yaml" --device cpu --quick --json \
		--base "$modules/good.so" --target "$modules/prowler.so" --cells '*/forward' "$@" >"$tmp/json" 2>"$tmp/err"
}
holds() { # name: it was measured, and found nothing open
	not_accused "$1: the module found nothing open" || sed 's/^/#   /' "$tmp/err"
	unlike "$1: and ran to its end" "$(cell .detail)" 'exit 4'
}
refuses() { # name, exit status of the worker, reason
	unlike "$1: nothing was measured" "$2 $(cat "$tmp/json")" '^0 |"cells"'
	is "$1: it refuses in one line" "$(wc -l <"$tmp/err")" 1
	like "$1: that says why and what to do" "$(cat "$tmp/err")" "the sandbox is required and not available: .*($3)"
}
holds_or_refuses() { # name, exit status, reason
	if [ "$2" = 0 ] || grep -q '"cells"' "$tmp/json"; then holds "$1"; else refuses "$@"; fi
}

# ---- without a sandbox the module would be root, and the prowler would report it ----
measure -- --sandbox none
like "without a sandbox it finds that it is root" "$(cell .detail)" 'exit 41'

# ---- on this machine ----
reasons='allow user namespaces|run the worker as its own user|bubblewrap does not work here'
measure -- --sandbox required
holds_or_refuses "root" $? "$reasons"
user=(setpriv --reuid=31337 --regid=31337 --clear-groups)
measure "${user[@]}" -- --sandbox required
holds_or_refuses "a user of its own" $? "$reasons"
if "$worker" probe --device cpu --sandbox required >/dev/null 2>&1; then
	is "bubblewrap works here, so root is measured" "$(jq '.cells | length' "$tmp/json")" 1
fi

# ---- without permission for user namespaces: the limit applies to the namespace in which it is written and those below it ----
no_namespaces='echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"'
if ! unshare --user --map-root-user sh -c 'echo 0 >/proc/sys/user/max_user_namespaces' 2>/dev/null; then
	skip "a container without user namespaces" "none can be made here"
	exit 0
fi
measure unshare --user --map-root-user sh -c "$no_namespaces" sh -- --sandbox required
holds_or_refuses "root of a container without user namespaces" $? "$reasons"
measure unshare --user --map-root-user sh -c "$no_namespaces" sh setpriv --bounding-set=-all --inh-caps=-all -- --sandbox required
refuses "that has no capabilities" $? "$reasons"
as_user="unshare --user --map-user=31337 --map-group=31337 --keep-caps sh -c"
measure $as_user "$no_namespaces" sh setpriv --bounding-set=-all --inh-caps=-all --ambient-caps=-all -- --sandbox required
refuses "a user there" $? "$reasons"
