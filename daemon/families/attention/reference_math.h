/**
 * math.h - what one (query, key) pair contributes, exactly and as naive bf16 code sees it; for the CPU and the GPU.
 */
#ifndef FAMILIES_ATTENTION_REFERENCE_MATH_H
#define FAMILIES_ATTENTION_REFERENCE_MATH_H

#include <math.h>

#include "model/inputs.h"

/* Root mean square of the relative error of rounding to bf16 (half an ulp is at most 2^-9), and a generous one of fp32 sums. */
#define REFERENCE_BF16_NOISE 0.0009765625
#define REFERENCE_FP32_NOISE 9.5367431640625e-07

/*
 * Of delta where O was rounded to bf16: half as much again, since all pairs of a row have one error. A key that one row sees has no
 * other error to even that out, and acceptance's four deviations would be passed in one of 16,000 such keys.
 */
#define REFERENCE_DELTA_NOISE (1.5 * REFERENCE_BF16_NOISE)

INPUTS_FN float reference_from_bf16(uint16_t bits)
{
	union {
		uint32_t u;
		float f;
	} v;
	v.u = (uint32_t)bits << 16;
	return v.f;
}

/** The nearest bf16 value. */
INPUTS_FN float reference_round(float x)
{
	union {
		float f;
		uint32_t u;
	} v;
	v.f = x;
	if (x != x)
		return x;
	v.u = (v.u + 0x7fffu + ((v.u >> 16) & 1u)) & 0xffff0000u;
	return v.f;
}

/** Factors of one pair: `p` on dO (or V), `ds` on K and Q, without the final `scale`. */
struct reference_pair {
	double p, ds;
	float naive_p, naive_ds;
	double noise_p, noise_ds; /* standard deviation of p, ds when each is rounded to bf16 once */
};

/**
 * Backward: from q.k, dO.v, the row's LSE and delta = rowsum(dO * O). A row that sees nothing has LSE -inf and no pairs.
 * `delta_noise` is the standard deviation of delta where rows add up, whose errors differ. Within a row delta has one error, which
 * reference_own_shift knows: 0 there.
 */
INPUTS_FN struct reference_pair reference_backward_pair(
	double score, double dp, double scale, double lse, double delta, double delta_noise)
{
	struct reference_pair r;
	float naive_score = reference_round((float)(score * scale)), naive_dp = reference_round((float)dp);
	r.p = exp(score * scale - lse);
	r.ds = r.p * (dp - delta);
	r.naive_p = reference_round(expf(naive_score - (float)lse));
	r.naive_ds = reference_round(r.naive_p * (naive_dp - (float)delta));
	r.noise_p = REFERENCE_BF16_NOISE * r.p;
	double rounding = REFERENCE_BF16_NOISE * fabs(r.ds) + REFERENCE_FP32_NOISE * r.p * (fabs(dp) + fabs(delta));
	r.noise_ds = sqrt(rounding * rounding + r.p * r.p * delta_noise * delta_noise);
	return r;
}

/** A row's sums of p and p * dP over its pairs, and the delta that it was given: O was rounded to bf16, so the two deltas differ. */
struct reference_row {
	double p, p_dp, delta;
};

/**
 * By how much an element of dQ moves when a kernel takes the softmax and delta = sum(P * dP) that it computes itself, and neither
 * LSE nor O. `ds_k` and `p_k` are the element's sums of ds * K and p * K.
 */
INPUTS_FN double reference_own_shift(double ds_k, double p_k, struct reference_row row)
{
	if (!(row.p > 0))
		return 0;
	return (ds_k + (row.delta - row.p_dp / row.p) * p_k) / row.p - ds_k;
}

#endif
