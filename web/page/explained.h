/** explained.h - why cells of a comparison became slower or faster, where a profile looked: on the opened cell, and on an alert. */
#ifndef WEB_PAGE_EXPLAINED_H
#define WEB_PAGE_EXPLAINED_H

#include "web/page/comparison.h"

/** The screen of one cell; a line where the profile is under way or failed, nothing where nobody asked for one of this cell. Err: the database. */
int explained_cell(
	struct db *db, struct buf *out, const struct comparison *c, const struct comparison_cell *cell, struct fw_err *err);

/** Every cell that an alert's profile looked at, the first unfolded; a line while it is under way. `comparison`: the alert's, 0 none. */
int explained_alert(struct db *db, struct buf *out, int64_t alert, int64_t comparison, struct fw_err *err);

/** The first cause of an alert alone, as a line. */
int explained_line(struct db *db, struct buf *out, int64_t alert, struct fw_err *err);

#endif
