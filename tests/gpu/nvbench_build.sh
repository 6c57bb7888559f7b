#!/bin/bash
# Build nvbench and tests/gpu/nvbench_copy.cu without its own build system, which downloads dependencies.
# Usage: tests/gpu/nvbench_build.sh NVBENCH FMT OUT
#   NVBENCH: checkout of NVIDIA/nvbench; FMT: checkout of fmtlib/fmt of the version that it requires; nlohmann/json.hpp must be
#   installed (Debian: nlohmann-json3-dev)
# OUT gets libnvbench.a, nvbench_copy, and the same program with the kit: nvbench_interleaved, and nvbench_slower, whose scaled sums
# are calculated twice.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
nvbench=$(cd "$1" && pwd) fmt=$(cd "$2" && pwd)
mkdir -p "$3/include/nvbench/internal" "$3/include/nvbench/detail"
out=$(cd "$3" && pwd)
nvcc=${NVCC:-/usr/local/cuda/bin/nvcc} arch=${ARCH:-90}
grep -v '^#cmakedefine' "$nvbench/nvbench/config.cuh.in" >"$out/include/nvbench/config.cuh"
text() { # FILE NAME: the header of a help text
	printf '#pragma once\n#include <string>\nnamespace {\nconst std::string %s_text =\nR"expected(%s)expected";\n}\n' "$2" "$(cat "$1")" \
		>"$out/include/nvbench/internal/$2.cuh"
}
text "$nvbench/docs/cli_help.md" cli_help
text "$nvbench/docs/cli_help_axis.md" cli_help_axis
version=$(sed -n 's/^ *VERSION \([0-9.]*\)$/\1/p' "$nvbench/CMakeLists.txt" | head -n 1)
IFS=. read -r major minor patch <<<"$version"
# The headers that its build system makes.
cat >"$out/include/nvbench/detail/version.cuh" <<H
#pragma once
#define NVBENCH_VERSION_MAJOR $major
#define NVBENCH_VERSION_MINOR $minor
#define NVBENCH_VERSION_PATCH $patch
H
cat >"$out/include/nvbench/detail/git_revision.cuh" <<H
#pragma once
#define NVBENCH_GIT_BRANCH "unknown"
#define NVBENCH_GIT_SHA1 "unknown"
#define NVBENCH_GIT_VERSION "$version"
#define NVBENCH_GIT_IS_DIRTY false
H
flags=(-std=c++17 -O1 -I"$out/include" -I"$nvbench" -I"$fmt/include" -I"$(dirname "$nvcc")/../include" -DFMT_HEADER_ONLY)
cuda=("${flags[@]}" -arch="sm_$arch" --expt-relaxed-constexpr -diag-suppress=20012,2417)
mkdir -p "$out/objects"
compile() { # SOURCE OBJECT [FLAG...]
	[ ! -e "$2" ] || return 0
	case $1 in
	*.cxx) g++ "${flags[@]}" "${@:3}" -c -o "$2.new" "$1" ;;
	*) "$nvcc" "${cuda[@]}" "${@:3}" -c -o "$2.new" "$1" ;;
	esac
	mv "$2.new" "$2"
}
for source in "$nvbench"/nvbench/*.cxx "$nvbench"/nvbench/*.cu "$nvbench"/nvbench/{detail,internal}/*.c{xx,u}; do
	[ -e "$source" ] || continue
	case $source in *cupti* | */main.cu | */json_printer.cxx) continue ;; esac
	compile "$source" "$out/objects/$(basename "$source").o"
done
ar rcs "$out/libnvbench.a" "$out"/objects/*.o
copy=$root/tests/gpu/nvbench_copy.cu
compile "$copy" "$out/nvbench_copy.o"
compile "$copy" "$out/nvbench_interleaved.o" -DWITH_FLOPWATCH -I"$root/daemon/kit"
compile "$copy" "$out/nvbench_slower.o" -DWITH_FLOPWATCH -I"$root/daemon/kit" -DPASSES=2
for program in nvbench_copy nvbench_interleaved nvbench_slower; do
	"$nvcc" -arch="sm_$arch" -o "$out/$program" "$out/$program.o" "$out/libnvbench.a" -lcuda
	strip -s "$out/$program"
done
