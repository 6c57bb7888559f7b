/** cudnn_version.h - which cuDNN modules on this machine would find. Needs no CUDA toolkit, and no GPU. */
#ifndef RUNNER_DEVICE_CUDNN_VERSION_H
#define RUNNER_DEVICE_CUDNN_VERSION_H

#include <stddef.h>

/** "9.13.0", or "" where there is none. Shape: out[size]. */
void cudnn_version(char *out, size_t size);

#endif
