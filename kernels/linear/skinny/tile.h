/**
 * tile.h - conversion of W from shared memory to bf16 in registers: one lane's elements of a 16 x 64 tile, as operand A of four
 * mma.m16n8k16.
 */
#ifndef LINEAR_SKINNY_TILE_H
#define LINEAR_SKINNY_TILE_H

#include "hopper/sm90.h"
#include "linear/skinny/skinny.h"

#define SKINNY_DEVICE static __device__ __forceinline__

SKINNY_DEVICE uint32_t skinny_fma2(uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t r;
	asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
	return r;
}

/*
 * place() is the offset of a lane's data of a tile from the beginning of a chunk, in bytes; step() is the distance to the next
 * tile. load() reads it from shared memory, fragment() returns A of columns 4 j to 4 j + 3 of every lane.
 */
template <int FORMAT> struct skinny_tile;

/* Tiles as pack.cu lays them out: a lane's data is contiguous. */
template <int BYTES> struct skinny_packed {
	SKINNY_DEVICE uint32_t place(int, int blocks, int tile, int block, int lane)
	{
		return (tile * blocks + block) * BYTES + lane * 16;
	}

	SKINNY_DEVICE uint32_t step(int blocks)
	{
		return blocks * BYTES;
	}
};

template <> struct skinny_tile<FW_I4> : skinny_packed<512> {
	uint4 raw;
	uint32_t scale[2], zero[2]; /* for rows g and g + 8, twice each; the scale times 64 */

	SKINNY_DEVICE void load(skinny_tile &t, uint32_t values, uint32_t scales)
	{
		t.raw = sm80_load_shared16(values);
		uint32_t upper, lower;
		asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(upper), "=r"(lower) : "r"(scales) : "memory");
		t.scale[0] = __byte_perm(upper, 0, 0x1010);
		t.zero[0] = __byte_perm(upper, 0, 0x3232);
		t.scale[1] = __byte_perm(lower, 0, 0x1010);
		t.zero[1] = __byte_perm(lower, 0, 0x3232);
	}

	/*
	 * The bits of a nibble as a bf16 subnormal are q 2^-133, or 2^-129 if the nibble is four bits higher: no exponent bits
	 * have to be inserted, and half of the nibbles need no shift. The fma multiplies by 2^127, or 2^123, and subtracts 8 in
	 * the same unit; the result is exact.
	 */
	SKINNY_DEVICE uint32_t pair(uint32_t eight, int i, uint32_t scale, uint32_t zero)
	{
		const uint32_t four = i < 2 ? eight : eight >> 8;
		const uint32_t q = i % 2 == 0 ? skinny_fma2(four & 0x000f000fu, 0x7f007f00u, 0xbe00be00u)
					      : skinny_fma2(four & 0x00f000f0u, 0x7d007d00u, 0xbe00be00u);
		return skinny_fma2(q, scale, zero);
	}

	SKINNY_DEVICE void fragment(const skinny_tile &t, int j, uint32_t a[4])
	{
		const uint32_t upper = j < 2 ? t.raw.x : t.raw.y, lower = j < 2 ? t.raw.z : t.raw.w;
		const int i = j % 2 * 2;
		a[0] = pair(upper, i, t.scale[0], t.zero[0]);
		a[1] = pair(lower, i, t.scale[1], t.zero[1]);
		a[2] = pair(upper, i + 1, t.scale[0], t.zero[0]);
		a[3] = pair(lower, i + 1, t.scale[1], t.zero[1]);
	}
};

SKINNY_DEVICE uint32_t skinny_word(const uint4 &row, int j)
{
	return j == 0 ? row.x : j == 1 ? row.y : j == 2 ? row.z : row.w;
}

/* Rows of 8-bit values. */
struct skinny_bytes : skinny_packed<1024> {
	uint4 upper, lower;

	SKINNY_DEVICE void load(skinny_bytes &t, uint32_t values, uint32_t)
	{
		t.upper = sm80_load_shared16(values);
		t.lower = sm80_load_shared16(values + 512);
	}
};

template <> struct skinny_tile<FW_I8> : skinny_bytes {
	/* 2^23 + u has u in its lowest bits; the difference is an integer of 8 bits, so its upper half holds it exactly. */
	SKINNY_DEVICE uint32_t pair(uint32_t four, int i)
	{
		const float less = 8388608.0f + 128.0f;
		const float even = __uint_as_float(__byte_perm(four, 0x4b000000u, 0x7440 + i)) - less;
		const float odd = __uint_as_float(__byte_perm(four, 0x4b000000u, 0x7441 + i)) - less;
		return __byte_perm(__float_as_uint(even), __float_as_uint(odd), 0x7632);
	}

	SKINNY_DEVICE void fragment(const skinny_tile &t, int j, uint32_t a[4])
	{
		a[0] = pair(skinny_word(t.upper, j), 0);
		a[1] = pair(skinny_word(t.lower, j), 0);
		a[2] = pair(skinny_word(t.upper, j), 2);
		a[3] = pair(skinny_word(t.lower, j), 2);
	}
};

template <> struct skinny_tile<FW_E4M3> : skinny_bytes {
	/*
	 * The bits of an e4m3, placed in a bf16, give an exponent that is 120 too small; also for small values, since bf16 has
	 * subnormals.
	 */
	SKINNY_DEVICE uint32_t pair(uint32_t upper_bytes)
	{
		const uint32_t v = (upper_bytes & 0x80008000u) | ((upper_bytes >> 4) & 0x07f007f0u);
		return skinny_fma2(v, 0x7b807b80u, 0x80008000u);
	}

	SKINNY_DEVICE void fragment(const skinny_tile &t, int j, uint32_t a[4])
	{
		a[0] = pair(skinny_word(t.upper, j));
		a[1] = pair(skinny_word(t.lower, j));
		a[2] = pair(skinny_word(t.upper, j) << 8);
		a[3] = pair(skinny_word(t.lower, j) << 8);
	}
};

/* Rows in memory order, swizzled: 128 bytes each, all rows of a chunk in one block of 64 columns. */
template <> struct skinny_tile<FW_BF16> {
	uint4 upper[2], lower[2]; /* columns 16 t to 16 t + 7, and the next eight */

	SKINNY_DEVICE uint32_t place(int block_n, int, int tile, int block, int lane)
	{
		const int g = lane / 4, t = lane % 4;
		return (block * block_n + tile * 16 + g) * 128 + (2 * t ^ g) * 16;
	}

	SKINNY_DEVICE uint32_t step(int)
	{
		return 16 * 128;
	}

	SKINNY_DEVICE void load(skinny_tile &t, uint32_t values, uint32_t)
	{
		for (int half = 0; half < 2; half++) {
			t.upper[half] = sm80_load_shared16(values ^ 16 * half);
			t.lower[half] = sm80_load_shared16((values ^ 16 * half) + 8 * 128);
		}
	}

	SKINNY_DEVICE void fragment(const skinny_tile &t, int j, uint32_t a[4])
	{
		a[0] = skinny_word(t.upper[j / 2], j % 2 * 2);
		a[1] = skinny_word(t.lower[j / 2], j % 2 * 2);
		a[2] = skinny_word(t.upper[j / 2], j % 2 * 2 + 1);
		a[3] = skinny_word(t.lower[j / 2], j % 2 * 2 + 1);
	}
};

#endif
