#!/bin/bash
# Hashes of kernels in real modules: equal sources have equal hashes, a change is visible in the changed kernel and in no other.
# Only computes.
. "$(dirname "$0")/../support/tap.sh"
nvcc=$("$root/etc/find-cuda.sh" 2>/dev/null | sed -n 's/^NVCC := //p')

fails "a file that is no module is one line" 1 "$bin/flopwatch-worker" kernels "$root/README.md"
is "and reports that" "$out" "flopwatch-worker: $root/README.md: no 64-bit little-endian ELF file"
fails "so is a missing one" 1 "$bin/flopwatch-worker" kernels "$tmp/none.so"
ok "a program without device code has no kernels" "$bin/flopwatch-worker" kernels "$bin/flopwatch"
is "and prints none" "$out" ""
if [ -z "$nvcc" ]; then
	skip "kernels of real modules" "no CUDA toolkit that compiles a program"
	exit 0
fi

mkdir "$tmp/job"
cat >"$tmp/job/kernels.cu" <<'CU'
namespace {
template <int N> __global__ void rows(float *p)
{
	__shared__ float s[N];
	s[threadIdx.x] = p[threadIdx.x] * 1.2345678901234567;
	__syncthreads();
	p[threadIdx.x] = s[N - 1 - threadIdx.x];
}
}
#ifndef FACTOR
#define FACTOR 2.5f
#endif
__device__ __noinline__ float deeper(float x, int n)
{
	for (int i = 0; i < n; i++)
		x = x * x + FACTOR;
	return x;
}
__global__ void calls(float *p, int n) { p[threadIdx.x] = deeper(p[threadIdx.x], n); }
__global__ void stays(float *p) { p[threadIdx.x] += 1.0f; }
#ifdef MORE
__device__ float variable;
__global__ void added(float *p) { p[0] = variable; }
#endif
extern "C" void start(float *p)
{
	rows<32><<<1, 32>>>(p);
	calls<<<1, 32>>>(p, 3);
	stays<<<1, 32>>>(p);
}
CU
# Always at the same path, like builds of a branch.
build() { # name, arguments of nvcc
	local name=$1
	shift
	"$nvcc" -O3 -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90a,code=sm_90a -shared -Xcompiler -fPIC -cudart static "$@" \
		-o "$tmp/$name.so" "$tmp/job/kernels.cu" && "$bin/flopwatch-worker" kernels "$tmp/$name.so" >"$tmp/$name"
}
code() { # module, architecture, part of a symbol
	grep "^sm_$2 .*$3" "$tmp/$1" | cut -d' ' -f2
}
ok "a module builds" build first
is "its kernels are there for both architectures" "$(cut -d' ' -f1 "$tmp/first" | sort | uniq -c | tr -s ' ')" " 3 sm_80
 3 sm_90"
ok "and builds again" build again
is "equal sources have the same hash" "$(sort "$tmp/again")" "$(sort "$tmp/first")"
ok "with debug names of lines" build lines -lineinfo
ok "with another kernel and a variable" build more -DMORE
is "which is found" "$(grep -c ' _Z5addedPf ' "$tmp/more")" 2
ok "with another constant in a function that one kernel calls" build factor -DFACTOR=3.5f
for sm in 80 90; do
	for kernel in stays rows calls; do
		is "$kernel for sm_$sm does not mind another kernel" "$(code more $sm $kernel)" "$(code first $sm $kernel)"
		is "nor names of lines" "$(code lines $sm $kernel)" "$(code first $sm $kernel)"
	done
	is "rows for sm_$sm does not mind another constant" "$(code factor $sm rows)" "$(code first $sm rows)"
	is "stays neither" "$(code factor $sm stays)" "$(code first $sm stays)"
	ok "but calls does" [ "$(code factor $sm calls)" != "$(code first $sm calls)" ]
	ok "one kernel for sm_$sm is not like another" [ "$(code first $sm calls)" != "$(code first $sm stays)" ]
done
is "a file's own kernel goes by other names in builds of other sources" "$(cut -d' ' -f3 "$tmp/first" "$tmp/more" | grep -c rows)" 4
if "$nvcc" --help | grep -q -e --compress-mode && ldconfig -p | grep -q 'libzstd\.so\.1'; then
	ok "packed small" build small --compress-mode=size
	is "it is the same code" "$(sort "$tmp/small")" "$(sort "$tmp/first")"
