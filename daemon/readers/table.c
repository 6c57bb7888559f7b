/* table.c - CSV tables. */
#include "readers/internal.h"

#include <math.h>
#include <stdio.h>

int table_header_read(struct csv *c, struct table_header *h, struct fw_err *err)
{
	int got = csv_next(c, err);

	if (got < 0)
		return -1;
	if (got == 0)
		return err_set(err, ERR_INVALID, "%s: is empty; its first line must name the columns", c->file);
	if (c->n > TABLE_COLUMNS_MAX)
		return err_set(err, ERR_INVALID, "%s:%d: more than %d columns", c->file, c->line, TABLE_COLUMNS_MAX);
	h->n = c->n;
	for (int i = 0; i < c->n; i++) {
		snprintf(h->name[i], TABLE_NAME_SIZE, "%s", c->cell[i]);
		for (int k = 0; k < i; k++)
			if (h->name[i][0] && strcmp(h->name[i], h->name[k]) == 0)
				return err_set(err, ERR_INVALID, "%s:%d: columns %d and %d are both called `%.80s`: rename one",
					c->file, c->line, k + 1, i + 1, h->name[i]);
	}
	return 0;
}

int table_column(const struct table_header *h, const char *name)
{
	for (int i = 0; i < h->n; i++)
		if (strcmp(h->name[i], name) == 0)
			return i;
	return -1;
}

int table_require_column(const struct csv *c, const struct table_header *h, const char *name, struct fw_err *err)
{
	int at = table_column(h, name);

	return at >= 0 ? at : err_set(err, ERR_INVALID, "%s:1: has no column %s", c->file, name);
}

/* Skip a malformed row up to the end of its line. -1: it has none, so the file may be cut. */
static int leave_line(struct csv *c, struct reading *out, const struct fw_err *wrong, struct fw_err *err)
{
	const char *stop = c->at < c->len ? memchr(c->text + c->at, '\n', c->len - c->at) : NULL;
	const char *what = strstr(wrong->text, ": ");
	char row[32];

	if (!stop)
		return err_set(err, wrong->code, "%s", wrong->text);
	c->at = (size_t)(stop + 1 - c->text);
	c->next_line++;
	snprintf(row, sizeof row, "line %d", c->line);
	if (out)
		out->line = c->line;
	return out ? reading_skip(out, row, err, "%s", what ? what + 2 : wrong->text) : 0;
}

int table_check_end(const struct csv *c, const struct table_header *h, struct fw_err *err)
{
	if (c->is_open && c->n != h->n)
		return err_set(err, ERR_INVALID, "%s:%d: has %d cells, the header has %d; is the file cut off?", c->file, c->line,
			c->n, h->n);
	if (c->is_open)
		return err_set(err, ERR_INVALID,
			"%s:%d: has no end of line, so its last cell, `%.20s`, may be cut; let the benchmark write it again",
			c->file, c->line, c->cell[c->n - 1]);
	return 0;
}

int table_next(struct csv *c, const struct table_header *h, struct reading *out, struct fw_err *err)
{
	for (;;) {
		struct fw_err wrong = { 0 };
		int got = csv_next(c, &wrong);
		char row[32];

		if (got < 0 && leave_line(c, out, &wrong, err) != 0)
			return -1;
		if (got < 0)
			continue;
		if (got == 0)
			return 0;
		if (table_check_end(c, h, err) != 0)
			return -1;
		if (out)
			out->line = c->line;
		if (c->n == h->n)
			return 1;
		snprintf(row, sizeof row, "line %d", c->line);
		if (out && reading_skip(out, row, err, "it has %d cells, the header has %d", c->n, h->n) != 0)
			return -1;
	}
}

