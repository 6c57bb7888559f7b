/* reference_normalise.c - see internal.h. */
#include "families/linear/internal.h"

#include <math.h>

#include "model/model.h"

struct moments {
	double mean, deviation; /* root of variance + 1e-5 */
};

static struct moments moments_of(const float *x, int64_t n)
{
	double mean = 0, squares = 0;

#pragma omp simd reduction(+ : mean)
	for (int64_t i = 0; i < n; i++)
		mean += (double)x[i];
	mean /= (double)n;
#pragma omp simd reduction(+ : squares)
	for (int64_t i = 0; i < n; i++)
		squares += ((double)x[i] - mean) * ((double)x[i] - mean);
	return (struct moments){ mean, sqrt(squares / (double)n + 1e-5) };
}

static float normalised(const struct moments *m, float x)
{
	return inputs_bf16_to_float(inputs_float_to_bf16((float)(((double)x - m->mean) / m->deviation)));
}

void normalise(float *x, int64_t n)
{
	struct moments m = moments_of(x, n);

	for (int64_t i = 0; i < n; i++)
		x[i] = normalised(&m, x[i]);
}

float normalised_largest(const float *x, int64_t n)
{
	struct moments m = moments_of(x, n);
	float min = x[0], max = x[0];

	for (int64_t i = 1; i < n; i++) {
		min = x[i] < min ? x[i] : min;
		max = x[i] > max ? x[i] : max;
	}
	return fmaxf(fabsf(normalised(&m, min)), fabsf(normalised(&m, max)));
}
