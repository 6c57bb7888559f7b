/** alert_cells.h - the cells of an alert: each with its interval and its past, and the worst of them as a chart. */
#ifndef WEB_PAGE_ALERT_CELLS_H
#define WEB_PAGE_ALERT_CELLS_H

#include "db/live.h"

/** Every cell in a table, the worst first, with its interval on an axis that all share. Err: the database. */
int alert_cells_table(struct db *db, struct buf *out, const struct view_alert *row, struct fw_err *err);
/** How fast the worst cell was on the upstream branch, and is on that of the alert. Err: the database. */
int alert_cells_chart(struct db *db, struct buf *out, const struct view_alert *row, struct fw_err *err);
/** The same as a line of a few strokes, for a list. Err: the database. */
int alert_cells_past(struct db *db, struct buf *out, const struct view_alert *row, struct fw_err *err);

#endif
