/**
 * buildlog.h - beginning and end of a build's output, in bounded memory.
 *
 * Users read the first error or the last line of a log, so the middle is dropped; the text contains the number of dropped
 * bytes.
 */
#ifndef WORKER_SANDBOX_BUILDLOG_H
#define WORKER_SANDBOX_BUILDLOG_H

#include <stdint.h>

#include "lib/buf.h"

struct buildlog {
	struct buf head;
	char *tail; /* ring of half bytes */
	size_t half, at;
	int64_t total; /* bytes printed so far */
};

/** Initialise for at most `max` bytes, half of them from the end. Err: -1 out of memory. */
int buildlog_init(struct buildlog *l, size_t max);
void buildlog_fini(struct buildlog *l);
void buildlog_add(struct buildlog *l, const char *data, size_t len);
/** Write head, number of dropped bytes (if any), and tail. */
void buildlog_text(const struct buildlog *l, struct buf *out);

#endif
