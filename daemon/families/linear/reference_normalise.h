/**
 * normalise.h - prologue LAYERNORM of kernels/fw_linear.h, of a row.
 */
#ifndef FAMILIES_LINEAR_REFERENCE_NORMALISE_H
#define FAMILIES_LINEAR_REFERENCE_NORMALISE_H

#include <stdint.h>

/** In place, rounded to bf16. Shape: x[n]. */
void normalise(float *x, int64_t n);
/** The largest magnitude that it leaves, for much less; x stays. Shape: x[n]. */
float normalised_largest(const float *x, int64_t n);

#endif
