/**
 * fatbin.h - device code of a CUDA module: entries of the containers in its section .nv_fatbin.
 *
 * NVIDIA does not document the layout; this reads the output of nvcc 11 to 13. Entries other than device code for a given
 * architecture (PTX) are skipped.
 */
#ifndef PROFILE_FATBIN_H
#define PROFILE_FATBIN_H

#include <stddef.h>

#include "lib/err.h"

enum fatbin_packing { FATBIN_PLAIN, FATBIN_LZ4, FATBIN_ZSTD };

struct fatbin_entry {
	int sm; /* 10 x major + minor of its architecture: 90 */
	enum fatbin_packing packing;
	const void *data;
	size_t len, full_len; /* bytes; unpacked bytes */
};

/** Take one entry. Err: -1 stops. */
typedef int fatbin_fn(void *arg, const struct fatbin_entry *e, struct fw_err *err);

/**
 * Visit all entries of a module, in order; none without device code. A file of device code only is one entry. Err: ERR_INVALID
 * malformed.
 */
int fatbin_read(const void *module, size_t len, fatbin_fn *entry, void *arg, struct fw_err *err);

#endif
