/** internal.h - declarations that the files of this folder share. */
#ifndef FAMILIES_LAYERNORM_INTERNAL_H
#define FAMILIES_LAYERNORM_INTERNAL_H

#include "kernels/fw_layernorm.h"
#include "runner/runner.h"

/* Allowed errors: of one rounding to bf16, as a share of the value; of sums in fp32, as a share of the summands. */
#define LAYERNORM_BF16_ROUNDED 0.00390625 /* 2^-8 */
#define LAYERNORM_FP32_SUM     2e-5

#ifdef FW_HAVE_CUDA
/** The check of tensors on a GPU: the reference is computed and compared there, at every position. */
extern const struct family_check layernorm_check_on_gpu;
#endif

#endif
