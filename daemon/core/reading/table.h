/** table.h - what the readers of CSV files share: the header's names, whole rows, numbers in their columns. */
#ifndef CORE_READING_TABLE_H
#define CORE_READING_TABLE_H

#include "core/text/csv.h"
#include "core/reading/row.h"

enum { TABLE_COLUMNS_MAX = 64, TABLE_KEY_SIZE = 2048, TABLE_NAME_SIZE = 160, TABLE_PLACE_SIZE = 1024 };

/** The header's names, kept while rows are read. The order of the columns is the writer's business. */
struct table_header {
	int n;
	char name[TABLE_COLUMNS_MAX][TABLE_NAME_SIZE];
};

/** Read the first row. Err: there is none. */
int table_header_read(struct csv *c, struct table_header *h, struct fw_err *err);
/** Position of a column; -1 none. table_need says so in `err`. */
int table_column(const struct table_header *h, const char *name);
int table_need(const struct csv *c, const struct table_header *h, const char *name, struct fw_err *err);
/**
 * The next row. One with more or fewer cells than the header is left out, which `out` says; NULL says nothing. 1, 0, -1: it is the last one and has
 * no end of line, so that its last number may be cut.
 */
int table_next(struct csv *c, const struct table_header *h, struct reading *out, struct fw_err *err);
/**
 * What is added from here on is of the row that table_next gave: two rows of one name stay two (reading_entry). Texts in columns like `gpu` or `host`
 * are stated (reading_tell). Err: out of memory.
 */
int table_begin_row(struct reading *out, const struct csv *c, const struct table_header *h, struct fw_err *err);
/** Why a cell is no time or rate; NULL: it is one, *value. Shape: why[READING_WHY_SIZE]. */
const char *table_unfit(const char *cell, double *value, char why[READING_WHY_SIZE]);
/** "file:3: column name", for messages. */
const char *table_place(char out[TABLE_PLACE_SIZE], const struct csv *c, const char *name);
/** The number in a column. Err: it is none. */
int table_number(const struct csv *c, const struct table_header *h, int column, double *value, struct fw_err *err);

#endif
