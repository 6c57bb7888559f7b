/**
 * providers.h - all attention providers. module.c lists the ones that the built device can use.
 */
#ifndef ATTENTION_PROVIDERS_H
#define ATTENTION_PROVIDERS_H

#include "fw_kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const struct fw_provider attention_cpu;       /* "cpu", cpu/cpu.c */
extern const struct fw_provider attention_decode;    /* "decode", decode/: few queries on many keys, split over the keys */
extern const struct fw_provider attention_hopper;    /* "hopper", hopper/: the newest of the following */
extern const struct fw_provider attention_hopper_v2; /* "hopper.v2", hopper/: wgmma and TMA, compute capability 9.0 */
extern const struct fw_provider attention_hopper_v0; /* "hopper.v0", hopper/: CUDA cores */
extern const struct fw_provider attention_hopper_v1; /* "hopper.v1", hopper/: mma.sync */
extern const struct fw_provider attention_cudnn;     /* "cudnn", cudnn/: NVIDIA's library, found at run time */

#ifdef __cplusplus
}
#endif
#endif
