/**
 * past.h - how fast a cell was before a push, as a line of a few strokes beside it: the upstream branch's last points up to then, and behind
 * them those of the push's own branch.
 */
#ifndef WEB_HTML_PAST_H
#define WEB_HTML_PAST_H

#include <stdint.h>

#include "lib/branch.h"
#include "db/db.h"

enum { PAST_UPSTREAM = 24, PAST_OWN = 6 }; /* points of each, at most */

/** What all lines of a page share. */
struct past {
	const char *repo, *branch; /* branch: of the push, its key; "" none */
	int64_t last;              /* comparison up to which points count; 0: there is none */
	char upstream[BRANCH_KEY_MAX];
};

/** Own: `repo` and `branch` stay the caller's. A repository that is not known has no upstream, and its cells no past. Err: the database. */
int past_begin(struct db *db, const char *repo, const char *branch, int64_t last, struct past *out, struct fw_err *err);
/** Draw; a dash where fewer than two points are known. Err: the database. */
int past_draw(struct buf *out, struct db *db, const struct past *past, const char *cell, struct fw_err *err);

#endif
