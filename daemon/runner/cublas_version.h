/** cublas_version.h - version of the cuBLAS that modules on this machine would load. Needs no CUDA toolkit, and no GPU. */
#ifndef RUNNER_CUBLAS_VERSION_H
#define RUNNER_CUBLAS_VERSION_H

#include <stddef.h>

/** Write "13.1.0", or "" if there is none. Shape: out[size]. */
void cublas_version(char *out, size_t size);

#endif
