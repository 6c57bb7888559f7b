/**
 * matrix.h - small fp32 matrix products and the softmax arithmetic, in GCC's vector types.
 *
 * Included by forward.c and backward.c, which the Makefile compiles once for each instruction set; everything here is static,
 * so that each copy gets its own. Sums run over the inner dimension in rising order whatever the vector length.
 */
#ifndef ATTENTION_CPU_MATRIX_H
#define ATTENTION_CPU_MATRIX_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "attention/cpu/tile.h"

#if defined(__AVX512F__)
#define LANES 16
#elif defined(__AVX__)
#define LANES 8
#else
#define LANES 4
#endif

typedef float vec __attribute__((vector_size(LANES * 4), aligned(4)));
typedef int32_t ivec __attribute__((vector_size(LANES * 4), aligned(4)));
typedef uint16_t hvec __attribute__((vector_size(LANES * 2), aligned(2)));

#define LOG2E 1.4426950408889634
#define LN2   0.6931471805599453f

#define INLINE static inline __attribute__((always_inline))

INLINE vec load(const float *p)
{
	return *(const vec *)p;
}

INLINE void store(float *p, vec v)
{
	*(vec *)p = v;
}

INLINE vec splat(float x)
{
	return x - (vec){ 0 };
}

INLINE float bf16_to_float(uint16_t bits)
{
	uint32_t u = (uint32_t)bits << 16;
	float f;
	memcpy(&f, &u, sizeof f);
	return f;
}

