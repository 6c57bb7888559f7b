/** cudatool.h - programs of NVIDIA's toolkit on this machine. */
#ifndef WORKER_CUDATOOL_H
#define WORKER_CUDATOOL_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Find "nvdisasm", "ncu": in PATH, else next to the nvcc in PATH, in $CUDA_HOME/bin or in /usr/local/cuda/bin. Shape:
 * path[size].
 */
bool cudatool_find(const char *program, char *path, size_t size);

#endif
