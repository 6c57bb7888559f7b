/**
 * blockers.h - doc/troubleshooting.md, compiled in: as a page, and at the end of every other page what leads to its places.
 *
 * A message ends with `see doc/troubleshooting.md#PLACE` where its line alone does not say what to do; a page that shows it leads there.
 */
#ifndef WEB_HTML_TROUBLESHOOTING_H
#define WEB_HTML_TROUBLESHOOTING_H

#include <stddef.h>

#include "lib/buf.h"

/** All of it but its title; each place has its name as id. */
void troubleshooting_draw(struct buf *out);
/** A line for each place that is named in what `out` holds from `begin` on; nothing where none is. Names that are no place are passed over. */
void troubleshooting_foot(struct buf *out, size_t begin);

#endif
