// saxpy.cuh - y += a x.
#pragma once

#include "blockops/runtime.cuh"

namespace blockops {

struct saxpy_step {
	float a;
	const float *x;
	float *y;

	BLOCKOPS_HOST_DEVICE void operator()(size_t i) const { y[i] += a * x[i]; }
};

inline void saxpy(size_t n, float a, const float *x, float *y)
{
	for_each(n, saxpy_step{ a, x, y });
}

} // namespace blockops
