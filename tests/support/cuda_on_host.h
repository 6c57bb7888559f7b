/**
 * cuda_on_host.h - stands for CUDA's headers, so that a kernel without warp divergence at its barriers runs on the CPU: one fiber a
 * thread, all of a block in turns, one block after the other. Shared memory is static memory. bf16 alone.
 */
#ifndef CUDA_ON_HOST_H
#define CUDA_ON_HOST_H

#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

typedef int cudaError_t;
typedef void *cudaStream_t;
enum { cudaSuccess, cudaErrorNoKernelImageForDevice, cudaDevAttrComputeCapabilityMajor, cudaDevAttrMultiProcessorCount };

#define __global__
#define __device__
#define __forceinline__ inline
#define __shared__      static
#define __align__(n)    __attribute__((aligned(n)))
#define __grid_constant__
#define __launch_bounds__(...)
#define CUDART_INF_F INFINITY

struct dim3 {
	unsigned x, y, z;
	dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c)
	{
	}
};
struct float2 {
	float x, y;
};
struct uint4 {
	uint32_t x, y, z, w;
};

enum { HOST_THREADS_MAX = 256, HOST_STACK_BYTES = 1 << 16 };

/* The block that runs: its fibers, and the values that they exchange, of this turn and of the last one. */
static struct {
	jmp_buf back, fiber[HOST_THREADS_MAX]; /* switched to by longjmp, which makes no system call */
	ucontext_t start[HOST_THREADS_MAX];
	bool has_started[HOST_THREADS_MAX], done[HOST_THREADS_MAX];
	unsigned turn[HOST_THREADS_MAX];
	float value[2][HOST_THREADS_MAX];
	char stack[HOST_THREADS_MAX][HOST_STACK_BYTES];
	void (*kernel)(const void *argument);
	const void *argument;
} host;

static dim3 threadIdx, blockIdx, gridDim;

/* Every thread of a block has the same barriers, so all have arrived when each has had its turn. */
static inline void __syncthreads()
{
	const dim3 own = threadIdx;
	if (_setjmp(host.fiber[own.x]) == 0)
		_longjmp(host.back, 1);
	threadIdx = own;
}

static inline float __shfl_xor_sync(unsigned, float value, int lanes)
{
	const unsigned turn = host.turn[threadIdx.x]++ % 2;
	host.value[turn][threadIdx.x] = value;
	__syncthreads();
	return host.value[turn][threadIdx.x ^ (unsigned)lanes];
}

static void host_fiber()
{
	host.kernel(host.argument);
	host.done[threadIdx.x] = true;
	_longjmp(host.back, 1);
}

/* Run thread `i` up to its next barrier. */
static void host_turn(unsigned i)
{
	threadIdx = dim3(i);
	if (_setjmp(host.back) != 0)
		return;
	if (host.has_started[i])
		_longjmp(host.fiber[i], 1);
	host.has_started[i] = true;
	setcontext(&host.start[i]);
}

static void host_block(unsigned threads)
{
	bool is_running = true;
	for (unsigned i = 0; i < threads; i++) {
		getcontext(&host.start[i]);
		host.start[i].uc_stack.ss_sp = host.stack[i];
		host.start[i].uc_stack.ss_size = HOST_STACK_BYTES;
		host.has_started[i] = host.done[i] = false;
		makecontext(&host.start[i], host_fiber, 0);
	}
	while (is_running) {
		is_running = false;
		for (unsigned i = 0; i < threads; i++) {
			if (host.done[i])
				continue;
			host_turn(i);
			is_running = is_running || !host.done[i];
		}
	}
}

/** Run a kernel. Shape: at most HOST_THREADS_MAX threads a block. */
static inline void host_launch(void (*kernel)(const void *), dim3 grid, unsigned threads, const void *argument)
{
	host.kernel = kernel;
	host.argument = argument;
	gridDim = grid;
	for (unsigned i = 0; i < grid.x * grid.y * grid.z; i++) {
		blockIdx = dim3(i % grid.x, i / grid.x % grid.y, i / grid.x / grid.y);
		host_block(threads);
	}
}

static inline float2 make_float2(float x, float y)
{
	return { x, y };
}
static inline uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w)
{
	return { x, y, z, w };
}
static inline int min(int a, int b)
{
	return a < b ? a : b;
}
static inline int max(int a, int b)
{
	return a > b ? a : b;
}
static inline float __uint_as_float(uint32_t bits)
{
	float f;
	memcpy(&f, &bits, sizeof f);
	return f;
}

struct __nv_bfloat16 {
	uint16_t bits;
};
static inline __nv_bfloat16 __float2bfloat16_rn(float f)
{
	uint32_t u;
	memcpy(&u, &f, sizeof u);
	return { (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16) };
}
struct __half {
	uint16_t bits;
};
struct __half2 {
	__half x, y;
};
static inline float2 __half22float2(__half2)
{
	abort();
}
static inline __half __float2half_rn(float)
{
	abort();
}

static inline cudaError_t cudaGetLastError()
{
	return cudaSuccess;
}
static inline const char *cudaGetErrorString(cudaError_t)
{
	return "";
}
static inline cudaError_t cudaGetDevice(int *device)
{
	*device = 0;
	return cudaSuccess;
}
static inline cudaError_t cudaSetDevice(int)
{
	return cudaSuccess;
}
/** A card of capability 8 with 8 multiprocessors: any is right, and few of them give few shares. */
static inline cudaError_t cudaDeviceGetAttribute(int *value, int, int)
{
	*value = 8;
	return cudaSuccess;
}

#endif
