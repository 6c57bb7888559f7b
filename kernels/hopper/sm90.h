/**
 * sm90.h - Hopper instructions without a C++ equivalent: mbarriers, TMA, wgmma, named barriers, register reallocation.
 *
 * Each function is one instruction, or one loop around one. Tiles in shared memory are panels: 64 bf16 columns (128 bytes) wide, in
 * the 128-byte swizzle that TMA writes and wgmma reads, one panel after the other, every panel 1024-byte aligned. One such tile
 * can be read along its rows (K-major) and across them (MN-major), so nothing is stored twice.
 */
#ifndef HOPPER_SM90_H
#define HOPPER_SM90_H

#include "hopper/sm80.h"

#include <cuda.h>

#define SM90_DEVICE static __device__ __forceinline__

/* wgmma, TMA and setmaxnreg exist only in code for compute_90a; other targets get empty kernels that plans never choose. */
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define SM90_CODE 1
#endif

/* ---- mbarriers: addresses are shared-memory addresses; a phase is 0 or 1 and flips with every completion ---- */

SM90_DEVICE void sm90_barrier_init(uint32_t barrier, uint32_t arrivals)
{
	asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

/** Makes barriers visible to TMA; follow with __syncthreads. */
SM90_DEVICE void sm90_barrier_init_done()
{
	asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

SM90_DEVICE void sm90_barrier_arrive(uint32_t barrier)
{
	asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/** Arrive, and expect this many bytes of TMA loads before the phase can end. */
SM90_DEVICE void sm90_barrier_expect(uint32_t barrier, uint32_t bytes)
{
	asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

/** Wait until the phase with this parity has ended. */
SM90_DEVICE void sm90_barrier_wait(uint32_t barrier, uint32_t parity)
{
	asm volatile("{\n.reg .pred done;\n"
		     "again_%=:\n"
		     "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
		     "@done bra ready_%=;\n"
		     "bra again_%=;\n"
		     "ready_%=:\n}" ::"r"(barrier),
		     "r"(parity)
		     : "memory");
}

/* ---- named barriers: 1 to 15, 0 is __syncthreads ---- */

SM90_DEVICE void sm90_named_sync(int name, int threads)
{
	asm volatile("bar.sync %0, %1;" ::"r"(name), "r"(threads) : "memory");
}

SM90_DEVICE void sm90_named_arrive(int name, int threads)
{
	asm volatile("bar.arrive %0, %1;" ::"r"(name), "r"(threads) : "memory");
}

/* ---- TMA ---- */

SM90_DEVICE void sm90_prefetch_map(const CUtensorMap *map)
{
	asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/** L2 eviction policies for the loads below. */
#define SM90_EVICT_FIRST 0x12f0000000000000ull
#define SM90_EVICT_LAST  0x14f0000000000000ull

/** Load one box of a (64 columns, token, panel, head) map; arrives on `barrier` with its bytes. */
SM90_DEVICE void sm90_load(uint32_t to, const CUtensorMap *map, uint32_t barrier, int token, int panel, int head, uint64_t policy)
{
	asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint"
		     " [%0], [%1, {%3, %4, %5, %6}], [%2], %7;" ::"r"(to),
		     "l"(map), "r"(barrier), "r"(0), "r"(token), "r"(panel), "r"(head), "l"(policy)
		     : "memory");
}

/** Store one box; belongs to the issuing thread's bulk group. */
SM90_DEVICE void sm90_store(const CUtensorMap *map, uint32_t from, int token, int panel, int head)
{
	asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.bulk_group [%0, {%2, %3, %4, %5}], [%1];" ::"l"(map), "r"(from),
		     "r"(0), "r"(token), "r"(panel), "r"(head)
		     : "memory");
}

/** Load `bytes` (a multiple of 16) of contiguous memory. */
SM90_DEVICE void sm90_load_flat(uint32_t to, const void *from, uint32_t bytes, uint32_t barrier)
{
	asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
		     "l"(from), "r"(bytes), "r"(barrier)
		     : "memory");
}

SM90_DEVICE void sm90_bulk_commit()
{
	asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/** Wait until at most N of this thread's bulk groups still read shared memory. */
template <int N> SM90_DEVICE void sm90_bulk_wait_read()
{
	asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}

/** Wait until at most N of this thread's bulk groups are unfinished. */
template <int N> SM90_DEVICE void sm90_bulk_wait()
{
	asm volatile("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory");
}

/** Make this thread's stores to shared memory visible to TMA and wgmma, after the next barrier. */
SM90_DEVICE void sm90_fence_async()
{
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* ---- register reallocation between warp groups ---- */

template <int N> SM90_DEVICE void sm90_registers_give()
{
	asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
}

template <int N> SM90_DEVICE void sm90_registers_take()
{
	asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
}

/* ---- wgmma ---- */

/** Call before the first wgmma of a group, and after other code wrote accumulators or A registers. */
SM90_DEVICE void sm90_wgmma_fence()
{
	asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

SM90_DEVICE void sm90_wgmma_commit()
{
	asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/** Wait until at most N groups are in flight. */
template <int N> SM90_DEVICE void sm90_wgmma_wait()
{
	asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

/** Prevents the compiler from moving uses of these registers across this point. */
template <int N> SM90_DEVICE void sm90_pin(float (&r)[N])
{
#pragma unroll
	for (int i = 0; i < N; i++)
		asm volatile("" : "+f"(r[i])::"memory");
}

template <int N> SM90_DEVICE void sm90_pin(uint32_t (&r)[N])
{
#pragma unroll
	for (int i = 0; i < N; i++)
		asm volatile("" : "+r"(r[i])::"memory");
}

/**
 * Descriptor of a tile in shared memory, 128-byte swizzle. `panel_bytes`: distance of its panels; needed only for reads across
 * rows.
 * Units: bytes. A step of 16 along the rows is SM90_K_STEP inside a panel; a step of 16 rows is SM90_ROWS_STEP.
 */
SM90_DEVICE uint64_t sm90_descriptor(uint32_t address, uint32_t panel_bytes)
{
	return (uint64_t)1 << 62 | (uint64_t)(1024 >> 4) << 32 | (uint64_t)((panel_bytes >> 4) & 0x3fff) << 16 |
	       (uint64_t)((address & 0x3ffff) >> 4);
}

#define SM90_K_STEP    (32 >> 4)   /* 16 bf16 along a row, inside a panel */
#define SM90_ROWS_STEP (2048 >> 4) /* 16 rows down */

/** Descriptor units to add for step `k` of 16 along rows of a tile whose panels have a distance of panel_bytes. */
SM90_DEVICE constexpr uint32_t sm90_k_offset(int k, uint32_t panel_bytes)
{
	return (uint32_t)(k % 4) * SM90_K_STEP + (uint32_t)(k / 4) * (panel_bytes >> 4);
}

#define SM90_OUT4(d, i)  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SM90_OUT16(d, i) SM90_OUT4(d, i), SM90_OUT4(d, i + 4), SM90_OUT4(d, i + 8), SM90_OUT4(d, i + 12)
#define SM90_OUT32(d)    SM90_OUT16(d, 0), SM90_OUT16(d, 16)
#define SM90_OUT64(d)    SM90_OUT16(d, 0), SM90_OUT16(d, 16), SM90_OUT16(d, 32), SM90_OUT16(d, 48)
#define SM90_LIST16      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define SM90_LIST32                                                                                                              \
	"%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, "                                                                     \
	"%12, %13, %14, %15, %16, %17, %18, %19, %20, %21, "                                                                     \
	"%22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define SM90_LIST64                                                                                                              \
	SM90_LIST32 ", %32, %33, %34, %35, %36, %37, %38, "                                                                      \
		    "%39, %40, %41, %42, %43, %44, %45, %46, "                                                                   \
		    "%47, %48, %49, %50, %51, %52, %53, %54, "                                                                   \
		    "%55, %56, %57, %58, %59, %60, %61, %62, %63"

/**
 * D (64 x N fp32) = A (64 x 16) B (16 x N) [+ D], A and B in shared memory. TA, TB: 1 when that operand is read across its rows
 * (M or N runs along the stored rows). The accumulator of row g (lane / 4) and columns 8 n + 2 (lane % 4) is d[4 n], d[4 n + 1]; row g + 8
 * d[4 n + 2], d[4 n + 3]; warp w of the group owns rows 16 w to 16 w + 15.
 */
template <int TA, int TB> SM90_DEVICE void sm90_mma(float (&d)[16], uint64_t a, uint64_t b, int add)
{
	asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %18, 0;\n"
		     "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 {" SM90_LIST16 "}, %16, %17, add, 1, 1, %19, %20;\n}"
		     : SM90_OUT16(d, 0)
		     : "l"(a), "l"(b), "r"(add), "n"(TA), "n"(TB));
}

template <int TA, int TB> SM90_DEVICE void sm90_mma(float (&d)[32], uint64_t a, uint64_t b, int add)
{
	asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %34, 0;\n"
		     "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {" SM90_LIST32 "}, %32, %33, add, 1, 1, %35, %36;\n}"
		     : SM90_OUT32(d)
		     : "l"(a), "l"(b), "r"(add), "n"(TA), "n"(TB));
}

template <int TA, int TB> SM90_DEVICE void sm90_mma(float (&d)[64], uint64_t a, uint64_t b, int add)
{
	asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %66, 0;\n"
		     "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {" SM90_LIST64 "}, %64, %65, add, 1, 1, %67, %68;\n}"
		     : SM90_OUT64(d)
		     : "l"(a), "l"(b), "r"(add), "n"(TA), "n"(TB));
}

/** The same with A in registers: the layout of an accumulator whose neighbouring pairs are packed to bf16. */
template <int TB> SM90_DEVICE void sm90_mma(float (&d)[32], const uint32_t *a, uint64_t b, int add)
{
	asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %37, 0;\n"
		     "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {" SM90_LIST32
		     "}, {%32, %33, %34, %35}, %36, add, 1, 1, %38;\n}"
		     : SM90_OUT32(d)
		     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add), "n"(TB));
}

template <int TB> SM90_DEVICE void sm90_mma(float (&d)[64], const uint32_t *a, uint64_t b, int add)
{
	asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %69, 0;\n"
		     "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {" SM90_LIST64
		     "}, {%64, %65, %66, %67}, %68, add, 1, 1, %70;\n}"
		     : SM90_OUT64(d)
		     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add), "n"(TB));
}

/* ---- stores from registers ---- */

/**
 * Store four 8x8 bf16 matrices to shared memory; lane l gives the address of row l % 8 of matrix l / 8. TRANS: each is stored
 * transposed.
 */
template <int TRANS> SM90_DEVICE void sm90_store_matrices(uint32_t to, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	if (TRANS)
		asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(a), "r"(b),
			     "r"(c), "r"(d)
			     : "memory");
	else
		asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(a), "r"(b), "r"(c),
			     "r"(d)
			     : "memory");
}

/* ---- order between thread blocks ---- */

SM90_DEVICE int32_t sm90_load_acquire(const int32_t *from)
{
	int32_t value;
	asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
	return value;
}

SM90_DEVICE void sm90_add_release(int32_t *to, int32_t value)
{
	asm volatile("red.release.gpu.global.add.s32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
}

/** Order this thread's memory accesses before accesses of the device that follow the next barrier. */
SM90_DEVICE void sm90_fence_device()
{
	asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

#endif
