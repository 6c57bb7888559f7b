/** internal.h - what the files of this folder share. */
#ifndef WEB_HTML_INTERNAL_H
#define WEB_HTML_INTERNAL_H

#include <stdbool.h>

#include "db/db.h"
#include "lib/lib.h"
#include "web/html/html.h"

/* ---- course: What the device did while a cell was timed: the clock of every side's calls and the power that it drew, run after run. ---- */

/** Draw; nothing where the device showed neither. */
void course_draw(struct buf *out, const struct store_runs *l);

/*
 * ---- prose ----
 * The Markdown of our own pages under doc/ that are compiled in: code and links, which is all that their paragraphs have.
 */

/**
 * What stands between `at` and `end`. Links into the same file and to words of the glossary are links; other files of doc/ are not
 * served, so the link's text alone stands, with the file behind it where `names_files`.
 */
void prose_draw(struct buf *out, const char *at, const char *end, bool names_files);
/** The same as it is, without code and links. */
void prose_text(struct buf *out, const char *at, const char *end);
/** What stands between `before` and `after`, as far as it fits; behind `after`, NULL they are not there. Shape: out[size]. */
const char *prose_take(const char *at, const char *end, const char *before, const char *after, char *out, size_t size);

/*
 * ---- strip ----
 * Every timed call of a cell as a dot on two strips, base above target, so that slow calls are seen and not only counted.
 */

/** Draw; nothing where the samples were thinned. */
void strip_draw(struct buf *out, const struct store_runs *l);

#endif
