/**
 * providers.h - all providers of layer normalisation. module.c lists the ones that the built device can use.
 */
#ifndef LAYERNORM_PROVIDERS_H
#define LAYERNORM_PROVIDERS_H

#include "fw_layernorm.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const struct fw_provider layernorm_cpu;  /* "cpu", cpu.c */
extern const struct fw_provider layernorm_cuda; /* "cuda", cuda.cu: a row is held in registers */

#ifdef __cplusplus
}
#endif
#endif
