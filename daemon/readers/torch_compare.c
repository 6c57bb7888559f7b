/*
 * torch_compare.c - tables that torch.utils.benchmark.Compare prints: a title with the label, descriptions as columns, rows below numbers
 * of threads, and at the end the unit.
 */
#include "readers/internal.h"

#include <math.h>
#include <stdio.h>

enum { COLUMNS_MAX = 64 };

static const char separator[] = "  |  ", times_are_in[] = "Times are in ";

struct compare {
	char label[TABLE_NAME_SIZE], env[TABLE_NAME_SIZE], before[TABLE_NAME_SIZE]; /* of a row: its name's earlier lines */
	char column[COLUMNS_MAX][TABLE_NAME_SIZE];
	int n_columns, threads;
	double unit_ms;    /* 0: outside a table */
	const char *times; /* the last line found that has a unit, so that it is searched once; NULL none */
	char unit[16];     /* of that line */
};

/* "[------ label ------]" */
static bool is_title(const struct text_line *line)
{
	return line->n > 4 && text_begins(line, "[-") && line->at[line->n - 1] == ']' && line->at[line->n - 2] == '-';
}

/* Copy a cell without the colours of terminals and spaces around it. */
static void take_cell(const char *from, const char *to, char out[TABLE_NAME_SIZE])
{
	char plain[TABLE_KEY_SIZE];
	size_t n = 0;

	for (; from < to && n + 1 < sizeof plain; from++) {
		if (*from == '\033')
			while (from < to && *from != 'm')
				from++;
		else
			plain[n++] = *from;
	}
	text_trim(plain, plain + n, out, TABLE_NAME_SIZE);
}

/* Split a line at separators. Returns the number of cells; the first is that of the name. Shape: cell[COLUMNS_MAX]. */
static int split(const struct text_line *line, char cell[COLUMNS_MAX][TABLE_NAME_SIZE])
{
	const char *at = line->at, *end = line->at + line->n;
	int n = 0;

	while (n < COLUMNS_MAX) {
		const char *bar = memmem(at, (size_t)(end - at), separator, strlen(separator));

		/* spaces at the end of a line are cut, so that the last cell may be missing */
		if (!bar && end - at >= 3 && memcmp(end - 3, "  |", 3) == 0)
			bar = end - 3;
		take_cell(at, bar ? bar : end, cell[n++]);
		if (!bar)
			break;
		at = bar + strlen(separator) < end ? bar + strlen(separator) : end;
	}
	return n;
}

/* Whether the unit at `t->times` is that of this table: no other one begins before it. */
static bool is_own_unit(const struct compare *t, const struct text_line *title)
{
	struct text_line line = *title;

	while (text_next(&line) && line.at < t->times)
		if (is_title(&line))
			return false;
	return true;
}

/* Find the unit, which is below the table in brackets. A table that is cut has none, and another one may follow it. */
static bool find_unit(struct compare *t, const struct text_line *title)
{
	if (t->times && t->times >= title->next)
		return is_own_unit(t, title);
	t->times = memmem(title->next, (size_t)(title->end - title->next), times_are_in, strlen(times_are_in));
	const char *open = t->times ? memchr(t->times, '(', (size_t)(title->end - t->times)) : NULL;
	const char *close = open ? memchr(open, ')', (size_t)(title->end - open)) : NULL;

	if (close)
		text_trim(open + 1, close, t->unit, sizeof t->unit);
	return close && is_own_unit(t, title);
}

static int begin_table(struct compare *t, const struct text_line *title, const char *file, struct fw_err *err)
{
	const char *from = title->at + 1, *to = title->at + title->n - 1;

	if (!find_unit(t, title))
		return err_set(err, ERR_INVALID, "%s:%d: the table has no line `%s...` below it; is the file cut off?", file,
			title->number, times_are_in);
	while (from < to && *from == '-')
		from++;
	while (to > from && to[-1] == '-')
		to--;
	text_trim(from, to, t->label, sizeof t->label);
	t->env[0] = t->before[0] = '\0';
	t->n_columns = 0;
	t->threads = 1;
	t->unit_ms = unit_to_ms(t->unit);
	return t->unit_ms > 0
		       ? 0
		       : err_set(err, ERR_INVALID, "%s:%d: the unit `%s` of the table is unknown; s, ms, us and ns are read",
				 file, title->number, t->unit);
}

