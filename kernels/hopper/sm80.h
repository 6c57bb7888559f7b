/**
 * sm80.h - instructions of sm_80 and later without a C++ equivalent: cp.async, ldmatrix, mma.sync, ex2, cvt, red.
 * Tiles in shared memory are rows of bf16 in chunks of 16 bytes; chunk c of row r is at position c ^ (r & 7), so that the eight
 * rows of an 8x8 matrix touch all 32 banks once. Row bases are multiples of the row size (128 or 256 bytes), so that a lane's
 * address for another chunk is one XOR and for another row of the same parity one addition.
 *
 * Fragments of mma.m16n8k16, lane = 4 g + t: A holds rows g, g + 8 and columns 2t, 2t + 1, + 8; B rows 2t, 2t + 1, + 8 and
 * column g; C rows g, g + 8 and columns 2t, 2t + 1.
 */
#ifndef HOPPER_SM80_H
#define HOPPER_SM80_H

#include <cuda_bf16.h>
#include <stdint.h>

#define SM80_DEVICE static __device__ __forceinline__

SM80_DEVICE uint32_t sm80_shared(const void *p)
{
	return (uint32_t)__cvta_generic_to_shared(p);
}

/** Copy 16 bytes from global to shared memory; writes zeros and reads nothing when not `valid`. */
SM80_DEVICE void sm80_copy16(uint32_t to, const void *from, bool valid)
{
	int bytes = valid ? 16 : 0;
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}

SM80_DEVICE void sm80_copy_commit(void)
{
	asm volatile("cp.async.commit_group;" ::: "memory");
}

SM80_DEVICE void sm80_copy_wait(void)
{
	asm volatile("cp.async.wait_group 0;" ::: "memory");
}

/** Load four 8x8 matrices; lane l gives the address of row l % 8 of matrix l / 8. */
SM80_DEVICE void sm80_load4(uint32_t r[4], uint32_t address)
{
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
		     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
		     : "r"(address));
}

/** As sm80_load4, each matrix transposed. */
SM80_DEVICE void sm80_load4_transposed(uint32_t r[4], uint32_t address)
{
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
		     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
		     : "r"(address));
}

/** c += a b, 16x8 += 16x16 times 16x8. */
SM80_DEVICE void sm80_mma(float c[4], const uint32_t a[4], uint32_t b0, uint32_t b1)
{
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, "
		     "%2, %3};"
		     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
		     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

SM80_DEVICE float sm80_exp2(float x)
{
	float y;
	asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
	return y;
}

/** Convert two floats to bf16, `low` in the lower half. */
SM80_DEVICE uint32_t sm80_pack(float low, float high)
{
	uint32_t r;
	asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
	return r;
}

SM80_DEVICE void sm80_store_shared(uint32_t address, uint32_t value)
{
	asm volatile("st.shared.b32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}

SM80_DEVICE uint4 sm80_load_shared16(uint32_t address)
{
	uint4 r;
	asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
		     : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w)
		     : "r"(address)
		     : "memory");
	return r;
}

SM80_DEVICE float2 sm80_load_shared_pair(uint32_t address)
{
	float2 r;
	asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(r.x), "=f"(r.y) : "r"(address) : "memory");
	return r;
}

/** Add four floats to global memory; the order of additions from several thread blocks is undefined. */
SM80_DEVICE void sm80_add4(float *to, const float c[4])
{
#if __CUDA_ARCH__ >= 900
	asm volatile(
		"red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3])
		: "memory");
#else
	for (int i = 0; i < 4; i++)
		atomicAdd(to + i, c[i]);
#endif
}

#endif
