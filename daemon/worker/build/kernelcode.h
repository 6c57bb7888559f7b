/**
 * kernelcode.h - hashes and resources of the compiled code of a module's kernels, by symbol and architecture.
 *
 * Read from the sealed file, outside the process that branch code runs in, so that a module cannot talk its way out of it.
 * Modules may be hostile: time and memory are bounded, and what cannot be read is not known rather than wrong.
 */
#ifndef WORKER_BUILD_KERNELCODE_H
#define WORKER_BUILD_KERNELCODE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/hash.h"
#include "core/machine/cubin.h"

/** Take one kernel, or another function with code of its own, compiled for `sm` (90). Err: -1 ends it. */
typedef int kernelcode_fn(void *arg, int sm, const struct cubin_function *f, struct fw_err *err);

/** Take one piece of device code, an ELF file, compiled for `sm`. Own: borrowed for the call. Err: -1 ends it. */
typedef int kernelcode_piece_fn(void *arg, int sm, const void *elf, size_t len, struct fw_err *err);

/**
 * All pieces of the module in `fd`, whose size must not change meanwhile. A module without device code has none, and pieces that
 * cannot be unpacked here are passed over. Err: no ELF file, broken containers, out of memory.
 */
int kernelcode_pieces(int fd, kernelcode_piece_fn *piece, void *arg, struct fw_err *err);

/** All kernels in them; pieces that are broken are passed over. Err: as there. */
int kernelcode_each(int fd, kernelcode_fn *kernel, void *arg, struct fw_err *err);

struct kernelcode;

/**
 * Keep what kernelcode_each tells. Err: as there; more kernels than anybody has. Own: kernelcode_free.
 */
int kernelcode_open(int fd, struct kernelcode **out, struct fw_err *err);
/** Accepts NULL. */
void kernelcode_free(struct kernelcode *);

/**
 * The code of one kernel. `symbol_sha256` is the SHA-256 of its symbol, `sm` what it was compiled for (90).
 * False: it is not there, packed in a way that cannot be unpacked here, or there several times with different code.
 */
bool kernelcode_find(const struct kernelcode *k, const char *symbol_sha256, int sm, char code_sha256[HASH_HEX]);

#endif
