/** seek.h - where a list begins whose newest rows are not wanted. */
#ifndef DB_VIEW_SEEK_H
#define DB_VIEW_SEEK_H

#include "db/sqlite/db.h"

/* Each by the time that its rows are listed with: of an end, of being queued, of being opened, of being made. */
enum view_list { VIEW_LIST_COMPARISONS, VIEW_LIST_JOBS, VIEW_LIST_ALERTS, VIEW_LIST_BISECTS, VIEW_LIST_NOTIFICATIONS };

/**
 * Find the first id whose row is not older than `at`: what is older lies below it, as far as ids and times rise together. One above
 * the newest where every row is older. A few rows are read, however long the list is.
 */
int view_seek(struct db *db, enum view_list list, int64_t at, int64_t *id, struct fw_err *err);

#endif