else
	skip "a module that is packed small" "this nvcc has no --compress-mode, or there is no libzstd"
fi
ok "strip takes nothing from it" strip -s -R .comment "$tmp/first.so"
ok "and it is read" "$bin/flopwatch-worker" kernels "$tmp/first.so"
is "as before" "$out" "$(cat "$tmp/first")"

# ptxas itself reports a kernel's resources.
cat >"$tmp/job/takes.cu" <<'CU'
extern "C" __global__ void __launch_bounds__(256) small(float *p)
{
	__shared__ float s[1024];
	s[threadIdx.x] = p[threadIdx.x];
	__syncthreads();
	p[threadIdx.x] = s[255 - threadIdx.x];
}
extern "C" __global__ void large(float *p, int n)
{
	float a[100];
	for (int i = 0; i < 100; i++)
		a[i] = p[i * n];
	for (int i = 0; i < n; i++)
		p[i] += a[(i * 7) % 100];
}
CU
for sm in 80 90; do
	"$nvcc" -arch=sm_$sm -Xptxas -v -cubin -o "$tmp/takes.cubin" "$tmp/job/takes.cu" >"$tmp/ptxas" 2>&1
	ok "a cubin alone is read (sm_$sm)" "$bin/flopwatch-worker" kernels "$tmp/takes.cubin"
	for kernel in small large; do
		sed -n "/entry function '$kernel'/,/Compile time/p" "$tmp/ptxas" >"$tmp/said"
		line=$(grep " $kernel " <<<"$out")
		like "$kernel: registers" "$line" "  $(sed -n 's/.*Used \([0-9]*\) registers.*/\1/p' "$tmp/said") registers, "
		like "$kernel: stack" "$line" " $(sed -n 's/ *\([0-9]*\) bytes stack frame.*/\1/p' "$tmp/said") B stack, "
	done
	like "shared memory and a bound of threads" "$(grep ' small ' <<<"$out")" ' 4096 B shared, .* at most 256 threads, 8 CTAs/SM \(warps\)$'
	like "none" "$(grep ' large ' <<<"$out")" ' 0 B shared, .*, any number of threads$'
done
ok "as JSON" "$bin/flopwatch-worker" kernels --json "$tmp/takes.cubin"
is "with null for what the file does not say" "$(jq -c '.kernels[] | select(.symbol == "large") | [.sm, .max_threads, .occupancy]' <<<"$out")" '[90,null,null]'

ok "two builds of the same are the same" "$bin/flopwatch-worker" sassdiff "$tmp/first.so" "$tmp/again.so"
fails "another constant is not" 3 "$bin/flopwatch-worker" sassdiff "$tmp/first.so" "$tmp/factor.so"
is "in one kernel for each architecture" "$(grep -E '^(same code|renamed|rescheduled|changed|differs|added|removed) ' <<<"$out" | grep -v '^same code' | sed -E 's/.*(sm_[0-9]+ [^ ]*).*/\1/')" \
	"sm_80 _Z5callsPfi
sm_90 _Z5callsPfi"
fails "a kernel and a variable more" 3 "$bin/flopwatch-worker" sassdiff --json "$tmp/first.so" "$tmp/more.so"
is "are one that was added, and a file's own kernel is found again" "$(jq -c '[.functions[] | select(.sm == 90) | .verdict] | sort' <<<"$out")" \
	'["added","same code","same code","same code"]'
fails "one module is too few" 2 "$bin/flopwatch-worker" sassdiff "$tmp/first.so"
fails "a missing one is reported" 1 "$bin/flopwatch-worker" sassdiff "$tmp/first.so" "$tmp/none.so"
like "by name" "$out" 'none.so: '
if command -v nvdisasm >/dev/null || [ -x "$(dirname "$(readlink -f "$nvcc")")/nvdisasm" ]; then
	fails "with a disassembler" 3 "$bin/flopwatch-worker" sassdiff --json "$tmp/first.so" "$tmp/factor.so"
	is "instructions are compared" "$(jq -c '[.note, (.functions[] | select(.verdict == "changed") | .sm, (.hunks | length > 0))]' <<<"$out")" \
		'["",80,true,90,true]'
else
	skip "instructions of real modules" "there is no nvdisasm"
fi
