/* Passes around the products of gradients: the derivative of the activation and the gradient of the prologue. */
#include "linear/cpu/cpu.h"
#include "linear/rounding.h"

static float at(const struct contract_matrix *m, int64_t row, int64_t column)
{
	return rounding_widen(((const uint16_t *)m->data)[row * m->stride + column]);
}

void differentiate(const struct contract_matrix *dy, const struct contract_matrix *s, int activation, int32_t m, int32_t n,
	uint16_t *to, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static)
	for (int32_t row = 0; row < m; row++)
		for (int32_t i = 0; i < n; i++)
			to[(int64_t)row * n + i] = rounding_bf16(at(dy, row, i) * rounding_slope(activation, at(s, row, i)));
}

void normalise_backward(
	const struct contract_matrix *x, const uint16_t *d, int32_t m, int32_t k, const struct contract_matrix *dx, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static)
	for (int32_t row = 0; row < m; row++) {
		const uint16_t *const from = d + (int64_t)row * k;
		const struct cpu_moments moments = cpu_moments(x, row, k);
		double mean = 0, along = 0;
		for (int32_t i = 0; i < k; i++) {
			mean += (double)rounding_widen(from[i]) / k;
			along += (double)rounding_widen(from[i]) * ((double)at(x, row, i) - moments.mean) * moments.inverse / k;
		}
		for (int32_t i = 0; i < k; i++) {
			const double v = ((double)at(x, row, i) - moments.mean) * moments.inverse;
			((uint16_t *)dx->data)[row * dx->stride + i] =
				rounding_bf16((float)(((double)rounding_widen(from[i]) - mean - v * along) * moments.inverse));
		}
	}
}
