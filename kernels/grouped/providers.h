/**
 * providers.h - all providers of grouped products. module.c lists the ones that the built device can use.
 */
#ifndef GROUPED_PROVIDERS_H
#define GROUPED_PROVIDERS_H

#include "fw_grouped.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const struct fw_provider grouped_cpu; /* "cpu", cpu.c */
extern const struct fw_provider grouped_mma; /* "mma", provider.cu: mma.sync, from compute capability 8.0 on */

#ifdef __cplusplus
}
#endif
#endif
