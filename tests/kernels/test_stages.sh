#!/bin/bash
# The stages of the Hopper kernels depend on shared files and not on each other, describe their additions and the ownership of
# their threads, and the changes that tests plant still find their positions.
# Only computes.
. "$(dirname "$0")/../support/tap.sh"
hopper=$root/kernels/attention/hopper

# "file header" for every include that crosses from one stage, or from shared files, into a stage.
crossings() {
	grep -HoE '^#include "[a-z0-9_]+\.h"' "$hopper"/*.cu "$hopper"/*.h | sed -E 's,.*/([^/:]+):#include "(.*)",\1 \2,' |
		awk 'function stage(f) { return match(f, /^v[0-9]+/) ? substr(f, 1, RLENGTH) : "" }
			stage($2) != "" && stage($1) != stage($2)'
}
is "a stage includes what is shared and its own, the shared part no stage" "$(crossings)" ""

# Names of a stage in the code of files of another stage, or of all: comments may compare.
strangers() {
	local f own
	for f in "$hopper"/*.cu "$hopper"/*.h; do
		own=$(basename "$f" | grep -oE '^v[0-9]+') || own=none
		gcc -fpreprocessed -dD -E -P -x c++ "$f" 2>/dev/null | grep -oE '\b(v|V)[0-9]+_[A-Za-z_0-9]+' | grep -viE "^${own}_" |
			sed "s,^,$(basename "$f"): ,"
	done | sort -u
}
is "and no stage calls functions of another by name" "$(strangers)" ""

for f in "$hopper"/v[0-9]*_forward.cu "$hopper"/v[0-9]*_backward.cu "$hopper"/v[0-9]*_grad_q.cu; do
	name=$(basename "$f") stage=$(basename "$f" | grep -oE '^v[0-9]+')
	header=$(sed '/\*\//q' "$f")
	case "$stage" in
	v0) added='The reference stage: ' ;;
	*) added="Changes from v$((${stage#v} - 1)): " ;;
	esac
	like "$name says first what it adds" "$header" "^ \* $added"
	like "$name says in one line what its threads sum up" "$header" \
		'^ \*     d?[A-Z]\[[^]]+\]\[[^]]+\]\[column\] \+= .*\[j\].*\[column\]$'
done

nvcc=$("$root/etc/find-cuda.sh" 2>/dev/null | sed -n 's/^NVCC := //p')
planted() { # NAME SOURCES CHANGE...: a copy of the kernels with changes as etc/ and tests/gpu/ make them; these sources compile
	local name=$1 sources=$2 change
	shift 2
	mkdir -p "$tmp/$name"
	cp -r "$root/kernels" "$tmp/$name/"
	rm -rf "$tmp/$name/kernels/build"
	for change; do
		case "$change" in
		slower) ok "$name: forward is made slower" "$root/etc/demo-slower.sh" "$tmp/$name" cuda 80 ;;
		*) ok "$name: $change finds its place" "$root/tests/gpu/plant.sh" "$tmp/$name" "$change" ;;
		esac
	done
	if [ -z "$nvcc" ]; then
		skip "$name: it compiles" "no CUDA toolkit that compiles a program"
		return
	fi
	ok "$name: it compiles" make -s -C "$tmp/$name/kernels" DEVICE=cuda NVCC="$nvcc" $(printf 'build/cuda/%s.cu.o ' $sources)
}
planted memset "v1_forward v2_forward" slower memset evict
planted tail v2_forward slower tail # v1_forward is as it was in the first copy
