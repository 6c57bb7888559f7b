/**
 * configurations.h - a profile as a table of configurations: of each cell what both sides ran, how fast they were, and what a call moved and
 * used, as the GPU counted it.
 */
#ifndef WEB_PAGE_CONFIGURATIONS_H
#define WEB_PAGE_CONFIGURATIONS_H

#include "lib/jsonw.h"
#include "db/db.h"

/** "configurations" and "long_over_short": members of the object that is open. */
int configurations_json(struct db *db, int64_t profile, struct jsonw *j, struct fw_err *err);
/** The same as rows, a side a row. */
int configurations_csv(struct db *db, int64_t profile, struct buf *out, struct fw_err *err);
int configurations_markdown(struct db *db, int64_t profile, struct buf *out, struct fw_err *err);

#endif
