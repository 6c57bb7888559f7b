/**
 * kernels.h - the kernels of a profiled cell as people read them: one row a kernel, base beside target, each the mean of its processes.
 */
#ifndef WEB_PAGE_KERNELS_H
#define WEB_PAGE_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

#include "db/view_profile.h"

enum { KERNELS_MAX = 256, KERNELS_BASE = 0, KERNELS_TARGET = 1 };

struct kernel_side {
	int times; /* processes that ran it; 0: this side does not */
	int timed; /* of them with a time */
	double ms; /* mean; NAN unknown */
	int registers, local_bytes, shared_bytes, ctas_per_sm;
	char code_sha[65];
};

struct kernel_row {
	int n[2]; /* place in launch order of each side's call */
	char phase[16], name[256];
	struct kernel_side side[2];
};

struct kernels {
	int n;
	struct kernel_row *row; /* row[n]; in the order of the base's launches, then what only the target runs */
};

/** Read them. A kernel of one side is that of the other which has the same name and phase, in the order of their launches. Own: kernels_free. */
int kernels_read(struct db *db, int64_t cell, struct kernels *out, struct fw_err *err);
void kernels_free(struct kernels *k);
/** Whether both sides run the same machine code: 1, 0, -1 that is not known. */
int kernels_same_code(const struct kernel_row *row);

#endif
