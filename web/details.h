/** details.h - what is known of a cell beside its verdict: phases, other series, checks, and which compiled kernels changed. */
#ifndef WEB_DETAILS_H
#define WEB_DETAILS_H

#include "base/buf.h"
#include "db/db.h"

/** A <details> element for a stored cell; nothing for one of which no more is known. */
int details_cell(struct buf *out, struct db *db, int64_t cell, struct fw_err *err);

#endif
