/**
 * mma_on_host.h - stands for kernels/hopper/sm80.h and launch.h on top of cuda_on_host.h: what a warp does together is done by its
 * fibers, which exchange their registers. Every thread of the block takes part, as in a kernel whose warps have the same steps.
 * Copies to shared memory are done when the thread waits for them, so that a missing wait shows; so do reads past the end of
 * `memory`, which a test gives to the kernel as a static array of HOST_SHARED_BYTES.
 */
#ifndef MMA_ON_HOST_H
#define MMA_ON_HOST_H

#include "cuda_on_host.h"

#define SM80_DEVICE static inline

enum { HOST_SHARED_BYTES = 1 << 16, HOST_COPIES_MAX = 64, HOST_REGISTERS = 6 };

static unsigned char *host_shared; /* begin of the kernel's dynamic shared memory */

static struct {
	int n[HOST_THREADS_MAX];
	struct {
		uint32_t to;
		const void *from; /* NULL: zeros */
	} copy[HOST_THREADS_MAX][HOST_COPIES_MAX];
	uint32_t exchanged[2][HOST_THREADS_MAX][HOST_REGISTERS];
} host_mma;

static inline uint32_t sm80_shared(const void *p)
{
	host_shared = (unsigned char *)(uintptr_t)p;
	return 0;
}

static inline unsigned char *host_at(uint32_t address)
{
	if (address % 16 || address + 16 > HOST_SHARED_BYTES)
		abort();
	return host_shared + address;
}

static inline void sm80_copy16(uint32_t to, const void *from, bool valid)
{
	const unsigned own = threadIdx.x;
	if (host_mma.n[own] == HOST_COPIES_MAX || (uintptr_t)from % 16)
		abort();
	host_mma.copy[own][host_mma.n[own]++] = { to, valid ? from : NULL };
}

static inline void sm80_copy_commit()
{
}

static inline void sm80_copy_wait()
{
	const unsigned own = threadIdx.x;
	for (int i = 0; i < host_mma.n[own]; i++) {
		unsigned char *to = host_at(host_mma.copy[own][i].to);
		if (host_mma.copy[own][i].from)
			memcpy(to, host_mma.copy[own][i].from, 16);
		else
			memset(to, 0, 16);
	}
	host_mma.n[own] = 0;
}

/* Give `n` registers to the other threads of the warp. Returns those of all threads. */
static inline const uint32_t (*host_exchange(const uint32_t *registers, int n))[HOST_REGISTERS]
{
	const unsigned turn = host.turn[threadIdx.x]++ % 2;
	memcpy(host_mma.exchanged[turn][threadIdx.x], registers, (size_t)n * sizeof *registers);
	__syncthreads();
	return host_mma.exchanged[turn] + threadIdx.x / 32 * 32;
}

static inline uint16_t host_element(const uint32_t (*of)[HOST_REGISTERS], int matrix, int row, int column)
{
	uint16_t bits;
	memcpy(&bits, host_at(of[8 * matrix + row][0]) + 2 * column, sizeof bits);
	return bits;
}

static inline void host_load4(uint32_t r[4], uint32_t address, bool is_transposed)
{
	const uint32_t(*of)[HOST_REGISTERS] = host_exchange(&address, 1);
	const int row = (int)threadIdx.x % 32 / 4, column = (int)threadIdx.x % 4 * 2;
	for (int i = 0; i < 4; i++) {
		const uint16_t low = is_transposed ? host_element(of, i, column, row) : host_element(of, i, row, column);
		const uint16_t high = is_transposed ? host_element(of, i, column + 1, row) : host_element(of, i, row, column + 1);
		r[i] = low | (uint32_t)high << 16;
	}
}

static inline void sm80_load4(uint32_t r[4], uint32_t address)
{
	host_load4(r, address, false);
}

static inline void sm80_load4_transposed(uint32_t r[4], uint32_t address)
{
	host_load4(r, address, true);
}

/* The bf16 at `at` (0 or 1) of a register. */
static inline float host_half(uint32_t bits, int at)
{
	return __uint_as_float(at ? bits & 0xffff0000u : bits << 16);
}

static inline void sm80_mma(float c[4], const uint32_t a[4], uint32_t b0, uint32_t b1)
{
	const uint32_t own[HOST_REGISTERS] = { a[0], a[1], a[2], a[3], b0, b1 };
	const uint32_t(*of)[HOST_REGISTERS] = host_exchange(own, HOST_REGISTERS);
	const int g = (int)threadIdx.x % 32 / 4, t = (int)threadIdx.x % 4;
	for (int i = 0; i < 4; i++) /* row g, or g + 8 in the second two; column 2 t, or 2 t + 1 */
		for (int k = 0; k < 16; k++) {
			const float left = host_half(of[4 * g + k % 8 / 2][k / 8 * 2 + i / 2], k % 2);
			c[i] += left * host_half(of[4 * (2 * t + i % 2) + k % 8 / 2][4 + k / 8], k % 2);
		}
}

static inline uint32_t sm80_pack(float low, float high)
{
	return __float2bfloat16_rn(low).bits | (uint32_t)__float2bfloat16_rn(high).bits << 16;
}

static inline cudaError_t launch_allow_all(const void *, int shared)
{
	if (shared > HOST_SHARED_BYTES)
		abort();
	return cudaSuccess;
}

/* A kernel and its argument, which is passed by value. */
template <class job> struct host_call {
	static void (*kernel)(job);
	static void run(const void *argument)
	{
		kernel(*(const job *)argument);
	}
};
template <class job> void (*host_call<job>::kernel)(job);

template <class job>
static inline cudaError_t launch(const void *kernel, int64_t blocks, int threads, int, const job *argument, cudaStream_t)
{
	host_call<job>::kernel = (void (*)(job))(uintptr_t)kernel;
	host_launch(host_call<job>::run, dim3((unsigned)blocks), (unsigned)threads, argument);
	return cudaSuccess;
}

#endif
