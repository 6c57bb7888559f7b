/**
 * sums.h - the arithmetic and the reading that rows.c and keys.c share.
 */
#ifndef FAMILIES_ATTENTION_REFERENCE_SUMS_H
#define FAMILIES_ATTENTION_REFERENCE_SUMS_H

#include <stdlib.h>

#include "families/attention/reference_math.h"
#include "families/attention/reference_mask.h"

enum { REFERENCE_HEADDIM_MAX = 1024 };

static inline void *array(size_t n, size_t size)
{
	return calloc(n + 1, size);
}

static inline double sums_dot(const float *x, const float *y, int n)
{
	double sum = 0;
#pragma omp simd reduction(+ : sum)
	for (int i = 0; i < n; i++)
		sum += (double)x[i] * (double)y[i];
	return sum;
}

/* Sums for one output row, finished by `finish`. */
struct sums {
	double *exact;
	float *naive, *noise; /* noise holds variances until finished */
};

static inline void sums_add(struct sums s, const float *x, int n, double factor, float naive_factor, double noise_factor)
{
	float variance = (float)(noise_factor * noise_factor);
#pragma omp simd
	for (int i = 0; i < n; i++) {
		s.exact[i] += factor * (double)x[i];
		s.naive[i] += naive_factor * x[i];
		s.noise[i] += variance * x[i] * x[i];
	}
}

static inline void sums_finish(struct sums s, int n, double scale)
{
	for (int i = 0; i < n; i++) {
		s.exact[i] *= scale;
		s.naive[i] = reference_round(s.naive[i] * (float)scale);
		s.noise[i] = sqrtf(s.noise[i]) * (float)scale;
	}
}

/* Standard deviation of delta = rowsum(dO * O), each element of O rounded to bf16. */
static inline double delta_noise(const float *dout, const float *o, int n)
{
	double sum = 0;
#pragma omp simd reduction(+ : sum)
	for (int i = 0; i < n; i++)
		sum += (double)dout[i] * (double)dout[i] * (double)o[i] * (double)o[i];
	return REFERENCE_DELTA_NOISE * sqrt(sum);
}

static inline struct sums sums_of(const struct reference_tensor *t, int64_t i)
{
	size_t at = (size_t)i * (size_t)t->width;
	return (struct sums){ t->exact + at, t->naive + at, t->noise + at };
}

/* One vector of Q, K, V or dO, which are in host memory or generated: cannot fail, and any thread may. */
static inline void load_row(const struct reference_io *io, int slot, struct reference_position at, float *out)
{
	uint16_t bits[REFERENCE_HEADDIM_MAX] = { 0 };
	int d = attention_in(io->cell)->headdim;
	(void)reference_read(io, slot, reference_slot_offset(io->cell, slot, at), (size_t)d, bits, NULL);
	for (int j = 0; j < d; j++)
		out[j] = reference_from_bf16(bits[j]);
}

static inline int read_row(const struct reference_io *io, int slot, struct reference_position at, float *out, struct fw_err *err)
{
	uint16_t bits[REFERENCE_HEADDIM_MAX];
	int d = attention_in(io->cell)->headdim;
	if (reference_read(io, slot, reference_slot_offset(io->cell, slot, at), (size_t)d, bits, err))
		return -1;
	for (int j = 0; j < d; j++)
		out[j] = reference_from_bf16(bits[j]);
	return 0;
}

#endif
