// series.cuh - y = sum over k of c[k] x^k by Horner's rule: limited by arithmetic, not by memory.
#pragma once

#include "blockops/runtime.cuh"

namespace blockops {

constexpr int series_terms = 600;

struct series_step {
	const float *x;
	float *y;

	BLOCKOPS_HOST_DEVICE void operator()(size_t i) const
	{
		float sum = 0, at = x[i];

		for (int k = 0; k < series_terms; k++)
			sum = sum * at + 0.5f;
		y[i] = sum;
	}
};

inline void series(size_t n, const float *x, float *y)
{
	for_each(n, series_step{ x, y });
}

} // namespace blockops
