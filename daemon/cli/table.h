/** table.h - columns for a terminal. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stdio.h>

#include "lib/buf.h"

enum { TABLE_COLUMNS_MAX = 12 };

/**
 * Rows of cells, aligned when printed. A column whose title begins with '>' is aligned to the right; one with '~' before that is
 * left out where the terminal is too narrow, the last such first.
 */
struct table {
	int n_column;
	struct buf cells; /* NUL-separated, row by row, titles first */
};

/** Shape: titles[n_column]. */
void table_init(struct table *t, int n_column, const char *const *titles);
/** Append one cell; after n_column cells a row is full. Hidden characters become visible. */
void table_cell(struct table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/**
 * Print all rows, aligned. On a terminal (terminal.h) they fit its width: columns are left out, then the widest text is cut;
 * verdicts and states are coloured there.
 */
void table_print(struct table *t, FILE *out);
void table_fini(struct table *t);

#endif