const char *table_unfit(const char *cell, double *value, char why[READING_WHY_SIZE])
{
	if (!cell[strspn(cell, " ")])
		return "its cell is empty";
	if (!reading_number(cell, value)) {
		char shown[32];

		reading_show(cell, shown, sizeof shown);
		snprintf(why, READING_WHY_SIZE, "`%s` is not a number", shown);
		return why;
	}
	if (*value > 0)
		return NULL;
	snprintf(why, READING_WHY_SIZE, "%g is neither a time nor a rate", *value);
	return why;
}

int table_each(
	struct reading *out, struct csv *c, const struct table_header *h, table_row_fn *take, const void *arg, struct fw_err *err)
{
	double number;
	int got;

	while ((got = table_next(c, h, out, err)) == 1) {
		reading_entry(out, c->line);
		for (int i = 0; i < h->n; i++)
			if (c->cell[i][0] && !reading_number(c->cell[i], &number) && reading_is_condition(h->name[i]))
				reading_report(out, h->name[i], c->cell[i]);
		if (take(out, c, h, arg, err) != 0)
			return -1;
	}
	return got;
}

const char *table_position(char out[TABLE_POSITION_SIZE], const struct csv *c, const char *name)
{
	snprintf(out, TABLE_POSITION_SIZE, "%.500s:%d: column %s", c->file, c->line, name);
	return out;
}

bool table_seek(struct csv *c, const char *mark)
{
	const char *from = c->text + c->at, *found = memmem(from, c->len - c->at, mark, strlen(mark));

	if (!found)
		return false;
	while (found > from && found[-1] != '\n')
		found--;
	for (; from < found; from++)
		c->next_line += *from == '\n';
	c->at = (size_t)(found - c->text);
	return true;
}

void table_name(const char *name, size_t len, char *out, size_t size)
{
	enum { MARK = 9 }; /* "~" and eight digits */
	char hex[HASH_HEX];

	if (len < size) {
		snprintf(out, size, "%.*s", (int)len, name);
		return;
	}
	hash_hex(name, len, hex);
	snprintf(out, size, "%.*s~%.8s", (int)utf8_cut(name, len, size - 1 - MARK), name, hex);
}

void table_put(char key[TABLE_KEY_SIZE], const char *name, const char *value)
{
	char trimmed[TABLE_KEY_SIZE], spelled[TABLE_KEY_SIZE];
	size_t used = strlen(key), n;

	value += strspn(value, " ");
	n = strlen(value);
	while (n > 0 && value[n - 1] == ' ')
		n--;
	if (n == 0)
		return;
	snprintf(trimmed, sizeof trimmed, "%.*s", (int)(n < sizeof trimmed ? n : sizeof trimmed - 1), value);
	reading_spell(trimmed, spelled, sizeof spelled);
	snprintf(key + used, TABLE_KEY_SIZE - used, "%s%s=%s", used ? "/" : "", name, spelled);
}

int table_add(struct reading *out, const struct csv *c, const struct table_header *h, int column, const char *unit,
	const char *key, double tflops, struct fw_err *err)
{
	char name[TABLE_KEY_SIZE], full[TABLE_KEY_SIZE + 32], where[TABLE_POSITION_SIZE], why[READING_WHY_SIZE];
	double value = 1, ms, of_unit;
	const char *suffix, *unfit = table_unfit(c->cell[column], &value, why);

	(void)unit_convert(unfit ? 1 : value, unit, &ms, &of_unit, &suffix);
	if (!key[0]) {
		snprintf(full, sizeof full, "line %d", c->line);
		return reading_skip(out, full, err, "it has no name");
	}
	if (!unfit && !reading_is_time(ms)) {
		snprintf(why, sizeof why, "%g %s is not a time", value, unit);
		unfit = why;
	}
	table_name(key, strlen(key), name, sizeof name);
	snprintf(full, sizeof full, "%s%s", name, suffix);
	return unfit ? reading_skip(out, full, err, "%s", unfit)
		     : reading_add(
			       out, full, ms, isnan(tflops) ? of_unit : tflops, table_position(where, c, h->name[column]), err);
}
