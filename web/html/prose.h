/** prose.h - the Markdown of our own pages under doc/ that are compiled in: code and links, which is all that their paragraphs have. */
#ifndef WEB_HTML_PROSE_H
#define WEB_HTML_PROSE_H

#include <stdbool.h>

#include "lib/buf.h"

/**
 * What stands between `at` and `end`. Links into the same file and to words of the glossary are links; other files of doc/ are not
 * served, so the link's text alone stands, with the file behind it where `names_files`.
 */
void prose_draw(struct buf *out, const char *at, const char *end, bool names_files);
/** The same as it is, without code and links. */
void prose_text(struct buf *out, const char *at, const char *end);
/** What stands between `before` and `after`, as far as it fits; behind `after`, NULL they are not there. Shape: out[size]. */
const char *prose_take(const char *at, const char *end, const char *before, const char *after, char *out, size_t size);

#endif
