/* triton.c - triton CSV. */
#include "readers/internal.h"

#include <math.h>
#include <stdio.h>

enum { KNOWN_ROWS_MAX = 4096 };

/* Request to name the result columns; a unit in a name decides as well. */
#define REQUEST_RESULTS                                                                                                          \
	"name the result columns with --results, as in --results %s, or write their unit into their names, as in `%s (us)`"

struct triton_columns {
	int n_x; /* leading columns that contain x values */
	bool is_result[TABLE_COLUMNS_MAX];
	enum column_unit kind[TABLE_COLUMNS_MAX];
	char series[TABLE_COLUMNS_MAX][TABLE_NAME_SIZE];
	char unit[TABLE_COLUMNS_MAX][COLUMN_UNIT_SIZE]; /* of a result; else from the name */
};

struct content {
	int numbers, whole; /* cells that are numbers, and those without a fraction */
};

static int read_contents(
	const char *text, size_t len, const char *file, const struct table_header *h, struct content *content, struct fw_err *err)
{
	struct csv c;
	int got;

	csv_init(&c, text, len, file);
	got = csv_next(&c, err);
	while (got == 1 && (got = table_next(&c, h, NULL, err)) == 1)
		for (int i = 0; i < h->n; i++) {
			double v;

			if (!reading_number(c.cell[i], &v))
				continue;
			content[i].numbers++;
			content[i].whole += v == floor(v);
		}
	csv_fini(&c);
	return got;
}

/* The cells of one file up to and including a column: "1024/1024" and "12". Own: the caller frees text. */
struct known {
	int n;
	struct {
		char before[256], cell[64];
	} * row;
};

static int read_known(
	const char *text, size_t len, const struct table_header *h, int column, struct known *out, struct fw_err *err)
{
	struct csv c;
	int got;

	out->n = 0;
	out->row = mem_alloc_zero(KNOWN_ROWS_MAX, sizeof *out->row);
	csv_init(&c, text, len, "");
	got = csv_next(&c, err);
	while (got == 1 && out->n < KNOWN_ROWS_MAX && (got = table_next(&c, h, NULL, err)) == 1) {
		size_t used = 0;
		char cell[64];

		for (int i = 0; i < column && used < sizeof out->row->before; i++) {
			reading_spell(c.cell[i], cell, sizeof cell);
			used += (size_t)snprintf(out->row[out->n].before + used, sizeof out->row->before - used, "%s/", cell);
		}
		reading_spell(c.cell[column], out->row[out->n++].cell, sizeof cell);
	}
	csv_fini(&c);
	return got < 0 ? -1 : 0;
}

static bool has_more(const struct known *a, const struct known *b, const char *before)
{
	for (int i = 0; i < a->n; i++) {
		bool found = strcmp(a->row[i].before, before) != 0;

		for (int k = 0; k < b->n && !found; k++)
			found = strcmp(b->row[k].before, before) == 0 && strcmp(a->row[i].cell, b->row[k].cell) == 0;
		if (!found)
			return true;
	}
	return false;
}

/*
 * True if two files show that a column is no size: after equal cells each has some that the other lacks. Extra rows in one file
 * show nothing. *differs; -1 out of memory.
 */
static int compare_cells(const char *text, size_t len, const struct reading_options *how, const struct table_header *h,
	int column, bool *differs, struct fw_err *err)
{
	struct known here, there = { 0 };
	struct fw_err ignored = { 0 }; /* reading that file reports its faults */
	int result = read_known(text, len, h, column, &here, err);

	*differs = false;
	if (result == 0 && read_known(how->other, how->other_len, h, column, &there, &ignored) == 0)
		for (int i = 0; i < here.n && !*differs; i++) {
			const char *before = here.row[i].before;
			bool is_first = true;

			for (int k = 0; k < i && is_first; k++)
				is_first = strcmp(here.row[k].before, before) != 0;
			*differs = is_first && has_more(&here, &there, before) && has_more(&there, &here, before);
		}
	free(here.row);
	free(there.row);
	return result;
}

static bool begins_as(const char *at, size_t n, const char *name, const char *series)
{
	return (strlen(name) == n && strncmp(at, name, n) == 0) || (strlen(series) == n && strncmp(at, series, n) == 0);
}

/* True if a comma-separated list names a column by its name or its series. */
static bool is_named(const char *list, const char *name, const char *series)
{
	for (const char *at = list; *at;) {
		size_t n = strcspn(at, ",");

		if (begins_as(at, n, name, series))
			return true;
		at += n + (at[n] == ',');
	}
	return false;
}

