/** csv.h - values of a table that a spreadsheet may open. */
#ifndef BASE_CSV_H
#define BASE_CSV_H

#include "base/buf.h"

/** A CSV cell (RFC 4180); one that a spreadsheet would take for a formula gets a leading apostrophe. */
void csv_text(struct buf *out, const char *text);
/** A comma and the number, the comma alone where it is not known. */
void csv_number(struct buf *out, double v);

#endif
