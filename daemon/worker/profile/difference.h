/** difference.h - what the machine code of a cell's kernels differs in: read from the sealed modules, whatever their processes tell. */
#ifndef WORKER_PROFILE_DIFFERENCE_H
#define WORKER_PROFILE_DIFFERENCE_H

#include "worker/machine/sassdiff.h"
#include "worker/profile/buffered.h"

struct difference {
	bool is_there;
	struct sassdiff diff;
	char (*symbol[BUFFERED_SIDES])[HASH_HEX]; /* of function i of base and target: SHA-256 of its symbol */
	char note[BUFFERED_WHY_SIZE];             /* what is not known of the code, and why; "" nothing */
};

/** Lay the modules of base and target side by side. What cannot be read is in `note`. Own: difference_close, also after -1. Err: out of memory. */
int difference_open(struct difference *d, const struct bench *b, struct fw_err *err);
/** A zeroed one is fine. */
void difference_close(struct difference *d);

/** Send a `code` record for each kernel that one side or both launch in this cell. Err: the sink's. */
int difference_send(struct difference *d, struct bench *b, const struct buffered_cell *c, struct fw_err *err);

#endif
