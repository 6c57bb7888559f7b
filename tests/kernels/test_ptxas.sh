#!/bin/bash
# A build of kernels fails if ptxas reports that optimisations were disabled which the source requires.
# Only computes.
. "$(dirname "$0")/../support/tap.sh"
check=$root/kernels/check-ptxas.sh

say() { # lines of a log -> $tmp/log
	printf '%s\n' "$@" >"$tmp/log"
}
properties='ptxas info    : Function properties for _Z1kPf'
say "ptxas info    : Compiling entry function '_Z1kPf' for 'sm_90a'" "$properties" '    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads' \
	'ptxas info    : Used 168 registers, used 1 barriers'
ok "a clean forward kernel passes" "$check" attention/hopper/v2_forward.cu "$tmp/log"
is "and nothing is reported" "$out" ""
for code in 7508 7510 7511 7512 7513 7514 7515 7516 7517 7518; do
	say "ptxas info    : (C$code) Potential Performance Loss: something in the function 'k'"
	fails "C$code fails in any source" 1 "$check" attention/hopper/v1_backward.cu "$tmp/log"
done
like "and is shown with its source" "$out" 'v1_backward.cu: \(C7518\) Potential Performance Loss'
say "ptxas info    : (C7599) Potential Performance Loss: wgmma.mma_async instructions are serialized due to a new reason in the function 'k'"
fails "a serial wgmma fails under any number" 1 "$check" attention/hopper/v3_backward.cu "$tmp/log"
say "ptxas info    : (C7519) something was inserted in the function 'k'"
ok "C7519 passes" "$check" attention/hopper/v2_forward.cu "$tmp/log"
like "and is shown" "$out" C7519
say "$properties" '    176 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads'
fails "a stack frame fails in a forward kernel" 1 "$check" attention/hopper/v2_forward.cu "$tmp/log"
like "which is named" "$out" '_Z1kPf.*176 bytes of stack'
ok "but not in a backward one" "$check" attention/hopper/v2_backward.cu "$tmp/log"
ok "nor before v2" "$check" attention/hopper/v1_forward.cu "$tmp/log"
say "$properties" '    0 bytes stack frame, 0 bytes spill stores, 8 bytes spill loads'
ok "nor does a spilled register in a backward one" "$check" attention/hopper/v2_backward.cu "$tmp/log"
like "which is shown with the text of ptxas" "$out" "v2_backward.cu: $properties"
fails "a spilled register fails too" 1 "$check" attention/hopper/v10_forward_wide.cu "$tmp/log"

nvcc=$("$root/etc/find-cuda.sh" 2>/dev/null | sed -n 's/^NVCC := //p')
if [ -z "$nvcc" ]; then
	skip "make stops at a bad kernel" "no CUDA toolkit that compiles a program"
else
	cp -r "$root/kernels" "$tmp/kernels"
	rm -rf "$tmp/kernels/build"
	cat >"$tmp/kernels/attention/hopper/v1_ignored.cu" <<'CU'
__global__ void ignored(float *p)
{
#if __CUDA_ARCH__ >= 900
	asm volatile("setmaxnreg.inc.sync.aligned.u32 240;"); /* without launch bounds ptxas does not know what it starts from */
#endif
	p[threadIdx.x] = 1.0f;
}
CU
	cat >"$tmp/kernels/attention/hopper/v2_forward_indexed.cu" <<'CU'
__global__ void indexed(float *p, int k)
{
	float a[64], sum = 0.0f;
	for (int i = 0; i < 64; i++)
		a[i] = p[i * threadIdx.x];
	for (int i = 0; i < 64; i++)
		sum += a[(i * k) & 63]; /* an index known at run time only: the array goes to local memory */
	p[threadIdx.x] = sum;
}
CU
	cp "$tmp/kernels/attention/hopper/v2_forward_indexed.cu" "$tmp/kernels/attention/hopper/v1_indexed.cu"
	build() { make -s -C "$tmp/kernels" DEVICE=cuda NVCC="$nvcc" "build/cuda/$1.cu.o"; }
	fails "make stops where setmaxnreg is ignored" 2 build v1_ignored
	like "and reports that" "$out" "v1_ignored.cu: .*setmaxnreg' ignored"
	is "and leaves no object" "$(ls "$tmp/kernels/build/cuda" | grep -c '\.o$')" 0
	fails "make stops at a forward kernel with a stack frame" 2 build v2_forward_indexed
	like "and says how large" "$out" 'v2_forward_indexed.cu: .*indexed.*256 bytes of stack'
	ok "the same kernel elsewhere builds" build v1_indexed
fi
