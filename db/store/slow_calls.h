/** slow_calls.h - what was counted of a cell's slow calls, by set of launches: outlives its samples. Loop only; inside the caller's transaction. */
#ifndef DB_STORE_SLOW_CALLS_H
#define DB_STORE_SLOW_CALLS_H

#include "core/verdict/mean.h"
#include "db/sqlite/db.h"

/** In place of what was kept before; a set without calls is left as it is. Shape: tail[MEAN_SETS]. */
int store_slow_calls_put(struct db *db, int64_t cell, const struct tail *tail, struct fw_err *err);
/** As kept; zeros where nothing was. Shape: tail[MEAN_SETS]. */
int store_slow_calls_get(struct db *db, int64_t cell, struct tail *tail, struct fw_err *err);

#endif
