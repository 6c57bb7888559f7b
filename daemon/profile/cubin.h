/**
 * cubin.h - hash and resources of each compiled kernel in device code, to compare two builds kernel by kernel.
 *
 * The hash covers the instructions of the kernel and of every function that it calls, its compiler-made constants, the sizes of
 * its parameters and of its static shared and local memory, and the names that it refers to. It excludes its own name, other
 * kernels, debug information, the initial contents of __constant__ and __device__ variables, and numbers in names that change
 * with the file. A kernel that reads such variables contains their addresses, which change when its file gets others.
 */
#ifndef PROFILE_CUBIN_H
#define PROFILE_CUBIN_H

#include <stddef.h>

#include "lib/buf.h"
#include "lib/err.h"
#include "lib/hash.h"
#include "profile/resources.h"

/**
 * Return the symbol as users know it. Linked device code prefixes a file-private symbol with the file's name and a number of
 * its source, which change with the file; without them it can be demangled and found again. Own: `symbol`'s.
 */
const char *cubin_plain_symbol(const char *symbol);

void cubin_steady_symbol(const char *symbol, struct buf *out);

struct cubin_function {
	const char *symbol; /* mangled; borrowed for the call, like all members */
	char code_sha256[HASH_HEX];
	const struct resources *resources;
};

/** Take one function. Err: -1 stops. */
typedef int cubin_fn(void *arg, const struct cubin_function *f, struct fw_err *err);

/** Visit all functions with their own code, kernels and others. Err: ERR_INVALID no ELF file; ERR_FULL too much work. */
int cubin_read(const void *elf, size_t len, cubin_fn *function, void *arg, struct fw_err *err);

#endif
