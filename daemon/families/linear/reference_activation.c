/* reference_activation.c - see internal.h. */
#include "families/linear/internal.h"

#include <math.h>

#include "kernels/fw_linear.h"

/* 0.5 v (1 + erf) in fp32 is off by a unit in the last place of 1, times v. */
#define FP32_ACTIVATED 1e-6

double activation_of(int activation, double v)
{
	switch (activation) {
	case FW_LINEAR_RELU:
		return fmax(v, 0);
	case FW_LINEAR_SIGMOID:
		return 1 / (1 + exp(-v));
	case FW_LINEAR_LEAKYRELU:
		return v < 0 ? 0.01 * v : v;
	case FW_LINEAR_RELU6:
		return fmin(fmax(v, 0), 6);
	case FW_LINEAR_GELU:
		return 0.5 * v * erfc(-v / sqrt(2));
	case FW_LINEAR_SILU:
		return v / (1 + exp(-v));
	case FW_LINEAR_HARDSWISH:
		return v * fmin(fmax(v + 3, 0), 6) / 6;
	default:
		return v;
	}
}

/* Where it is smallest, of those that fall before they rise; the others rise everywhere. */
static double lowest_at(int activation)
{
	return activation == FW_LINEAR_GELU        ? -0.7517916
	       : activation == FW_LINEAR_SILU      ? -1.2784645
	       : activation == FW_LINEAR_HARDSWISH ? -1.5
						   : INFINITY;
}

double activation_reach(int activation, double v, double noise)
{
	double here = activation_of(activation, v), lowest = lowest_at(activation);
	double reach = fmax(fabs(activation_of(activation, v - noise) - here), fabs(activation_of(activation, v + noise) - here));

	if (fabs(lowest - v) < noise)
		reach = fmax(reach, here - activation_of(activation, lowest));
	return activation ? reach + FP32_ACTIVATED * (1 + fabs(v)) : noise;
}
