/**
 * fatbin.h - the device code that a CUDA module carries: entries of the containers in its section .nv_fatbin.
 *
 * The layout is NVIDIA's and nowhere written down; what is read of it here is what nvcc 11 to 13 write. Entries of any other kind
 * than device code for a given architecture (PTX) are passed over.
 */
#ifndef CORE_MACHINE_FATBIN_H
#define CORE_MACHINE_FATBIN_H

#include <stddef.h>

#include "base/err.h"

enum fatbin_packing { FATBIN_PLAIN, FATBIN_LZ4, FATBIN_ZSTD };

/** One piece of device code: an ELF file once unpacked. */
struct fatbin_entry {
	int sm; /* 10 x major + minor of the architecture that it was compiled for: 90 */
	enum fatbin_packing packing;
	const void *data;
	size_t len, full_len; /* bytes; those that it unpacks to */
};

/** Take one entry. Err: -1 ends the reading. */
typedef int fatbin_fn(void *arg, const struct fatbin_entry *e, struct fw_err *err);

/** All entries of a module, in order; none where it carries no device code. A file of device code alone is one entry. Err: ERR_INVALID it is broken. */
int fatbin_read(const void *module, size_t len, fatbin_fn *entry, void *arg, struct fw_err *err);

#endif
