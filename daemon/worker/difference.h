/** difference.h - differences in the machine code of a cell's kernels, read from the sealed modules. */
#ifndef WORKER_DIFFERENCE_H
#define WORKER_DIFFERENCE_H

#include "worker/sassdiff.h"
#include "worker/buffered.h"

struct difference {
	bool is_there;
	struct sassdiff diff;
	char (*symbol[BUFFERED_SIDES])[HASH_HEX]; /* of function i of base and target: SHA-256 of its symbol */
	char note[BUFFERED_WHY_SIZE];             /* unknown parts of the code, and why; "" none */
};

/**
 * Compare the modules of base and target; `note` lists unreadable parts. Own: difference_close, also after -1. Err: out of
 * memory.
 */
int difference_open(struct difference *d, const struct bench *b, struct fw_err *err);
/** Free it. Accepts a zeroed one. */
void difference_close(struct difference *d);

/** Send a `code` record for each kernel that a side launches in this cell. Err: the sink's. */
int difference_send(struct difference *d, struct bench *b, const struct buffered_cell *c, struct fw_err *err);

#endif
