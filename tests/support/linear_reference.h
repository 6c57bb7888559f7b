/*
 * The expected result of a linear problem, as defined by fw_linear.h and in fp64, one element at a time. Shares no arithmetic
 * with the kernels: 8-bit floats are searched among all values, sums are doubles. Plain C and C++.
 */
#ifndef LINEAR_REFERENCE_H
#define LINEAR_REFERENCE_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/fw_linear.h"

/* The tensors of a problem in memory, packed, bf16; NULL where the direction reads none. */
struct linear_tensors {
	const uint16_t *x, *w, *bias, *dy;
};

/* A side of out = left right^T: element (row, d) is tensor[row * row_step + d * depth_step]. */
struct linear_side {
	const uint16_t *tensor;
	int rows, depth;
	int64_t row_step, depth_step;
	struct fw_linear_operand as;
	double amax; /* of all, where the tensor has one scale */
	int normalised;
	int block_rows; /* rows that share a scale, where a scale is for a block */
};

static inline double linear_widen(uint16_t bf16)
{
	const uint32_t bits = (uint32_t)bf16 << 16;
	float v;
	memcpy(&v, &bits, sizeof v);
	return (double)v;
}

/* The nearest bf16, the even one of two, by comparing both neighbours. */
static inline double linear_to_bf16(double v)
{
	if (v == 0 || !isfinite(v))
		return v;
	int exponent;
	frexp(v, &exponent);
	const double step = ldexp(1.0, (exponent > -125 ? exponent : -125) - 8);
	return nearbyint(v / step) * step;
}

/* The value of a code of an 8-bit float. */
static inline double linear_code(int dtype, int code)
{
	const int mantissa_bits = dtype == FW_E4M3 ? 3 : 2, bias = dtype == FW_E4M3 ? 7 : 15;
	const int exponent = code >> mantissa_bits, mantissa = code & ((1 << mantissa_bits) - 1);
	const double unit = ldexp(1.0, -mantissa_bits);
	return exponent ? ldexp(1.0 + mantissa * unit, exponent - bias) : ldexp(mantissa * unit, 1 - bias);
}

/* The nearest code, the even one of two; 0x7e and 0x7b are the largest finite ones. */
static inline double linear_to_8bit_float(int dtype, double v)
{
	static double values[2][0x7f]; /* of every code, made at the first use */
	const int last = dtype == FW_E4M3 ? 0x7e : 0x7b;
	double *const value = values[dtype == FW_E4M3];
	for (int code = 0; value[last] == 0 && code <= last; code++)
		value[code] = linear_code(dtype, code);
	const double size = fabs(v);
	int best = 0;
	for (int code = 1; code <= last; code++) {
		const double was = fabs(value[best] - size), is = fabs(value[code] - size);
		if (is < was || (is == was && code % 2 == 0))
			best = code;
	}
	return v < 0 ? -value[best] : value[best];
}

static inline double linear_scale(const struct fw_linear_operand *as, double amax)
{
	const float most = as->dtype == FW_I8 ? 127.5f : as->dtype == FW_E4M3 ? 448.0f : 57344.0f;
	const float s = (float)amax / most;
	if (amax == 0)
		return 1;
	double power = ldexp(1.0, -140);
	while ((as->flags & FW_LINEAR_POWER_OF_TWO) && power < (double)s)
		power *= 2;
	return as->flags & FW_LINEAR_POWER_OF_TWO ? power : (double)s;
}

static inline double linear_element(const struct linear_side *s, int64_t row, int64_t d)
{
	return linear_widen(s->tensor[row * s->row_step + d * s->depth_step]);
}

/* (q - 8) s + zero of the element at `at` of W, with the scale of its group of adjacent elements. */
static inline double linear_4bit(const uint16_t *w, int64_t at, int group)
{
	const uint16_t *const first = w + at / group * group; /* k is a multiple of the group */
	float min = (float)linear_widen(first[0]), max = min;
	for (int i = 1; i < group; i++) {
		const float v = (float)linear_widen(first[i]);
		min = v < min ? v : min;
		max = v > max ? v : max;
	}
	float s = (max - min) / 15.0f;
	s = s < 1e-6f ? 1e-6f : s;
	const float zero = min + 8.0f * s, position = ((float)linear_widen(w[at]) - min) / s;
	double q = nearbyint((double)position);
	q = q < 0 ? 0 : q > 15 ? 15 : q;
	return linear_to_bf16((q - 8) * linear_to_bf16((double)s) + linear_to_bf16((double)zero));
}

/* The values from `first` on that share a scale in a row, as they are multiplied. Shape: to [depth], the row as it is quantised. */
static inline void linear_scaled_block(const struct linear_side *s, int64_t row, int first, double *to)
{
	const int end = first + s->as.group < s->depth ? first + s->as.group : s->depth;
	const int64_t top = row / s->block_rows * s->block_rows;
	double amax = 0;
	for (int d = first; d < end; d++)
		amax = fmax(amax, fabs(to[d]));
	for (int64_t r = top; s->block_rows > 1 && r < top + s->block_rows && r < s->rows; r++)
		for (int d = first; d < end; d++)
			amax = fmax(amax, fabs(linear_element(s, r, d)));
	const double scale = linear_scale(&s->as, amax);
	for (int d = first; d < end; d++)
		to[d] = linear_to_8bit_float(s->as.dtype, (double)((float)to[d] / (float)scale)) * scale;
}

