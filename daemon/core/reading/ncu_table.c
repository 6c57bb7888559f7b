/* ncu_table.c - see ncu_table.h. Numbers have commas between thousands, depending on version and locale. */
#include "core/reading/ncu_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/reading/row.h"
#include "core/text/csv.h"

enum { NAME_SIZE = 160, NUMBER_SIZE = 48 };

struct table {
	struct csv csv;
	int n;
	char (*name)[NAME_SIZE], (*unit)[NAME_SIZE]; /* name[n], unit[n] */
	int id, kernel, grid, block;                 /* columns; -1 none */
	int metric, metric_unit, value;              /* of page details; -1 none */
	int launches;
	char last_id[32];
};

/* Where the table begins: the first line that starts with its first two names. */
static const char *find_table(const char *text, size_t len, int *line)
{
	static const char begin[] = "\"ID\",\"Process ID\"";
	const char *end = text + len;
	*line = 1;
	while (text < end) {
		if ((size_t)(end - text) >= sizeof begin - 1 && memcmp(text, begin, sizeof begin - 1) == 0)
			return text;
		const char *next = memchr(text, '\n', (size_t)(end - text));
		if (!next)
			break;
		text = next + 1;
		++*line;
	}
	return NULL;
}

static int column(const struct table *t, const char *name)
{
	for (int i = 0; i < t->n; i++)
		if (strcmp(t->name[i], name) == 0)
			return i;
	return -1;
}

static int read_header(struct table *t, struct fw_err *err)
{
	if (csv_next(&t->csv, err) != 1)
		return -1;
	t->n = t->csv.n;
	t->name = calloc((size_t)t->n, sizeof *t->name);
	t->unit = calloc((size_t)t->n, sizeof *t->unit);
	if (!t->name || !t->unit)
		return err_set(err, ERR_INTERNAL, "out of memory for %d columns", t->n);
	for (int i = 0; i < t->n; i++)
		snprintf(t->name[i], NAME_SIZE, "%s", t->csv.cell[i]);
	t->id = column(t, "ID");
	t->kernel = column(t, "Kernel Name");
	t->grid = column(t, "Grid Size");
	t->block = column(t, "Block Size");
	t->metric = column(t, "Metric Name");
	t->metric_unit = column(t, "Metric Unit");
	t->value = column(t, "Metric Value");
	if (t->kernel < 0)
		return err_set(err, ERR_INVALID, "%s:%d: has no column Kernel Name; is this the output of ncu --csv?",
			t->csv.file, t->csv.line);
	return 0;
}

/* 1, 0 at the end, -1. What ncu or the program print behind the table is no row. */
static int next_row(struct table *t, struct fw_err *err)
{
	for (;;) {
		int got = csv_next(&t->csv, err);
		if (got != 1)
			return got;
		if (t->csv.n == t->n && t->csv.is_open)
			return err_set(
				err, ERR_INVALID, "%s:%d: the last row is cut; let ncu write it again", t->csv.file, t->csv.line);
		if (t->csv.n == t->n)
			return 1;
		if (t->csv.n > 4)
			return err_set(err, ERR_INVALID, "%s:%d: has %d cells, the header has %d; is the file cut off?",
				t->csv.file, t->csv.line, t->csv.n, t->n);
	}
}

/* "1,234.5" without its commas. */
static bool number_of(const char *cell, double *out)
{
	char plain[NUMBER_SIZE];
	size_t n = 0;
	for (; *cell; cell++) {
		if (*cell == ',')
			continue;
		if (n + 1 == sizeof plain)
			return false;
		plain[n++] = *cell;
	}
	plain[n] = '\0';
	return reading_number(plain, out);
}

static void triple_of(const struct table *t, int at, int out[3])
{
	memset(out, 0, 3 * sizeof *out);
	if (at >= 0 && sscanf(t->csv.cell[at], " ( %d , %d , %d", &out[0], &out[1], &out[2]) != 3)
		memset(out, 0, 3 * sizeof *out);
}

/* Rows of one launch follow each other. */
static void count_launch(struct table *t)
{
	const char *id = t->id >= 0 ? t->csv.cell[t->id] : "";
	if (t->launches == 0 || t->metric < 0 || strcmp(id, t->last_id) != 0)
		t->launches++;
	snprintf(t->last_id, sizeof t->last_id, "%s", id);
}

static int take_row(struct table *t, ncu_value_fn *take, void *arg, struct fw_err *err)
{
	struct ncu_value v = { .line = t->csv.line, .launch = t->launches - 1, .kernel = t->csv.cell[t->kernel] };
	triple_of(t, t->grid, v.grid);
	triple_of(t, t->block, v.block);
	if (t->metric >= 0) {
		v.metric = t->csv.cell[t->metric];
		v.unit = t->metric_unit >= 0 ? t->csv.cell[t->metric_unit] : "";
		return t->value >= 0 && number_of(t->csv.cell[t->value], &v.value) ? take(arg, &v, err) : 0;
	}
	for (int i = t->kernel + 1; i < t->n; i++) {
		v.metric = t->name[i];
		v.unit = t->unit[i];
		if (strstr(t->name[i], "__") && number_of(t->csv.cell[i], &v.value) && take(arg, &v, err) != 0)
			return -1;
	}
	return 0;
}

int ncu_table_each(const char *text, size_t len, const char *file, ncu_value_fn *take, void *arg, struct fw_err *err)
{
	int line, got = 0;
	const char *begin = find_table(text, len, &line);
	if (!begin)
		return err_set(err, ERR_INVALID, "%s: holds no table of ncu; let it write one with --csv --page raw", file);
	struct table t = { 0 };
	csv_init(&t.csv, begin, len - (size_t)(begin - text), file);
	t.csv.next_line = line;
	int result = read_header(&t, err);
	while (result == 0 && (got = next_row(&t, err)) == 1) {
		if (t.metric < 0 && t.launches == 0 && !t.unit[0][0] && !t.csv.cell[t.kernel][0]) { /* the row of units */
			for (int i = 0; i < t.n; i++)
				snprintf(t.unit[i], NAME_SIZE, "%s", t.csv.cell[i]);
			continue;
		}
		count_launch(&t);
		result = take_row(&t, take, arg, err);
	}
	csv_fini(&t.csv);
	free(t.name);
	free(t.unit);
	return result != 0 || got < 0 ? -1 : 0;
}