/* Rows are indented by six; "(env)" is further left, in the first row of an environment. */
static void name_row(struct compare *t, const struct text_line *line, const char *cell, char name[TABLE_KEY_SIZE])
{
	const char *close = text_begins(line, "  (") ? strstr(cell, ")  ") : NULL;

	if (close)
		text_trim(cell, close + 1, t->env, sizeof t->env);
	snprintf(name, TABLE_KEY_SIZE, "%s%s", t->before, close ? close + 1 + strspn(close + 1, " ") : cell);
	t->before[0] = '\0';
}

static int read_row(struct reading *out, struct compare *t, const struct text_line *line, const char *file, struct fw_err *err)
{
	char cell[COLUMNS_MAX][TABLE_NAME_SIZE], name[TABLE_KEY_SIZE], key[TABLE_KEY_SIZE], threads[16], where[OBJECT_TEXT_SIZE];
	int n = split(line, cell);

	out->line = line->number;
	name_row(t, line, cell[0], name);
	snprintf(threads, sizeof threads, "%d", t->threads);
	snprintf(where, sizeof where, "%.500s:%d", file, line->number);
	for (int i = 1; i < n && i < t->n_columns; i++) {
		char *warning = strstr(cell[i], " (!");
		double value;

		if (!cell[i][0])
			continue; /* not measured */
		if (warning)
			*warning = '\0';
		snprintf(key, sizeof key, "%s%s%.500s%s%s", t->label, t->label[0] ? "/" : "", name, t->column[i][0] ? "/" : "",
			t->column[i]);
		table_put(key, "env", t->env);
		table_put(key, "threads", threads);
		reading_entry(out, line->number);
		if (reading_number(cell[i], &value) && reading_is_time(value * t->unit_ms)
				? reading_add(out, key, value * t->unit_ms, NAN, where, err)
				: reading_skip(out, key, err, "`%.60s` is not a time", cell[i]))
			return -1;
	}
	return 0;
}

static int read_line(struct reading *out, struct compare *t, const struct text_line *line, const char *file, struct fw_err *err)
{
	bool is_row = memmem(line->at, line->n, "  |", 3) != NULL;
	const char *threads = memmem(line->at, line->n, " threads: -", 11);

	if (is_title(line))
		return begin_table(t, line, file, err);
	if (t->unit_ms > 0 && (line->n == 0 || text_begins(line, times_are_in)))
		t->unit_ms = 0;
	if (t->unit_ms == 0)
		return 0;
	if (threads) {
		t->threads = (int)strtol(line->at, NULL, 10);
		t->env[0] = '\0';
	} else if (is_row && t->n_columns == 0) {
		t->n_columns = split(line, t->column);
	} else if (is_row) {
		return read_row(out, t, line, file, err);
	} else {
		size_t used = strlen(t->before);
		char part[TABLE_NAME_SIZE];

		text_trim(line->at, line->at + line->n, part, sizeof part);
		snprintf(t->before + used, sizeof t->before - used, "%s ", part); /* a statement of several lines */
	}
	return 0;
}

int read_torch_compare(struct reading *out, const char *text, size_t len, const char *file, const struct reading_options *how,
	struct fw_err *err)
{
	struct text_line line = text_begin(text, len);
	struct compare *t = mem_alloc_zero(1, sizeof *t);
	int result = 0;
	bool has_table = false;

	(void)how;
	while (result == 0 && text_next(&line)) {
		has_table = has_table || is_title(&line);
		result = read_line(out, t, &line, file, err);
	}
	free(t);
	if (result == 0 && !has_table)
		return err_set(err, ERR_INVALID, "%s: holds no table of torch.utils.benchmark.Compare", file);
	return result;
}
