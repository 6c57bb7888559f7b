/* csv_read.c - CSV parser. Cells are copied into one buffer, NUL-terminated, and addressed when the row is complete. */
#include "lib/lib.h"

void csv_init(struct csv *c, const char *text, size_t len, const char *file)
{
	*c = (struct csv){ .text = text, .len = len, .file = file, .next_line = 1, .separator = ',' };
	buf_init(&c->bytes, CSV_ROW_BYTES_MAX);
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		c->at = 3;
}

void csv_fini(struct csv *c)
{
	buf_fini(&c->bytes);
}

static int wrong(struct csv *c, const char *what, struct fw_err *err)
{
	return err_set(err, ERR_INVALID, "%s:%d: %s", c->file, c->line, what);
}

static bool at_end_of_line(const struct csv *c)
{
	return c->text[c->at] == '\n' || (c->text[c->at] == '\r' && c->at + 1 < c->len && c->text[c->at + 1] == '\n');
}

static void end_line(struct csv *c)
{
	if (c->at < c->len && c->text[c->at] == '\r')
		c->at++;
	if (c->at < c->len)
		c->at++;
	c->next_line++;
}

/* Read a quoted cell; `at` is after the first quote. */
static int quoted(struct csv *c, struct fw_err *err)
{
	for (; c->at < c->len; c->at++) {
		char b = c->text[c->at];

		if (b == '"' && c->at + 1 < c->len && c->text[c->at + 1] == '"') {
			c->at++;
		} else if (b == '"') {
			c->at++;
			return c->at == c->len || c->text[c->at] == c->separator || at_end_of_line(c)
				       ? 0
				       : wrong(c, "text follows a closing quote; double a quote that belongs to a cell", err);
		}
		c->next_line += b == '\n';
		buf_putc(&c->bytes, b);
	}
	return wrong(c, "a quoted cell has no end; is the file cut off?", err);
}

static int take_cell(struct csv *c, struct fw_err *err)
{
	if (c->at < c->len && c->text[c->at] == '"') {
		c->at++;
		return quoted(c, err);
	}
	for (; c->at < c->len && c->text[c->at] != c->separator && !at_end_of_line(c); c->at++)
		buf_putc(&c->bytes, c->text[c->at]);
	return 0;
}

int csv_next(struct csv *c, struct fw_err *err)
{
	size_t start[CSV_COLUMNS_MAX];

	while (c->at < c->len && at_end_of_line(c))
		end_line(c);
	c->n = 0;
	c->line = c->next_line;
	buf_clear(&c->bytes);
	if (c->at >= c->len)
		return 0;
	for (;;) {
		if (c->n == CSV_COLUMNS_MAX)
			return wrong(c, "more than 2048 columns", err);
		start[c->n++] = c->bytes.len;
		if (take_cell(c, err))
			return -1;
		if (memchr(c->bytes.data + start[c->n - 1], 0, c->bytes.len - start[c->n - 1]))
			return wrong(c, "holds a NUL byte; this is no text", err);
		buf_putc(&c->bytes, '\0');
		if (c->at >= c->len || c->text[c->at] != c->separator)
			break;
		c->at++;
	}
	if (c->bytes.is_out_of_memory)
		return err_memory(err, "cannot read %s", c->file);
	if (c->bytes.failed)
		return wrong(c, "a row is longer than 64 KiB", err);
	c->is_open = c->at >= c->len && c->text[c->len - 1] != '"';
	if (c->at < c->len)
		end_line(c);
	for (int i = 0; i < c->n; i++)
		c->cell[i] = c->bytes.data + start[i];
	return 1;
}
