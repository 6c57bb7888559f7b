/**
 * toolchain.h - the compilers' versions as one text: part of a device's description and of every build's cache key.
 *
 * "gcc 12.2.0" for the CPU, "nvcc 13.0.88 gcc 12.2.0" for CUDA, with "ptxas 13.1.12" if it differs from its nvcc, "none"
 * without a compiler. " in DIR" and " with FLAGS" follow where a folder or flags were given.
 */
#ifndef WORKER_SANDBOX_TOOLCHAIN_H
#define WORKER_SANDBOX_TOOLCHAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "model/device_kind.h"

enum { TOOLCHAIN_PATH_SIZE = 640 };

/** Run each compiler of that kind of device once. `dir` "": the system's; `flags` are only named. Shape: out[size]. */
void toolchain_describe(enum device_kind kind, const char *dir, const char *flags, char *out, size_t size);
/** Write the PATH that puts the compilers of `dir` first. Shape: path[TOOLCHAIN_PATH_SIZE]. */
void toolchain_path(const char *dir, char *path);
/** Return whether `dir`, or bin in it, holds a compiler. */
bool toolchain_is_in(const char *dir);
bool toolchain_has_nvcc(const char *dir);
/** Extract the version number from the output of `nvcc --version` ("13.0.88"), "" if none. */
void toolchain_nvcc_version(const char *text, char *out, size_t size);

#endif
