/**
 * csv.h - tables in RFC 4180: quoted cells, doubled quotes, LF or CRLF, newlines inside quotes.
 *
 * Reads one row at a time from the caller's text; a byte order mark and blank lines are skipped.
 */
#ifndef LIB_CSV_READ_H
#define LIB_CSV_READ_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/buf.h"
#include "lib/err.h"

enum { CSV_COLUMNS_MAX = 2048, CSV_ROW_BYTES_MAX = 64 << 10 };

struct csv {
	const char *text, *file;
	size_t len, at;
	int line; /* of the row from csv_next, from 1 */
	int n;    /* cells of that row */
	const char *cell[CSV_COLUMNS_MAX];
	bool is_open; /* that row ends at the end of the text, without a newline or a closing quote */
	/* internal */
	int next_line;
	struct buf bytes;
};

/** Initialise. `file` names the text in messages. Own: borrows both; csv_fini frees the rest. */
void csv_init(struct csv *c, const char *text, size_t len, const char *file);
void csv_fini(struct csv *c);
/**
 * Read the next row: 1, 0 at the end, -1 with `err` (an open quote, too many columns, a NUL). Cells are NUL-terminated and
 * valid until the next call.
 */
int csv_next(struct csv *c, struct fw_err *err);

#endif
