/**
 * cubin.h - a hash for the compiled code of each kernel in a piece of device code, so that two builds can be compared kernel by kernel,
 * and what it takes of a multiprocessor.
 *
 * What counts for the hash: the instructions of the kernel and of every function that it calls, the constants that the compiler made for it,
 * the sizes of its parameters and of its static shared and local memory, and the names of what it refers to. What does not: its
 * own name, other kernels, debug information, the initial contents of __constant__ and __device__ variables, and the numbers
 * that the compiler puts into names because a file changed. A kernel that reads such variables holds their places, which move
 * when its file gets others.
 */
#ifndef CORE_MACHINE_CUBIN_H
#define CORE_MACHINE_CUBIN_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "core/machine/resources.h"

/**
 * The symbol that people know a kernel by. One that is private to its file gets the file's name and a number of its source in
 * front where device code is linked, which change with the file; without them it can be demangled and found again. Own: `symbol`'s.
 */
const char *cubin_plain_symbol(const char *symbol);

/** Append the symbol without the numbers of its file, which change when anything in the file does. */
void cubin_steady_symbol(const char *symbol, struct buf *out);

struct cubin_function {
	const char *symbol; /* as the compiler mangled it; borrowed for the call, like all of this */
	char code_sha256[HASH_HEX];
	const struct resources *resources;
};

/** Take one function. Err: -1 ends the reading. */
typedef int cubin_fn(void *arg, const struct cubin_function *f, struct fw_err *err);

/** All functions with code of their own, kernels and others. Err: ERR_INVALID no ELF file; ERR_FULL it would take for ever. */
int cubin_read(const void *elf, size_t len, cubin_fn *function, void *arg, struct fw_err *err);

#endif
