/* quantise.c - scales and roundings in fp32, one value after the other. */
#include "families/linear/internal.h"

#include <math.h>

#include "model/model.h"

float quantise_scale(const struct fw_linear_operand *as, float amax)
{
	float largest = as->dtype == FW_I8 ? 127.5f : as->dtype == FW_E5M2 ? 57344.0f : 448.0f, s = amax / largest;
	int exponent;

	if (!(s > 0))
		return 1;
	if (!(as->flags & FW_LINEAR_POWER_OF_TWO))
		return s;
	return frexpf(s, &exponent) == 0.5f ? s : ldexpf(1, exponent);
}

/* The nearest float of `mantissa` bits and the least exponent `least`, ties to even, at most `largest`. */
static float shortened(float v, int mantissa, int least, float largest)
{
	int exponent;

	(void)frexpf(v, &exponent);
	float step = ldexpf(1, (exponent - 1 > least ? exponent - 1 : least) - mantissa), near = rintf(v / step) * step;

	return fmaxf(-largest, fminf(largest, near));
}

double quantise_value(const struct fw_linear_operand *as, float x, float s)
{
	switch (as->dtype) {
	case FW_I8:
		return (double)fmaxf(-128, fminf(127, rintf(x / s))) * (double)s;
	case FW_E4M3:
		return (double)shortened(x / s, 3, -6, 448) * (double)s;
	case FW_E5M2:
		return (double)shortened(x / s, 2, -14, 57344) * (double)s;
	default:
		return (double)x;
	}
}

static float to_bf16(float v)
{
	return inputs_bf16_to_float(inputs_float_to_bf16(v));
}

void quantise_group(const float *x, int n, double *out)
{
	float min = x[0], max = x[0];

	for (int i = 1; i < n; i++) {
		min = fminf(min, x[i]);
		max = fmaxf(max, x[i]);
	}
	float step = fmaxf((max - min) / 15, 1e-6f), scale = to_bf16(step), zero = to_bf16(min + 8 * step);

	for (int i = 0; i < n; i++) {
		float q = fmaxf(0, fminf(15, rintf((x[i] - min) / step)));

		out[i] = (double)to_bf16((q - 8) * scale + zero);
	}
}
