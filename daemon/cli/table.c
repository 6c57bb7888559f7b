/* table.c - see table.h. */
#include "cli/table.h"

#include <stdarg.h>
#include <string.h>

#include "base/utf8.h"

enum { CELL_MAX = 64 << 10 }; /* bytes */

void table_init(struct table *t, int n_column, const char *const *titles)
{
	t->n_column = n_column;
	buf_init(&t->cells, 16 << 20);
	for (int i = 0; i < n_column; i++)
		table_cell(t, "%s", titles[i]);
}

void table_cell(struct table *t, const char *format, ...)
{
	va_list args;
	struct buf text;
	buf_init(&text, CELL_MAX);
	va_start(args, format);
	buf_vprintf(&text, format, args);
	va_end(args);
	utf8_show(&t->cells, text.data, text.len, "");
	buf_putc(&t->cells, '\0');
	buf_fini(&text);
}

/* Columns on a terminal: bytes that begin a character. */
static int width(const char *text)
{
	int n = 0;
	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

void table_print(struct table *t, FILE *out)
{
	int widths[TABLE_COLUMNS_MAX] = { 0 };
	bool right[TABLE_COLUMNS_MAX] = { false };
	const char *end = t->cells.data + t->cells.len;
	int column = 0, row = 0;
	for (const char *s = t->cells.data; s < end; s += strlen(s) + 1) {
		if (row == 0)
			right[column] = *s == '>';
		int w = width(s) - (row == 0 && right[column]);
		if (w > widths[column])
			widths[column] = w;
		if (++column == t->n_column)
			column = 0, row++;
	}
	column = row = 0;
	for (const char *s = t->cells.data; s < end; s += strlen(s) + 1) {
		const char *text = s + (row == 0 && right[column]);
		int pad = widths[column] - width(text);
		bool last = column == t->n_column - 1;
		fprintf(out, "  %*s%s%*s", right[column] ? pad : 0, "", text, right[column] || last ? 0 : pad, "");
		if (last)
			fputc('\n', out);
		if (++column == t->n_column)
			column = 0, row++;
	}
}

void table_fini(struct table *t)
{
	buf_fini(&t->cells);
}
