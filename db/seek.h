/** seek.h - position of a time in a list. */
#ifndef DB_SEEK_H
#define DB_SEEK_H

#include "db/db.h"

/* Times of the rows: end, queueing, opening, creation. */
enum view_list { VIEW_LIST_COMPARISONS, VIEW_LIST_JOBS, VIEW_LIST_ALERTS, VIEW_LIST_BISECTS, VIEW_LIST_NOTIFICATIONS };

/**
 * Find the first id whose row is not older than `at`, provided that times increase with ids. One above the newest where every row is older.
 * Reads a logarithmic number of rows.
 */
int view_seek(struct db *db, enum view_list list, int64_t at, int64_t *id, struct fw_err *err);

#endif
