/**
 * buildlog.h - the beginning and the end of what a build printed, in bounded memory.
 *
 * A log is read from its first error or from its last line; what is dropped is the middle, and the text says how much.
 */
#ifndef WORKER_BUILD_BUILDLOG_H
#define WORKER_BUILD_BUILDLOG_H

#include <stdint.h>

#include "base/buf.h"

struct buildlog {
	struct buf head;
	char *tail; /* ring of half bytes */
	size_t half, at;
	int64_t total; /* bytes printed so far */
};

/** Keep at most `max` bytes, half of them from the end. Err: -1 out of memory. */
int buildlog_init(struct buildlog *l, size_t max);
void buildlog_fini(struct buildlog *l);
void buildlog_add(struct buildlog *l, const char *data, size_t len);
/** Head, a line that tells how many bytes are left out (when any are), tail. */
void buildlog_text(const struct buildlog *l, struct buf *out);

#endif