/* For files whose column names do not show it. */
static int count_x(const char *text, size_t len, const char *file, const struct table_header *h, const struct triton_columns *t,
	const struct reading_options *how, int *n_x, struct fw_err *err)
{
	struct content content[TABLE_COLUMNS_MAX] = { 0 };
	bool differs;

	if (read_contents(text, len, file, h, content, err) < 0)
		return -1;
	for (*n_x = 1; *n_x < h->n; ++*n_x) {
		const char *name = h->name[*n_x];
		const struct content *of = &content[*n_x];

		if (t->kind[*n_x] == COLUMN_TIME_OR_RATE || column_is_subject(name) || column_compares(name))
			return 0;
		if (column_is_size(name) || of->numbers == 0 || t->kind[*n_x] == COLUMN_OTHER_UNIT)
			continue;
		if (of->whole < of->numbers)
			return 0;
		if (!how->other)
			differs = false;
		else if (compare_cells(text, len, how, h, *n_x, &differs, err) != 0)
			return -1;
		if (differs)
			return 0;
		return err_set(err, ERR_INVALID,
			"%s:1: column %d, `%.60s`, has only whole numbers, which may be sizes or results; " REQUEST_RESULTS, file,
			*n_x + 1, name, name, name);
	}
	return 0;
}

static int find_results(struct triton_columns *t, const struct table_header *h, const struct reading_options *how,
	const char *file, struct fw_err *err)
{
	t->n_x = -1;
	for (int i = 0; i < h->n; i++) {
		t->is_result[i] = is_named(how->results, h->name[i], t->series[i]);
		if (t->is_result[i] && t->n_x < 0)
			t->n_x = i;
	}
	for (const char *at = how->results; *at;) {
		size_t n = strcspn(at, ",");
		bool found = n == 0;

		for (int i = 0; i < h->n && !found; i++)
			found = begins_as(at, n, h->name[i], t->series[i]);
		if (!found)
			return err_set(err, ERR_INVALID, "%s:1: has no column `%.*s`, which --results names", file,
				(int)(n < 80 ? n : 80), at);
		at += n + (at[n] == ',');
	}
	return t->n_x > 0 ? 0
			  : err_set(err, ERR_INVALID, "%s:1: --results %s; the first column holds the x values", file,
				    t->n_x == 0 ? "names the first column" : "names no column");
}

/* Results in the order of the file: all from the first one on unless names contradict. */
static int choose_results(const char *text, size_t len, struct triton_columns *t, const struct table_header *h,
	const struct reading_options *how, const char *file, struct fw_err *err)
{
	if (how->results && how->results[0])
		return find_results(t, h, how, file, err);
	for (int i = 0; i < h->n && t->n_x < 0; i++)
		if (t->kind[i] == COLUMN_TIME_OR_RATE)
			t->n_x = i;
	for (int i = t->n_x - 1; i > 0; i--)
		if (column_is_subject(h->name[i]))
			t->n_x = i; /* a result without a unit */
	if (t->n_x == 0)
		return err_set(
			err, ERR_INVALID, "%s:1: begins with a column of results; the first columns hold the x values", file);
	if (t->n_x < 0 && !how->unit[0]) {
		for (int i = 1; i < h->n; i++)
			if (t->kind[i] == COLUMN_OTHER_UNIT && !column_compares(h->name[i]))
				return err_set(err, ERR_INVALID,
					"%s:1: the unit `%s` is unknown; use ms, us, ns, s, TFLOPS or GB/s", file, t->unit[i]);
		return err_set(
			err, ERR_INVALID, "%s:1: has no unit for its numbers; give one (ms, us, ns, s, TFLOPS or GB/s)", file);
	}
	if (t->n_x < 0 && count_x(text, len, file, h, t, how, &t->n_x, err) < 0)
		return -1;
	for (int i = t->n_x; i < h->n; i++)
		t->is_result[i] = t->kind[i] == COLUMN_TIME_OR_RATE
					  ? !column_compares(h->name[i])
					  : t->kind[i] == COLUMN_NO_UNIT && how->unit[0] && !column_counts(h->name[i], how->unit);
	return 0;
}

static bool is_same_unit(const char *a, const char *b)
{
	double ms[2], tflops[2];
	const char *suffix[2];

	return unit_convert(1, a, &ms[0], &tflops[0], &suffix[0]) == 0 &&
	       unit_convert(1, b, &ms[1], &tflops[1], &suffix[1]) == 0 && fabs(ms[0] / ms[1] - 1) < 1e-9 &&
	       strcmp(suffix[0], suffix[1]) == 0;
}

/* Determine the unit of each result; units in the file always win. */
static int find_units(struct triton_columns *t, const struct table_header *h, const struct reading_options *how, const char *file,
	struct fw_err *err)
{
	double ms, tflops;
	const char *suffix;

