/** table.h - common parts of CSV readers: header names, whole rows, numbers in columns. */
#ifndef READERS_TABLE_H
#define READERS_TABLE_H

#include "lib/csv_read.h"
#include "readers/row.h"

enum { TABLE_COLUMNS_MAX = 64, TABLE_KEY_SIZE = 2048, TABLE_NAME_SIZE = 160, TABLE_POSITION_SIZE = 1024 };

/** The header's names, stored while rows are read. Columns may have any order. */
struct table_header {
	int n;
	char name[TABLE_COLUMNS_MAX][TABLE_NAME_SIZE];
};

/** Read the first row. Err: there is none. */
int table_header_read(struct csv *c, struct table_header *h, struct fw_err *err);
/** Return the position of a column; -1 none. table_need sets `err` as well. */
int table_column(const struct table_header *h, const char *name);
int table_need(const struct csv *c, const struct table_header *h, const char *name, struct fw_err *err);
/**
 * Read the next row. A row with another number of cells than the header is left out, with a note in `out`, if not NULL. Returns
 * 1, 0, -1: the last row has no end of line, so its last number may be cut.
 */
int table_next(struct csv *c, const struct table_header *h, struct reading *out, struct fw_err *err);
/**
 * Assign further values to the current row: two rows of one name stay two (reading_entry). Columns like `gpu` or `host` become
 * conditions (reading_report). Err: out of memory.
 */
int table_begin_row(struct reading *out, const struct csv *c, const struct table_header *h, struct fw_err *err);
/** Return why a cell is no time or rate; NULL: it is one, *value. Shape: why[READING_WHY_SIZE]. */
const char *table_unfit(const char *cell, double *value, char why[READING_WHY_SIZE]);
const char *table_position(char out[TABLE_POSITION_SIZE], const struct csv *c, const char *name);
/** Read the number in a column. Err: no number. */
int table_number(const struct csv *c, const struct table_header *h, int column, double *value, struct fw_err *err);

#endif
