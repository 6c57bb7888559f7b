/**
 * quantise.h - what an operand is multiplied as, in the words of kernels/fw_linear.h; written apart from the kernels that it checks.
 */
#ifndef FAMILIES_LINEAR_REFERENCE_QUANTISE_H
#define FAMILIES_LINEAR_REFERENCE_QUANTISE_H

#include "kernels/fw_linear.h"

/** The scale of values whose largest magnitude is `amax`, of e4m3, e5m2 and i8. */
float quantise_scale(const struct fw_linear_operand *as, float amax);
/** What `x` becomes under scale `s`: the rounded value times its scale. bf16: x. */
double quantise_value(const struct fw_linear_operand *as, float x, float s);
/** The same of a group of 4-bit values. Shape: x[n], out[n]. */
void quantise_group(const float *x, int n, double *out);

#endif
