/**
 * providers.h - all providers of the linear family. module.c lists the ones that the built device can use.
 */
#ifndef LINEAR_PROVIDERS_H
#define LINEAR_PROVIDERS_H

#include "fw_kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const struct fw_provider linear_cpu;         /* "cpu", cpu/cpu.c */
extern const struct fw_provider linear_cpu_block;   /* "cpu.block", cpu/block.c: transformer blocks with products of "cpu" */
extern const struct fw_provider linear_skinny;      /* "skinny", skinny/: at most 64 rows of X, compute capability 9.0 */
extern const struct fw_provider linear_hopper;      /* "hopper", hopper/: wgmma and TMA, compute capability 9.0 */
extern const struct fw_provider linear_fp8;         /* "fp8", fp8/: two 8-bit floats in all directions, compute capability 9.0 */
extern const struct fw_provider linear_v1;          /* "v1", v1/: mma.sync */
extern const struct fw_provider linear_cublaslt;    /* "cublaslt", cublaslt/: NVIDIA's library, found at run time */
extern const struct fw_provider linear_naive;       /* "naive", naive/: fp32 on the CUDA cores, any shape and recipe */
extern const struct fw_provider linear_block;       /* "block", block/: transformer blocks with the fastest available products */
extern const struct fw_provider linear_naive_block; /* "naive.block", block/: the same with products of "naive" */

#ifdef __cplusplus
}
#endif
#endif
