/** internal.h - functions that the files of this folder share. */
#ifndef WEB_HTML_INTERNAL_H
#define WEB_HTML_INTERNAL_H

#include <stdbool.h>

#include "db/db.h"
#include "lib/lib.h"
#include "web/html/html.h"

/*
 * ---- device_state ----
 * State of the device while a cell was timed: the clock during each side's calls and the power draw, run by run.
 */

/** Draw; nothing where the device reported neither. */
void device_state_draw(struct buf *out, const struct store_runs *l);

/*
 * ---- prose ----
 * Markdown of our own pages under doc/ that are compiled in: code and links, which is all that their paragraphs use.
 */

/**
 * Draw the text between `at` and `end`. Links into the same file and to terms of the glossary are links; other files of doc/ are
 * not served, so only the link's text is written, followed by the file's name where `names_files`.
 */
void prose_draw(struct buf *out, const char *at, const char *end, bool names_files);
/** The same as plain text, without code and links. */
void prose_text(struct buf *out, const char *at, const char *end);
/**
 * Copy the text between `before` and `after`, cut to fit. Returns the position after `after`, NULL: not found. Shape: out[size].
 */
const char *prose_take(const char *at, const char *end, const char *before, const char *after, char *out, size_t size);

/*
 * ---- strip ----
 * Every timed call of a cell as a dot on two strips, base above target, so that slow calls are seen and not only counted.
 */

/** Draw; nothing where the times of calls were deleted and only the estimates of runs are stored. */
void strip_draw(struct buf *out, const struct store_runs *l);

#endif