INLINE uint16_t bf16_from_float(float f)
{
	uint32_t u;
	memcpy(&u, &f, sizeof u);
	if (f != f)
		return 0x7fc0;
	return (uint16_t)((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
}

/** Finite values only. */
INLINE float f16_to_float(uint16_t bits)
{
	uint32_t u = (uint32_t)(bits & 0x7fffu) << 13;
	float f;
	memcpy(&f, &u, sizeof f);
	f *= 0x1p112f; /* the difference of the exponents' offsets; exact, also for subnormals */
	return bits & 0x8000u ? -f : f;
}

INLINE uint16_t f16_from_float(float f)
{
	uint32_t u;
	memcpy(&u, &f, sizeof u);
	uint32_t sign = u >> 16 & 0x8000u, magnitude = u & 0x7fffffffu;
	if (magnitude > 0x7f800000u)
		return 0x7e00;
	if (magnitude >= 0x477ff000u)
		return (uint16_t)(sign | 0x7c00u);
	if (magnitude < 0x38800000u) { /* subnormal: in 0.5 the last bit is 2^-24 */
		float x;
		memcpy(&x, &magnitude, sizeof x);
		x += 0.5f;
		memcpy(&magnitude, &x, sizeof magnitude);
		return (uint16_t)(sign | (magnitude - 0x3f000000u));
	}
	return (uint16_t)(sign | (magnitude + 0xfffu + (magnitude >> 13 & 1u) - 0x38000000u) >> 13);
}

/** A value of a tensor: f16, else bf16. */
INLINE float to_float(bool half, uint16_t bits)
{
	return half ? f16_to_float(bits) : bf16_to_float(bits);
}

/** 2^x for x <= 0. Values below -126.5, including -inf, give exactly 0. Relative error 2e-7. */
INLINE vec exp2_vec(vec x)
{
	const vec lowest = splat(-127.0f), magic = splat(12582912.0f); /* 1.5 * 2^23: adding it rounds to an integer */
	ivec high = x > lowest;
	x = (vec)(((ivec)x & high) | ((ivec)lowest & ~high));
	vec shifted = x + magic;
	ivec exponent = (ivec)shifted - (ivec)magic;
	vec f = x - (shifted - magic); /* within -0.5 .. 0.5 */
	vec y = splat(1.5403530393e-4f);
	y = y * f + 1.3333558146e-3f;
	y = y * f + 9.6181291076e-3f;
	y = y * f + 5.5504108665e-2f;
	y = y * f + 2.4022650696e-1f;
	y = y * f + 6.9314718056e-1f;
	y = y * f + 1.0f;
	return y * (vec)((exponent + 127) << 23);
}

INLINE float max_of(vec v)
{
	float m = v[0];
	for (int i = 1; i < LANES; i++)
		m = v[i] > m ? v[i] : m;
	return m;
}

/** Pairs of lanes, then pairs of pairs: one fixed order. */
INLINE float sum_of(vec v)
{
	float s[LANES];
	memcpy(s, &v, sizeof s);
	for (int half = LANES / 2; half > 0; half /= 2)
		for (int i = 0; i < half; i++)
			s[i] += s[i + half];
	return s[0];
}

INLINE vec max_vec(vec a, vec b)
{
	ivec first = a > b;
	return (vec)(((ivec)a & first) | ((ivec)b & ~first));
}

/** Layout of a matrix: element (i, j) is at p[i * row + j * column]. */
struct view {
	const float *p;
	int row, column;
};

/* One register block of C (+)= A B: BLOCK_ROWS rows, `vectors` vectors wide. */
INLINE void multiply_block(int vectors, int inner, struct view a, const float *b, int b_row, float *c, int c_row, bool add)
{
	vec sum[BLOCK_ROWS][BLOCK_VECTORS];
	for (int i = 0; i < BLOCK_ROWS; i++)
		for (int v = 0; v < vectors; v++)
			sum[i][v] = add ? load(c + i * c_row + v * LANES) : (vec){ 0 };
	for (int k = 0; k < inner; k++) {
		vec right[BLOCK_VECTORS];
		for (int v = 0; v < vectors; v++)
			right[v] = load(b + (int64_t)k * b_row + v * LANES);
		for (int i = 0; i < BLOCK_ROWS; i++)
			for (int v = 0; v < vectors; v++)
				sum[i][v] += a.p[i * a.row + k * a.column] * right[v];
	}
	for (int i = 0; i < BLOCK_ROWS; i++)
		for (int v = 0; v < vectors; v++)
			store(c + i * c_row + v * LANES, sum[i][v]);
}

/**
 * C = A B, or C += A B. Shape: A rows x inner, B inner x columns, C rows x columns, B and C row-major.
 * `rows` is a multiple of BLOCK_ROWS, `columns` of LANES.
 */
INLINE void multiply(int rows, int columns, int inner, struct view a, const float *b, int b_row, float *c, int c_row, bool add)
{
	int j = 0;
	for (; j + BLOCK_VECTORS * LANES <= columns; j += BLOCK_VECTORS * LANES)
		for (int i = 0; i < rows; i += BLOCK_ROWS) {
			struct view rows_of_a = { a.p + (int64_t)i * a.row, a.row, a.column };
			multiply_block(BLOCK_VECTORS, inner, rows_of_a, b + j, b_row, c + (int64_t)i * c_row + j, c_row, add);
		}
	for (; j < columns; j += LANES)
		for (int i = 0; i < rows; i += BLOCK_ROWS) {
			struct view rows_of_a = { a.p + (int64_t)i * a.row, a.row, a.column };
			multiply_block(1, inner, rows_of_a, b + j, b_row, c + (int64_t)i * c_row + j, c_row, add);
		}
}

/**
 * Unpack `count` rows of f16 or bf16 to fp32 times `factor`, and zero the rows up to `padded`.
 * Shape: from (count, width), rows `stride` apart; to (padded, width), rows `to_row` apart; width a multiple of LANES.
 */
INLINE void unpack_rows(
	bool half, const uint16_t *from, int64_t stride, int count, int padded, int width, float factor, float *to, int to_row)
{
	for (int i = 0; i < count; i++)
		for (int j = 0; j < width; j += LANES) {
			hvec bits = *(const hvec *)(from + i * stride + j);
			ivec wide = __builtin_convertvector(bits, ivec);
			vec v = half ? (vec)((ivec)((vec)((wide & 0x7fff) << 13) * 0x1p112f) | (wide & 0x8000) << 16)
				     : (vec)(wide << 16);
			store(to + (int64_t)i * to_row + j, v * factor);
		}
	for (int i = count; i < padded; i++)
		memset(to + (int64_t)i * to_row, 0, (size_t)width * sizeof(float));
}

/** As unpack_rows, transposed: to[j][i] is element j of row i. Shape: to (width, padded), rows `to_row` apart. */
INLINE void unpack_columns(
	bool half, const uint16_t *from, int64_t stride, int count, int padded, int width, float *to, int to_row)
{
	for (int j = 0; j < width; j++) {
		float *out = to + (int64_t)j * to_row;
		for (int i = 0; i < count; i++)
			out[i] = to_float(half, from[i * stride + j]);
		for (int i = count; i < padded; i++)
			out[i] = 0;
	}
}

/** Pack one fp32 row times `factor` to f16 or bf16. */
INLINE void pack_row(bool half, const float *from, int width, float factor, uint16_t *to)
{
	for (int j = 0; j < width; j++)
		to[j] = half ? f16_from_float(from[j] * factor) : bf16_from_float(from[j] * factor);
}

/**
 * Set the scores of pairs outside a token mask to -inf. Shape: s (rows, count), rows `key_row` apart; bits of the first row, rows
 * `words` apart; `first` is the bit of the first key.
 */
INLINE void hide_pairs(const uint32_t *bits, int64_t words, int first, int rows, int count, float *s, int key_row)
{
	for (int i = 0; i < rows; i++)
		for (int j = 0; j < count; j++)
			if (!(bits[i * words + (first + j) / 32] >> ((first + j) % 32) & 1u))
				s[i * key_row + j] = -INFINITY;
}

/** The next `n` floats of a thread's scratch, on a cache line. Own: the scratch. */
INLINE float *take(uintptr_t *at, size_t n)
{
	float *p = (float *)*at;
	*at += (n * sizeof(float) + 63) / 64 * 64;
	return p;
}

INLINE int round_up(int n, int to)
{
	return (n + to - 1) / to * to;
}

#endif
