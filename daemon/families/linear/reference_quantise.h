/**
 * reference_quantise.h - the values that a kernel multiplies for an operand, as kernels/fw_linear.h defines them: scales and
 * roundings in fp32, one value after the other, on the host and on a GPU. Written independently of the kernels that it checks.
 */
#ifndef FAMILIES_LINEAR_REFERENCE_QUANTISE_H
#define FAMILIES_LINEAR_REFERENCE_QUANTISE_H

#include <math.h>

#include "kernels/fw_linear.h"
#include "model/model.h"

/** Return the scale of values whose largest magnitude is `amax`, for e4m3, e5m2 and i8. */
INPUTS_FN float quantise_scale(const struct fw_linear_operand *as, float amax)
{
	float largest = as->dtype == FW_I8 ? 127.5f : as->dtype == FW_E5M2 ? 57344.0f : 448.0f, s = amax / largest;
	int exponent;

	if (!(s > 0))
		return 1;
	if (!(as->flags & FW_LINEAR_POWER_OF_TWO))
		return s;
	return frexpf(s, &exponent) == 0.5f ? s : ldexpf(1, exponent);
}

/** Return the nearest float of `mantissa` bits whose exponent is at least `least`, ties to even, at most `largest`. */
INPUTS_FN float quantise_shorten(float v, int mantissa, int least, float largest)
{
	int exponent;

	(void)frexpf(v, &exponent);
	float step = ldexpf(1, (exponent - 1 > least ? exponent - 1 : least) - mantissa), nearest = rintf(v / step) * step;

	return fmaxf(-largest, fminf(largest, nearest));
}

/** Return what `x` becomes under scale `s`: the rounded value times its scale. bf16: x. */
INPUTS_FN double quantise_value(const struct fw_linear_operand *as, float x, float s)
{
	switch (as->dtype) {
	case FW_I8:
		return (double)fmaxf(-128, fminf(127, rintf(x / s))) * (double)s;
	case FW_E4M3:
		return (double)quantise_shorten(x / s, 3, -6, 448) * (double)s;
	case FW_E5M2:
		return (double)quantise_shorten(x / s, 2, -14, 57344) * (double)s;
	default:
		return (double)x;
	}
}

/** How a group of 4-bit values is rounded. */
struct quantise_group {
	float min, step, scale, zero;
};

INPUTS_FN float quantise_to_bf16(float v)
{
	return inputs_bf16_to_float(inputs_float_to_bf16(v));
}

/** Return the rounding of a group whose values lie in [min, max]. */
INPUTS_FN struct quantise_group quantise_group_make(float min, float max)
{
	struct quantise_group g = { min, fmaxf((max - min) / 15, 1e-6f), 0, 0 };

	g.scale = quantise_to_bf16(g.step);
	g.zero = quantise_to_bf16(min + 8 * g.step);
	return g;
}

/** Return what `x` of a group becomes. The product is exact in fp32, so a fused multiply-add gives the same. */
INPUTS_FN double quantise_group_value(const struct quantise_group *g, float x)
{
	float q = fmaxf(0, fminf(15, rintf((x - g->min) / g->step)));

	return (double)quantise_to_bf16((q - 8) * g->scale + g->zero);
}

#endif
