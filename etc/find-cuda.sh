#!/bin/sh
# Print, as make variables, the CUDA toolkit that can compile and link a program here; print nothing if none can.
#
# An nvcc in PATH is not sufficient: it may be a link, or belong to a toolkit without headers or static runtime. So each
# candidate folder must pass a small build. The Makefile stores the output in build/cuda.mak.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

cat >"$work/probe.cu" <<'CODE'
#include <cuda_runtime.h>
__global__ void probe() {}
extern "C" int probe_run(void) { probe<<<1, 1>>>(); return (int)cudaDeviceSynchronize(); }
CODE
cat >"$work/main.c" <<'CODE'
#include <cuda_runtime_api.h>
int probe_run(void);
int main(void) { return probe_run() + (int)cudaGetLastError(); }
CODE

works() { # nvcc, toolkit folder, library folder
	"$1" -gencode arch=compute_90,code=sm_90 -c -o "$work/probe.o" "$work/probe.cu" &&
		gcc -I"$2/include" -o "$work/probe" "$work/main.c" "$work/probe.o" -L"$3" -lcudart_static -lrt -ldl -lpthread -lstdc++
}

nvcc=$(command -v nvcc 2>/dev/null || true)
for candidate in "$nvcc" "${CUDA_HOME:+$CUDA_HOME/bin/nvcc}" /usr/local/cuda/bin/nvcc; do
	[ -n "$candidate" ] && [ -x "$candidate" ] || continue
	found=yes
	real=$(readlink -f "$candidate")
	for folder in "$(dirname "$(dirname "$candidate")")" "$(dirname "$(dirname "$real")")" /usr/local/cuda /usr/lib/cuda /usr; do
		for libraries in "$folder/lib64" "$folder/targets/$(uname -m)-linux/lib" "$folder/lib/$(uname -m)-linux-gnu"; do
			[ -f "$folder/include/cuda_runtime.h" ] && [ -f "$libraries/libcudart_static.a" ] || continue
			if works "$candidate" "$folder" "$libraries" >"$work/log" 2>&1; then
				printf 'NVCC := %s\nCUDA_DIR := %s\nCUDA_LIBRARIES := %s\n' "$candidate" "$folder" "$libraries"
				exit 0
			fi
		done
	done
done
[ -z "${found:-}" ] || echo "flopwatch: found nvcc, but no toolkit that compiles and links a program; building without CUDA" >&2
printf 'NVCC :=\n'
