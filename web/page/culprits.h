/** culprits.h - whom an alert or a search names, as HTML. */
#ifndef WEB_PAGE_CULPRITS_H
#define WEB_PAGE_CULPRITS_H

#include "lib/buf.h"

/**
 * A paragraph for each culprit: the commit and how probable that is, or the range within which the measurements name none.
 * `culprits_json`: the array that flopwatchd/bisect/report.h writes.
 */
void culprits_show(struct buf *out, const char *culprits_json);

#endif
