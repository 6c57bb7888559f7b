/** csv.h - values of a table that a spreadsheet may open. */
#ifndef LIB_CSV_WRITE_H
#define LIB_CSV_WRITE_H

#include "lib/buf.h"

/**
 * A cell as RFC 4180 writes it: quoted where it holds a comma, a quote or the end of a line, its quotes doubled, and nothing else changed. For
 * files whose reader is a program; all that is written as CSV goes through here.
 */
void csv_field(struct buf *out, const char *text);
/**
 * The same for what a branch may have written and a spreadsheet may open: hidden characters are shown, and a cell that a spreadsheet would take
 * for a formula gets a leading apostrophe. NULL: nothing.
 */
void csv_text(struct buf *out, const char *text);
/** A comma and the number, the comma alone where it is not known. */
void csv_number(struct buf *out, double v);

#endif
