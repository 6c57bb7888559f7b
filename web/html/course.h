/** course.h - what the device did while a cell was timed: the clock of every side's calls and the power that it drew, run after run. */
#ifndef WEB_HTML_COURSE_H
#define WEB_HTML_COURSE_H

#include "lib/buf.h"
#include "db/result.h"
#include "db/sample.h"

/** Draw; nothing where the device showed neither. */
void course_draw(struct buf *out, const struct store_runs *l);

#endif
