/* csv_write.c - documented in lib.h. */
#include "lib/lib.h"

#include <math.h>
#include <stdlib.h>

/* Return the bytes of the character of `list` with which the text begins; 0 none. */
static size_t begins_with(const char *text, const char *const *list)
{
	for (; *list; list++)
		if (strncmp(text, *list, strlen(*list)) == 0)
			return strlen(*list);
	return 0;
}

/* Return the bytes of a character that spreadsheets skip at the start of a cell: ASCII, no-break or ideographic space. 0 none. */
static size_t skipped_space(const char *text)
{
	static const char *const wide[] = { "\xc2\xa0", "\xe3\x80\x80", "\xe2\x80\x82", "\xe2\x80\x83", "\xe2\x80\xaf", NULL };
	return *text && strchr(" \t\r\n\v\f", *text) ? 1 : begins_with(text, wide);
}

/* Full-width and small signs are signs to a spreadsheet, too. */
static bool is_sign(const char *text)
{
	static const char *const wide[] = { "\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d", "\xef\xbc\xa0", "\xef\xb9\xa6",
		"\xef\xb9\xa2", "\xef\xb9\xa3", "\xef\xb9\xab", "\xe2\x88\x92", NULL };
	return (*text && strchr("=+-@", *text)) || begins_with(text, wide);
}

static bool is_number(const char *text)
{
	char *end;
	(void)strtod(text, &end);
	return *end == '\0' && strspn(text, "0123456789.eE+-") == strlen(text);
}

/* A spreadsheet runs a cell that begins like a formula, unless it is a number. */
static bool is_formula(const char *text)
{
	bool odd = *text && strchr("\t\r\n", *text);
	const char *at = text;
	for (size_t n; (n = skipped_space(at)); at += n)
		;
	return odd || (is_sign(at) && !is_number(text));
}

static void quoted(struct buf *out, const char *before, const char *text)
{
	buf_putc(out, '"');
	buf_puts(out, before);
	for (const char *s = text; *s; s++) {
		if (*s == '"')
			buf_putc(out, '"');
		buf_putc(out, *s);
	}
	buf_putc(out, '"');
}

void csv_field(struct buf *out, const char *text)
{
	if (strpbrk(text, ",\"\r\n"))
		quoted(out, "", text);
	else
		buf_puts(out, text);
}

void csv_text(struct buf *out, const char *text)
{
	struct buf shown;
	if (!text)
		return;
	buf_init(&shown, 16 * strlen(text) + 1);
	utf8_show(&shown, text, strlen(text), "\r\n\t");
	if (is_formula(shown.data))
		quoted(out, "'", shown.data);
	else
		csv_field(out, shown.data);
	buf_fini(&shown);
}

void csv_number(struct buf *out, double v)
{
	if (isfinite(v))
		buf_printf(out, ",%.6g", v);
	else
		buf_putc(out, ',');
}
