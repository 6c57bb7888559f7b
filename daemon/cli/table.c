/* table.c - documented in internal.h. */
#include "cli/internal.h"

#include <math.h>

enum { CELL_MAX = 64 << 10 /* bytes */, CELLS_MAX = 16 << 20, CUT_MIN = 8 /* characters that remain of a truncated text */ };

void table_init(struct table *t, int n_column, const char *const *titles)
{
	t->n_column = n_column;
	buf_init(&t->cells, CELLS_MAX);
	for (int i = 0; i < n_column; i++)
		table_cell(t, "%s", titles[i]);
}

static void put_cell(struct table *t, const char *format, va_list args)
{
	struct buf text;
	buf_init(&text, CELL_MAX);
	buf_vprintf(&text, format, args);
	t->cells.failed = t->cells.failed || text.failed;
	utf8_show(&t->cells, text.data, text.len, "");
	buf_putc(&t->cells, '\0');
	buf_fini(&text);
}

void table_cell(struct table *t, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	put_cell(t, format, args);
	va_end(args);
}

void table_cell_if(struct table *t, bool is_known, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	if (is_known)
		put_cell(t, format, args);
	else
		table_cell(t, "-");
	va_end(args);
}

void table_figure(struct table *t, double v)
{
	table_cell_if(t, isfinite(v), "%.4g", v);
}

static void percent_cell(struct table *t, double pct, int digits, bool is_change)
{
	table_cell_if(t, isfinite(pct), is_change ? "%+.*f %%" : "%.*f %%", digits, pct);
}

void table_print_rows(const json_t *rows, int n_column, const struct column *column, FILE *out)
{
	struct table t = { .n_column = n_column };
	size_t i;
	json_t *row;
	buf_init(&t.cells, CELLS_MAX);
	for (int k = 0; k < n_column; k++)
		table_cell(&t, "%s", column[k].title);
	json_array_foreach(rows, i, row) for (const struct column *k = column; k < column + n_column; k++)
	{
		if (k->cell)
			k->cell(&t, row);
		else if (k->integer)
			table_cell(&t, "%lld", value_integer(row, k->integer));
		else if (k->percent)
			percent_cell(&t, value_number(row, k->percent), k->digits, k->is_change);
		else
			table_cell(&t, "%.*s", k->cut ? k->cut : CELL_MAX, k->text ? k->text(row) : value_text(row, k->key));
	}
	table_print(&t, out);
	table_fini(&t);
}

/* Terminal columns of a text: bytes that begin a character. */
static int width(const char *text)
{
	int n = 0;
	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

/* Layout of the table: the displayed columns, their width and alignment. */
struct layout {
	int width[TABLE_COLUMNS_MAX]; /* 0: dropped */
	bool right[TABLE_COLUMNS_MAX], may_go[TABLE_COLUMNS_MAX];
};

/* A title without its markers. */
static const char *title(const char *text)
{
	text += *text == '~';
	return text + (*text == '>');
}

static void measure(const struct table *t, struct layout *l)
{
	const char *end = t->cells.data + t->cells.len;
	int column = 0;
	bool first = true;
	memset(l, 0, sizeof *l);
	for (const char *s = t->cells.data; s < end; s += strlen(s) + 1) {
		if (first) {
			l->may_go[column] = *s == '~';
			l->right[column] = s[*s == '~'] == '>';
		}
		int w = width(first ? title(s) : s);
		if (w > l->width[column])
			l->width[column] = w;
		if (++column == t->n_column)
			column = 0, first = false;
	}
}

static int total(const struct table *t, const struct layout *l)
{
	int sum = 0;
	for (int i = 0; i < t->n_column; i++)
		sum += l->width[i] ? l->width[i] + 2 : 0;
	return sum;
}

/* Drop columns, then truncate the widest texts, until the table fits. */
static void fit(const struct table *t, struct layout *l, int columns)
{
	for (int i = t->n_column - 1; i >= 0 && total(t, l) > columns; i--)
		if (l->may_go[i])
			l->width[i] = 0;
	while (total(t, l) > columns) {
		int widest = -1;
		for (int i = 0; i < t->n_column; i++)
			if (!l->right[i] && l->width[i] > CUT_MIN && (widest < 0 || l->width[i] > l->width[widest]))
				widest = i;
		if (widest < 0)
			return;
		int over = total(t, l) - columns;
		l->width[widest] -= over < l->width[widest] - CUT_MIN ? over : l->width[widest] - CUT_MIN;
	}
}

/* The last `columns` characters of `text`, after a sign if it was truncated: the ends of texts differ most. */
static void print_cell(FILE *out, const char *text, int columns)
{
	int over = width(text) - columns;
	if (over > 0) {
		for (over++; over > 0 && *text; over--)
			for (text++; ((unsigned char)*text & 0xc0) == 0x80;)
				text++;
		fputs("\xe2\x80\xa6", out);
	}
	fputs(text, out);
}

/* Spaces are printed before the next text, so that no line has trailing spaces. */
static void print_row(const struct table *t, const struct layout *l, const char **s, bool is_title, bool colors, FILE *out)
{
	int blanks = 0;
	for (int i = 0; i < t->n_column; i++, *s += strlen(*s) + 1) {
		const char *text = is_title ? title(*s) : *s;
		const char *tone = !colors ? "" : is_title ? TERMINAL_BOLD : terminal_tone(text);
		int w = width(text), pad = l->width[i] - (w < l->width[i] ? w : l->width[i]);
		if (!l->width[i])
			continue;
		blanks += 2 + (l->right[i] ? pad : 0);
		if (*text) {
			fprintf(out, "%*s%s", blanks, "", tone);
			print_cell(out, text, l->width[i]);
			fputs(*tone ? TERMINAL_PLAIN : "", out);
			blanks = 0;
		}
		blanks += l->right[i] ? 0 : pad;
	}
	fputc('\n', out);
}

void table_print(struct table *t, FILE *out)
{
	struct layout l;
	/* a table without some of its cells could lack a verdict, and would look complete */
	if (t->cells.failed) {
		fflush(out);
		fprintf(stderr, "flopwatch: cannot print a table: memory is exhausted, or it has more than %d MiB; use --json\n",
			CELLS_MAX >> 20);
		exit(EXIT_ERROR);
	}
	const char *s = t->cells.data, *end = s + t->cells.len;
	int columns = terminal_width(out);
	bool colors = terminal_colors(out);
	measure(t, &l);
	if (columns)
		fit(t, &l, columns);
	bool has_titles = false;
	for (int i = 0; i < t->n_column; i++, s += strlen(s) + 1)
		has_titles = has_titles || *title(s);
	if (has_titles)
		s = t->cells.data;
	for (bool is_title = has_titles; s < end; is_title = false)
		print_row(t, &l, &s, is_title, colors, out);
}

void table_fini(struct table *t)
{
	buf_fini(&t->cells);
}
