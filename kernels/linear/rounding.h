/**
 * rounding.h - the arithmetic of fw_linear.h on single values, the same code for CPU and CUDA: scales, rounding, activations.
 * Rounded values (q of 8 bits, or (q - 8) s + zero of 4 bits) are exact in bf16 and are stored in it here.
 */
#ifndef LINEAR_ROUNDING_H
#define LINEAR_ROUNDING_H

#include "fw_linear.h"

#include <math.h>
#include <string.h>

#ifdef __CUDACC__
#define ROUNDING static __host__ __device__ inline
#else
#define ROUNDING static inline
#endif

ROUNDING float rounding_widen(uint16_t bf16)
{
	const uint32_t bits = (uint32_t)bf16 << 16;
	float v;
	memcpy(&v, &bits, sizeof v);
	return v;
}

/** Round to nearest even; a NaN stays a NaN. */
ROUNDING uint16_t rounding_bf16(float v)
{
	uint32_t bits;
	memcpy(&bits, &v, sizeof bits);
	if ((bits & 0x7fffffffu) > 0x7f800000u)
		return (uint16_t)(bits >> 16 | 0x40);
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/** The scale of values whose largest magnitude is `amax`. */
ROUNDING float rounding_scale(const struct fw_linear_operand *as, float amax)
{
	const float s = amax / (as->dtype == FW_I8 ? 127.5f : as->dtype == FW_E4M3 ? 448.0f : 57344.0f);
	if (!(s > 0.0f))
		return 1.0f;
	if (!(as->flags & FW_LINEAR_POWER_OF_TWO))
		return s;
	int exponent;
	const float fraction = frexpf(s, &exponent); /* s = fraction 2^exponent, 0.5 <= fraction < 1 */
	return ldexpf(1.0f, fraction == 0.5f ? exponent - 1 : exponent);
}

/** Round to nearest even with `mantissa_bits` bits of mantissa, the smallest normal value 2^least, the largest `most`. */
ROUNDING float rounding_short(float v, int mantissa_bits, int least, float most)
{
	int exponent;
	const float inside = v > most ? most : v < -most ? -most : v;
	frexpf(inside, &exponent);
	const float quantum = ldexpf(1.0f, (exponent - 1 < least ? least : exponent - 1) - mantissa_bits);
	return rintf(inside / quantum) * quantum;
}

/** Round x / s to the 8-bit type. */
ROUNDING float rounding_8bit(int dtype, float x, float s)
{
	const float v = x / s;
	if (dtype == FW_E4M3)
		return rounding_short(v, 3, -6, 448.0f);
	if (dtype == FW_E5M2)
		return rounding_short(v, 2, -14, 57344.0f);
	const float q = rintf(v);
	return q > 127.0f ? 127.0f : q < -128.0f ? -128.0f : q;
}

/** A group of 4-bit values: its scale and zero before and after rounding. */
struct rounding_group {
	float min, step;   /* for q = (x - min) / step */
	float scale, zero; /* for (q - 8) scale + zero, rounded to bf16 */
};

ROUNDING struct rounding_group rounding_group(float min, float max)
{
	struct rounding_group g;
	const float step = (max - min) / 15.0f;
	g.min = min;
	g.step = step > 1e-6f ? step : 1e-6f;
	g.scale = rounding_widen(rounding_bf16(g.step));
	g.zero = rounding_widen(rounding_bf16(min + 8.0f * g.step));
	return g;
}

ROUNDING float rounding_4bit(const struct rounding_group *g, float x)
{
	const float q = rintf((x - g->min) / g->step);
	return q > 15.0f ? 15.0f : q < 0.0f ? 0.0f : q;
}

/** activation(v) of enum fw_linear_activation. */
ROUNDING float rounding_activate(int activation, float v)
{
	switch (activation) {
	case FW_LINEAR_RELU:
		return v < 0.0f ? 0.0f : v;
	case FW_LINEAR_SIGMOID:
		return 1.0f / (1.0f + expf(-v));
	case FW_LINEAR_LEAKYRELU:
		return v < 0.0f ? 0.01f * v : v;
	case FW_LINEAR_RELU6:
		return v < 0.0f ? 0.0f : v > 6.0f ? 6.0f : v;
	case FW_LINEAR_GELU:
		return 0.5f * v * (1.0f + erff(v * 0.70710678118654752f));
	case FW_LINEAR_SILU:
		return v / (1.0f + expf(-v));
	case FW_LINEAR_HARDSWISH:
		return v <= -3.0f ? 0.0f : v >= 3.0f ? v : v * (v + 3.0f) / 6.0f;
	default:
		return v;
	}
}

/** The derivative of rounding_activate at v. */
ROUNDING float rounding_slope(int activation, float v)
{
	const float e = expf(-fabsf(v)), sigmoid = v < 0.0f ? e / (1.0f + e) : 1.0f / (1.0f + e);
	const float slope = e / ((1.0f + e) * (1.0f + e)); /* of the sigmoid, without a difference of almost equal numbers */
	switch (activation) {
	case FW_LINEAR_RELU:
		return v > 0.0f ? 1.0f : 0.0f;
	case FW_LINEAR_SIGMOID:
		return slope;
	case FW_LINEAR_LEAKYRELU:
		return v > 0.0f ? 1.0f : 0.01f;
	case FW_LINEAR_RELU6:
		return v > 0.0f && v < 6.0f ? 1.0f : 0.0f;
	case FW_LINEAR_GELU:
		return 0.5f * erfcf(v * -0.70710678118654752f) + v * 0.39894228040143268f * expf(-0.5f * v * v);
	case FW_LINEAR_SILU:
		return sigmoid + v * slope;
	case FW_LINEAR_HARDSWISH:
		return v <= -3.0f ? 0.0f : v >= 3.0f ? 1.0f : (2.0f * v + 3.0f) / 6.0f;
	default:
		return 1.0f;
	}
}

#endif
