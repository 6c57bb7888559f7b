/**
 * kernelcode.h - hashes and resources of a module's compiled kernels, by symbol and architecture.
 *
 * The worker reads them from the sealed file, outside the runner, so that a module cannot falsify them. Modules may be hostile:
 * time and memory are bounded, and unreadable code is unknown rather than wrong.
 */
#ifndef WORKER_SANDBOX_KERNELCODE_H
#define WORKER_SANDBOX_KERNELCODE_H

#include <stdbool.h>

#include "lib/err.h"
#include "lib/hash.h"
#include "profile/cubin.h"

/** Take one kernel, or another function with its own code, compiled for `sm` (90). Err: -1 stops. */
typedef int kernelcode_fn(void *arg, int sm, const struct cubin_function *f, struct fw_err *err);

/** Take one piece of device code, an ELF file, compiled for `sm`. Own: borrowed for the call. Err: -1 stops. */
typedef int kernelcode_piece_fn(void *arg, int sm, const void *elf, size_t len, struct fw_err *err);

/**
 * Visit all pieces of the module in `fd`, whose size must not change meanwhile. A module without device code has none; pieces
 * that cannot be unpacked are skipped. Err: no ELF file, broken containers, out of memory.
 */
int kernelcode_pieces(int fd, kernelcode_piece_fn *piece, void *arg, struct fw_err *err);

/** Visit all kernels in them; broken pieces are skipped. Err: as kernelcode_pieces. */
int kernelcode_each(int fd, kernelcode_fn *kernel, void *arg, struct fw_err *err);

struct kernelcode;

/** Store the kernels of kernelcode_each. Err: as there; too many kernels. Own: kernelcode_free. */
int kernelcode_open(int fd, struct kernelcode **out, struct fw_err *err);
/** Accepts NULL. */
void kernelcode_free(struct kernelcode *);

/**
 * Find the code hash of one kernel by the SHA-256 of its symbol and its architecture `sm` (90). Returns false if it is missing,
 * cannot be unpacked, or exists several times with different code.
 */
bool kernelcode_find(const struct kernelcode *k, const char *symbol_sha256, int sm, char code_sha256[HASH_HEX]);

#endif
