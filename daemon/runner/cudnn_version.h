/** cudnn_version.h - version of the cuDNN that modules on this machine would load. Needs no CUDA toolkit, and no GPU. */
#ifndef RUNNER_CUDNN_VERSION_H
#define RUNNER_CUDNN_VERSION_H

#include <stddef.h>

/** Write "9.13.0", or "" if there is none. Shape: out[size]. */
void cudnn_version(char *out, size_t size);

#endif
