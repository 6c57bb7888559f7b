/** calls.h - the pictures of a cell's timed calls: how its pairs are distributed, every call as a dot, what the device did meanwhile. */
#ifndef WEB_HTML_CALLS_H
#define WEB_HTML_CALLS_H

#include "db/db.h"
#include "db/sample.h"
#include "web/html/ratios.h"

/**
 * Draw those of the series that decides: nothing where its samples are gone, a line where their archive is damaged. `id`: the cell's
 * row. Err: the database.
 */
int calls_draw(
	struct buf *out, struct db *db, int64_t id, enum series series, const struct ratios_about *about, struct fw_err *err);

#endif
