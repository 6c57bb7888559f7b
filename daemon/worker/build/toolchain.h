/**
 * toolchain.h - the compilers' versions as one text: part of a device's description and of every build's cache key.
 *
 * "gcc 12.2.0" for the CPU, "nvcc 13.0.88 gcc 12.2.0" for CUDA, "none" where no compiler is found.
 */
#ifndef WORKER_BUILD_TOOLCHAIN_H
#define WORKER_BUILD_TOOLCHAIN_H

#include <stddef.h>

#include "core/state/device_kind.h"

/** Ask each compiler of that kind of device once. Shape: out[size]. */
void toolchain_describe(enum device_kind kind, char *out, size_t size);
/** The version number in what `nvcc --version` prints ("13.0.88"), "" when it has none. */
void toolchain_nvcc_version(const char *text, char *out, size_t size);

#endif
