#!/bin/bash
# What the verdict is worth on this GPU: pushes whose module differs from main's in a text alone must not alarm, pushes whose forward kernel
# multiplies some scores twice must be judged as slow as they are. The machine code is the same in all of them; how many scores, they say at
# run time. Modules are built beforehand (or taken from MODULES), not while the GPU is held.
# Usage: tests/gpu/verdicts.sh BUNDLE OUT [SUITE] [TWINS] [NEEDLESS...]     default: ffa 5 22 80 100
#   NEEDLESS: scores of 1,000 that forward multiplies twice; on an H200 22 are 0.5 to 1.1 % of its time, 80 are 1.9 to 3.1, 100 are 2.5 to 3.6
#   MODULES: folder with base.so, twin.so and slower-N.so, stripped
#   LIMIT_S: what is not judged by then is left out
# OUT gets <device>-<date>-verdicts.jsonl, every comparison as text and JSON, and the database with every timed call.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/gpu/daemon_lib.sh"
daemon_prepare "$1"
mkdir -p "$2"
out=$(cd "$2" && pwd) suite=${3:-ffa} twins=${4:-5}
[ $# -le 4 ] && set -- 22 80 100 || shift 4

# NAME NEEDLESS: a module of the kernels.
build() {
	local tree=$state/build-$1
	mkdir -p "$tree"
	cp -r "$bundle/kernels" "$tree/"
	[ "$1" != twin ] || sed -i 's/\.build = "/.build = "twin 0, /' "$tree/kernels/attention/module.c"
	"$root/etc/demo-slower.sh" "$tree" cuda "$2"
	make -s -j "$(nproc)" -C "$tree/kernels" DEVICE=cuda
	strip -s -o "$state/modules/$1.so" "$tree/kernels/build/cuda/libattention.so"
}
if [ -n "${MODULES:-}" ]; then
	cp -r "$MODULES" "$state/modules"
else
	mkdir "$state/modules"
	build base 0
	build twin 0
	for n in "$@"; do build "slower-$n" "$n"; done
fi

# What is built in the daemon's sandbox is a copy: the repository holds modules.
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
for n in "$@"; do push "slower-$n" "$state/modules/slower-$n.so"; done
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
flopwatch alerts | tee "$out/alerts.txt"
flopwatch backup "$out/flopwatch.db"
# shellcheck disable=SC2086
"$root/tests/gpu/daemon_figures.py" "$out" verdicts "$(git -C "$root" rev-parse --verify -q HEAD 2>/dev/null || echo unknown)" $judged
