#!/bin/bash
# Quality of the verdict on this GPU: pushes whose module differs from main's only in a text must raise no alarm, pushes whose
# kernels are slower must be judged as slow as they are. Modules are built beforehand (or taken from MODULES), not while the GPU
# is held.
# Usage: tests/gpu/verdicts.sh BUNDLE OUT [SUITE] [TWINS] [PLANT...]     default: ffa 5 slower-80 memset tail evict
#   slower-N: of 1,000 scores forward multiplies N twice, with the machine code of main; on an H200 22 are 0.5 to 1.1 % of its
#             time, 80 are 1.9 to 3.1, 100 are 2.5 to 3.6
#   memset, tail, evict: see plant.sh
#   MODULES: folder with base.so, twin.so and PLANT.so, stripped
#   LIMIT_S: branches that are not judged by then are left out
#   WHAT: name of the files; default verdicts
# OUT gets <device>-<date>-WHAT.jsonl, every comparison as text and JSON, and the database with every timed call.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/gpu/daemon_lib.sh"
daemon_prepare "$1"
mkdir -p "$2"
out=$(cd "$2" && pwd) suite=${3:-ffa} twins=${4:-5}
[ $# -le 4 ] && set -- slower-80 memset tail evict || shift 4

# NAME: a module of the kernels.
build() {
	local tree=$state/build-$1
	mkdir -p "$tree"
	cp -r "$bundle/kernels" "$tree/"
	[ "$1" != twin ] || sed -i 's/MODULE("/&twin 0, /' "$tree/kernels/attention/module.c"
	case "$1" in
	slower-*) "$root/etc/demo-slower.sh" "$tree" cuda "${1#slower-}" ;;
	base | twin) "$root/etc/demo-slower.sh" "$tree" cuda 0 ;;
	*) "$root/etc/demo-slower.sh" "$tree" cuda 0 && "$root/tests/gpu/plant.sh" "$tree" "$1" ;;
	esac
	make -s -j "$(nproc)" -C "$tree/kernels" DEVICE=cuda
	strip -s -o "$state/modules/$1.so" "$tree/kernels/build/cuda/libattention.so"
}
if [ -n "${MODULES:-}" ]; then
	cp -r "$MODULES" "$state/modules"
else
	mkdir "$state/modules"
	for name in base twin "$@"; do build "$name"; done
fi

grep -q 'twin 0,' "$state/modules/twin.so" || { echo "the twin is no other file than main's: nothing would be timed"; exit 1; }

# The build in the daemon's sandbox is a copy: the repository contains modules.
mkdir "$state/kernels"
printf 'all:\n\tmkdir -p build/$(DEVICE)\n\tcp libattention.so build/$(DEVICE)/\n' >"$state/kernels/Makefile"
cp "$state/modules/base.so" "$state/kernels/libattention.so"
daemon_repository "$state/kernels"
daemon_start "$out/daemon.log" "$suite"
git push -q origin main
branches=
push() { # BRANCH MODULE
	git checkout -q -b "$1" main
	cp "$2" kernels/libattention.so
	git commit -q -a -m "$1"
	git push -q origin "$1"
	branches="$branches $1"
}
for plant in "$@"; do push "$plant" "$state/modules/$plant.so"; done
for i in $(seq "$twins"); do
	LC_ALL=C sed "s/twin 0,/twin $i,/" "$state/modules/twin.so" >"$state/twin-$i.so"
	push "twin-$i" "$state/twin-$i.so"
done
judged=
for branch in main $branches; do
	left=$((${LIMIT_S:-86400} - SECONDS))
	if [ $left -lt 1 ] || ! daemon_judge "$branch" "$out" "$left"; then
		echo "$branch: not judged within $LIMIT_S s"
		break
	fi
	judged="$judged $branch"
	tail -n 3 "$out/$branch.txt"
done
flopwatch alerts --long | tee "$out/alerts.txt"
for alert in $(seq "$(grep -c 'kernels' "$out/alerts.txt")"); do
	status=7
	while [ $status = 7 ] && [ $SECONDS -lt "${LIMIT_S:-86400}" ]; do # its profile comes after all pushes
		status=0
		flopwatch why "$alert" >"$out/why-$alert.txt" 2>&1 || status=$?
		sleep 1
	done
	echo "why of alert $alert: exit $status after $SECONDS s"
	head -n 12 "$out/why-$alert.txt"
done
flopwatch backup "$out/flopwatch.db"
# shellcheck disable=SC2086
"$root/tests/gpu/daemon_figures.py" "$out" "${WHAT:-verdicts}" "${COMMIT:-$(git -C "$root" rev-parse --verify -q HEAD 2>/dev/null || echo unknown)}" $judged