/* One row as it is multiplied. Shape: to [depth]. */
static inline void linear_row(const struct linear_side *s, int64_t row, double *to)
{
	for (int d = 0; d < s->depth; d++)
		to[d] = linear_element(s, row, d);
	if (s->normalised) {
		double mean = 0, variance = 0;
		for (int d = 0; d < s->depth; d++)
			mean += to[d] / s->depth;
		for (int d = 0; d < s->depth; d++)
			variance += (to[d] - mean) * (to[d] - mean) / s->depth;
		for (int d = 0; d < s->depth; d++)
			to[d] = linear_to_bf16((to[d] - mean) / sqrt(variance + 1e-5));
	}
	if (s->as.dtype == FW_BF16 || s->as.dtype == 0)
		return;
	if (s->as.dtype == FW_I4) {
		for (int d = 0; d < s->depth; d++)
			to[d] = linear_4bit(s->tensor, row * s->row_step + d * s->depth_step, s->as.group);
		return;
	}
	if (s->as.scaling == FW_LINEAR_BY_BLOCK) {
		for (int first = 0; first < s->depth; first += s->as.group)
			linear_scaled_block(s, row, first, to);
		return;
	}
	double amax = s->amax;
	for (int d = 0; d < s->depth && s->as.scaling == FW_LINEAR_BY_ROW; d++)
		amax = fmax(amax, fabs(to[d]));
	const double scale = linear_scale(&s->as, amax);
	for (int d = 0; d < s->depth; d++) {
		const double v = (double)((float)to[d] / (float)scale);
		const double q =
			s->as.dtype == FW_I8 ? fmin(fmax(nearbyint(v), -128), 127) : linear_to_8bit_float(s->as.dtype, v);
		to[d] = q * scale;
	}
}

static inline struct linear_side linear_side(
	const uint16_t *tensor, int rows, int depth, int is_transposed, const struct fw_linear_operand *as, int normalised)
{
	struct linear_side s;
	memset(&s, 0, sizeof s);
	s.tensor = tensor;
	s.rows = rows;
	s.depth = depth;
	s.row_step = is_transposed ? 1 : depth;
	s.depth_step = is_transposed ? rows : 1;
	s.as = *as;
	s.normalised = normalised;
	s.block_rows = 1;
	if (as->scaling == FW_LINEAR_BY_TENSOR && !normalised) {
		for (int64_t i = 0; i < (int64_t)rows * depth; i++)
			s.amax = fmax(s.amax, fabs(linear_widen(tensor[i])));
	} else if (as->scaling == FW_LINEAR_BY_TENSOR) {
		struct linear_side plain = s;
		memset(&plain.as, 0, sizeof plain.as);
		double *row = (double *)malloc((size_t)depth * sizeof *row);
		for (int r = 0; r < rows; r++) {
			linear_row(&plain, r, row);
			for (int d = 0; d < depth; d++)
				s.amax = fmax(s.amax, fabs(row[d]));
		}
		free(row);
	}
	return s;
}

static inline void linear_sides(const struct fw_linear_shape *s, int direction, const struct linear_tensors *t,
	struct linear_side *left, struct linear_side *right)
{
	const int is_weight = direction != FW_WGRAD;
	if (direction == FW_FORWARD) {
		*left = linear_side(t->x, s->m, s->k, 0, &s->x, s->prologue == FW_LINEAR_LAYERNORM);
		*right = linear_side(t->w, s->n, s->k, 0, &s->w, 0);
	} else if (direction == FW_DGRAD) {
		*left = linear_side(t->dy, s->m, s->n, 0, &s->dy, 0);
		*right = linear_side(t->w, s->k, s->n, 1, &s->w, 0);
	} else {
		*left = linear_side(t->dy, s->n, s->m, 1, &s->dy, 0);
		*right = linear_side(t->x, s->k, s->m, 1, &s->x, 0);
	}
	right->block_rows = is_weight && s->w.scaling == FW_LINEAR_BY_BLOCK ? s->w.group : 1;
}

static inline double linear_activate(int activation, double v)
{
	switch (activation) {
	case FW_LINEAR_RELU:
		return fmax(v, 0);
	case FW_LINEAR_SIGMOID:
		return 1 / (1 + exp(-v));
	case FW_LINEAR_LEAKYRELU:
		return fmax(v, 0) + 0.01 * fmin(v, 0);
	case FW_LINEAR_RELU6:
		return fmin(fmax(v, 0), 6);
	case FW_LINEAR_GELU:
		return v * 0.5 * erfc(-v / sqrt(2));
	case FW_LINEAR_SILU:
		return v / (1 + exp(-v));
	case FW_LINEAR_HARDSWISH:
		return v * fmin(fmax(v + 3, 0), 6) / 6;
	default:
		return v;
	}
}

/*
 * Whether `got` is epilogue(left . right) rounded to bf16. `slack`: the error of sums in fp32, as a share of the sum of
 * magnitudes; an error before an activation is multiplied by at most 1.13 in the result.
 */
static inline int linear_is_right(
	const double *left, const double *right, int depth, double bias, int activation, double slack, double got, double *wanted)
{
	double sum = bias, size = fabs(bias);
	for (int d = 0; d < depth; d++) {
		sum += left[d] * right[d];
		size += fabs(left[d] * right[d]);
	}
	*wanted = linear_activate(activation, sum);
	return fabs(got - *wanted) <= fabs(*wanted) / 256 + 1.13 * slack * size + 1e-30;
}

#endif
