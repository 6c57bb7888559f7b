#include "web/emit.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

static void escape(struct buf *out, const char *text, bool attribute)
{
	size_t left = text ? strlen(text) : 0;
	for (size_t len; left; text += len, left -= len) {
		uint32_t c;
		len = utf8_next(text, left, &c);
		if (c == UTF8_INVALID)
			buf_puts(out, "\xef\xbf\xbd");
		else if (c != '\n' && c != '\t' && utf8_is_hidden(c))
			buf_printf(out, "\\u{%04x}", (unsigned)c);
		else if (c == '&')
			buf_puts(out, "&amp;");
		else if (c == '<')
			buf_puts(out, "&lt;");
		else if (c == '>')
			buf_puts(out, "&gt;");
		else if (attribute && c == '"')
			buf_puts(out, "&quot;");
		else if (attribute && c == '\'')
			buf_puts(out, "&#39;");
		else
			buf_append(out, text, len);
	}
}

void emit_raw(struct buf *out, const char *markup)
{
	buf_puts(out, markup);
}

void emit_rawf(struct buf *out, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	buf_vprintf(out, format, args);
	va_end(args);
}

void emit_text(struct buf *out, const char *text)
{
	escape(out, text, false);
}

void emit_attribute(struct buf *out, const char *text)
{
	escape(out, text, true);
}

void emit_argument(struct buf *out, const char *text)
{
	for (const unsigned char *s = (const unsigned char *)(text ? text : ""); *s; s++) {
		bool plain =
			(*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') || strchr("-._~", *s);
		if (plain)
			buf_putc(out, (char)*s);
		else
			buf_printf(out, "%%%02X", *s);
	}
}

/* A spreadsheet runs what begins like a formula, unless it is a number. */
static bool is_formula(const char *text)
{
	char *end;
	if (!*text || !strchr("=+-@\t\r", *text))
		return false;
	(void)strtod(text, &end);
	return *end != '\0' || strspn(text, "0123456789.eE+-") != strlen(text);
}

void emit_csv(struct buf *out, const char *text)
{
	struct buf shown;
	if (!text)
		return;
	buf_init(&shown, 16 * strlen(text) + 1);
	utf8_show(&shown, text, strlen(text), "\r\n\t");
	bool formula = is_formula(text);
	if (!formula && !strpbrk(shown.data, ",\"\r\n")) {
		buf_puts(out, shown.data);
	} else {
		buf_putc(out, '"');
		if (formula)
			buf_putc(out, '\'');
		for (const char *s = shown.data; *s; s++) {
			if (*s == '"')
				buf_putc(out, '"');
			buf_putc(out, *s);
		}
		buf_putc(out, '"');
	}
	buf_fini(&shown);
}
