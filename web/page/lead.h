/** lead.h - the first lines of a comparison's page: the verdict as a sentence, how sure it is, and why where that is known. */
#ifndef WEB_PAGE_LEAD_H
#define WEB_PAGE_LEAD_H

#include "web/page/comparison.h"

/** Draw. Err: the database. */
int comparison_lead(struct db *db, struct buf *out, const struct comparison *c, struct fw_err *err);

#endif
