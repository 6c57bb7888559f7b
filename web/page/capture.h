/**
 * capture.h - a cell as a job had it: the JSON that runs its calls again. It stands in the suite, which takes longer to read than all else
 * that an opened row shows; so those read last are kept. A suite never changes, so nothing here can be out of date.
 */
#ifndef WEB_PAGE_CAPTURE_H
#define WEB_PAGE_CAPTURE_H

#include "web/page/comparison.h"

struct captures;

/** Own: captures_free, which accepts NULL. NULL: out of memory, and every suite is read anew. */
struct captures *captures_new(void);
void captures_free(struct captures *captures);

/** Append the cell of a comparison. `captures` may be NULL. 1, 0 its suite has no such cell, -1. */
int captures_cell(struct captures *captures, struct db *db, const struct comparison *c, const char *key, struct buf *out,
	struct fw_err *err);

#endif
