/* triton.c - see triton.h. */
#include "core/reading/triton.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/reading/table.h"

enum { UNIT_SIZE = 32 };

struct triton_columns {
	int n_x; /* leading columns that hold x values */
	char line[TABLE_COLUMNS_MAX][TABLE_NAME_SIZE];
	char unit[TABLE_COLUMNS_MAX][UNIT_SIZE];
};

/* "Triton (TFLOPS)" into its two parts. */
static bool split_unit(const char *name, char line[TABLE_NAME_SIZE], char unit[UNIT_SIZE])
{
	const char *open = strrchr(name, '('), *end = name + strlen(name) - 1;

	if (!open || *end != ')' || open == name || (size_t)(end - open) > UNIT_SIZE || open[-1] != ' ')
		return false;
	snprintf(line, TABLE_NAME_SIZE, "%.*s", (int)(open - 1 - name), name);
	snprintf(unit, UNIT_SIZE, "%.*s", (int)(end - open - 1), open + 1);
	return true;
}

/* Without units in the header: x are the leading columns of whole numbers in every row, the first in any case. */
static int count_x(const char *text, size_t len, const char *file, const struct table_header *h, int *n_x, struct fw_err *err)
{
	struct csv c;
	int got;

	*n_x = h->n - 1;
	csv_init(&c, text, len, file);
	got = csv_next(&c, err);
	while (got == 1 && (got = table_next(&c, h, err)) == 1)
		for (int i = 1; i < *n_x; i++) {
			double v;

			if (!reading_number(c.cell[i], &v) || v != floor(v))
				*n_x = i;
		}
	csv_fini(&c);
	return got;
}

static int triton_find(const char *text, size_t len, const char *file, const struct table_header *h, const char *unit,
	struct triton_columns *t, struct fw_err *err)
{
	t->n_x = -1;
	for (int i = 0; i < h->n; i++)
		if (split_unit(h->name[i], t->line[i], t->unit[i])) {
			if (t->n_x < 0)
				t->n_x = i;
		} else if (t->n_x >= 0) {
			t->line[i][0] = '\0'; /* a column of differences */
		}
	if (t->n_x == 0)
		return err_set(
			err, ERR_INVALID, "%s:1: begins with a column of results; the first columns hold the x values", file);
	if (t->n_x > 0)
		return 0;
	if (h->n < 2)
		return err_set(err, ERR_INVALID, "%s:1: has one column; a report has x values and a column for each line", file);
	if (!unit[0])
		return err_set(err, ERR_INVALID,
			"%s:1: does not say what its numbers are; give a unit (ms, us, ns, s, TFLOPS or GB/s)", file);
	if (count_x(text, len, file, h, &t->n_x, err) < 0)
		return -1;
	for (int i = t->n_x; i < h->n; i++) {
		snprintf(t->line[i], TABLE_NAME_SIZE, "%s", h->name[i]);
		snprintf(t->unit[i], UNIT_SIZE, "%s", unit);
	}
	return 0;
}

static int triton_row(struct reading *out, const struct csv *c, const struct table_header *h, const struct triton_columns *t,
	struct fw_err *err)
{
	char x[TABLE_KEY_SIZE / 2] = "", key[TABLE_KEY_SIZE], where[TABLE_PLACE_SIZE];
	size_t used = 0;

	for (int i = 0; i < t->n_x && used < sizeof x; i++) {
		double v;
		bool whole = reading_number(c->cell[i], &v) && v == floor(v) && fabs(v) < 1e15;
		int n = whole ? snprintf(x + used, sizeof x - used, "/%s=%.0f", h->name[i], v) /* pandas writes 4096.0 */
			      : snprintf(x + used, sizeof x - used, "/%s=%s", h->name[i], c->cell[i]);

		used += (size_t)n;
	}
	for (int i = t->n_x; i < h->n; i++) {
		bool absent = !c->cell[i][0] || strcasecmp(c->cell[i], "nan") == 0;
		double v = 1, ms, tflops;
		const char *suffix;

		if (!t->line[i][0])
			continue;
		if (!absent && table_number(c, h, i, &v, err))
			return -1;
		if (reading_convert(v, t->unit[i], &ms, &tflops, &suffix))
			return err_set(err, ERR_INVALID, "%s: the unit `%s` is unknown; use ms, us, ns, s, TFLOPS or GB/s",
				table_place(where, c, h->name[i]), t->unit[i]);
		snprintf(key, sizeof key, "%s%s%s", t->line[i], x, suffix);
		if (absent ? reading_leave(out, key, err, "no number")
			   : reading_add(out, key, ms, tflops, table_place(where, c, h->name[i]), err))
			return -1;
	}
	return 0;
}

int read_triton(
	struct reading *out, const char *text, size_t len, const char *file, const struct reading_how *how, struct fw_err *err)
{
	struct triton_columns *t = calloc(1, sizeof *t);
	struct table_header h;
	struct csv c;
	int got = 0, result;

	if (!t)
		return err_set(err, ERR_INTERNAL, "out of memory");
	csv_init(&c, text, len, file);
	result = table_header_read(&c, &h, err) || triton_find(text, len, file, &h, how->unit, t, err) ? -1 : 0;
	while (result == 0 && (got = table_next(&c, &h, err)) == 1)
		result = triton_row(out, &c, &h, t, err);
	csv_fini(&c);
	free(t);
	return result || got < 0 ? -1 : 0;
}
