/** cublas_version.h - which cuBLAS modules on this machine would find. Needs no CUDA toolkit, and no GPU. */
#ifndef RUNNER_DEVICE_CUBLAS_VERSION_H
#define RUNNER_DEVICE_CUBLAS_VERSION_H

#include <stddef.h>

/** "13.1.0", or "" where there is none. Shape: out[size]. */
void cublas_version(char *out, size_t size);

#endif