	for (int i = t->n_x; i < h->n; i++) {
		if (!t->is_result[i])
			continue;
		if (t->kind[i] == COLUMN_TIME_OR_RATE && how->unit[0] && !is_same_unit(t->unit[i], how->unit))
			return err_set(err, ERR_INVALID,
				"%s:1: column %d, `%.60s`, is in %s, but --unit is %.16s; leave --unit out", file, i + 1,
				h->name[i], t->unit[i], how->unit);
		if (t->kind[i] != COLUMN_TIME_OR_RATE)
			snprintf(t->unit[i], COLUMN_UNIT_SIZE, "%.*s", COLUMN_UNIT_SIZE - 1, how->unit);
		if (!t->unit[i][0])
			return err_set(err, ERR_INVALID,
				"%s:1: column %d, `%.60s`, has no unit for its numbers; give one (ms, us, ns, s, TFLOPS or GB/s)",
				file, i + 1, h->name[i]);
		if (unit_convert(1, t->unit[i], &ms, &tflops, &suffix))
			return err_set(err, ERR_INVALID, "%s:1: the unit `%s` is unknown; use ms, us, ns, s, TFLOPS or GB/s",
				file, t->unit[i]);
		for (int k = t->n_x; k < i; k++)
			if (t->is_result[k] && strcmp(t->series[k], t->series[i]) == 0 && is_same_unit(t->unit[k], t->unit[i]))
				return err_set(err, ERR_INVALID,
					"%s:1: columns %d and %d are both results of `%.60s`; name one with --results", file,
					k + 1, i + 1, t->series[i]);
	}
	return 0;
}

static int report_columns(struct reading *out, const struct triton_columns *t, const struct table_header *h,
	const struct reading_options *how, const char *file, struct fw_err *err)
{
	int results = 0;

	for (int i = t->n_x; i < h->n; i++) {
		const char *word = column_counts(h->name[i], how->unit);

		results += t->is_result[i];
		if (t->is_result[i] || !h->name[i][0])
			continue;
		if (how->results && how->results[0])
			reading_note(out, "column `%.80s` is left out: --results does not name it", h->name[i]);
		else if (t->kind[i] == COLUMN_OTHER_UNIT)
			reading_note(
				out, "column `%.80s` is left out: `%s` is not a unit of time or rate", h->name[i], t->unit[i]);
		else if (word)
			reading_note(out, "column `%.80s` is left out: by its name (%s) it is not a time", h->name[i], word);
		else
			reading_note(out, "column `%.80s` is left out: it has no unit; give one with --unit", h->name[i]);
	}
	return results > 0 ? 0
			   : err_set(err, ERR_INVALID, "%s:1: has no column of times or rates; " REQUEST_RESULTS, file, "triton",
				     "triton");
}

static int triton_find(struct reading *out, const char *text, size_t len, const char *file, const struct table_header *h,
	const struct reading_options *how, struct triton_columns *t, struct fw_err *err)
{
	t->n_x = -1;
	for (int i = 0; i < h->n; i++)
		t->kind[i] = column_split(h->name[i], t->series[i], TABLE_NAME_SIZE, t->unit[i]);
	if (h->n < 2 && t->kind[0] != COLUMN_TIME_OR_RATE)
		return err_set(err, ERR_INVALID, "%s:1: has one column; a report has x values and a column for each line", file);
	if (choose_results(text, len, t, h, how, file, err) != 0 || find_units(t, h, how, file, err) != 0)
		return -1;
	return report_columns(out, t, h, how, file, err);
}

static int triton_row(
	struct reading *out, const struct csv *c, const struct table_header *h, const void *columns, struct fw_err *err)
{
	const struct triton_columns *t = columns;
	char key[TABLE_KEY_SIZE];

	for (int i = t->n_x; i < h->n; i++) {
		if (!t->is_result[i])
			continue;
		snprintf(key, sizeof key, "%s", t->series[i]);
		for (int x = 0; x < t->n_x; x++)
			table_put(key, h->name[x], c->cell[x]);
		if (table_add(out, c, h, i, t->unit[i], key, NAN, err) != 0)
			return -1;
	}
	return 0;
}

int read_triton(struct reading *out, const char *text, size_t len, const char *file, const struct reading_options *how,
	struct fw_err *err)
{
	struct triton_columns *t = mem_alloc_zero(1, sizeof *t);
	struct table_header h;
	struct csv c;

	csv_init(&c, text, len, file);
	int result = table_header_read(&c, &h, err) || triton_find(out, text, len, file, &h, how, t, err)
			     ? -1
			     : table_each(out, &c, &h, triton_row, t, err);
	csv_fini(&c);
	free(t);
	return result;
}
