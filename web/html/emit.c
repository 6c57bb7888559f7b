#include "web/html/emit.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "base/percent.h"
#include "base/utf8.h"

/* How many characters at the beginning need neither escaping nor decoding, which is nearly always all of them. */
static size_t plain_length(const char *text, size_t len)
{
	static const bool is_plain[256] = {
		[' ' ... '!'] = true, ['#' ... '%'] = true, ['(' ... ';'] = true, ['='] = true, ['?' ... '~'] = true
	};
	size_t n = 0;
	while (n < len && is_plain[(unsigned char)text[n]])
		n++;
	return n;
}

static void escape(struct buf *out, const char *text, bool attribute)
{
	size_t left = text ? strlen(text) : 0;
	for (size_t len; left; text += len, left -= len) {
		uint32_t c;
		len = plain_length(text, left);
		if (len) {
			buf_append(out, text, len);
			continue;
		}
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

/* ---- markup with values ------------------------------------------------------------------------------------------------ */

static void put_whole(struct buf *out, long long v)
{
	char text[24], *end = text + sizeof text, *s = end;
	unsigned long long left = v < 0 ? 0 - (unsigned long long)v : (unsigned long long)v;
	do
		*--s = (char)('0' + left % 10);
	while (left /= 10);
	if (v < 0)
		*--s = '-';
	buf_append(out, s, (size_t)(end - s));
}

/*
 * One conversion, `format` behind its '%'. Returns what follows it, NULL for one that is left to printf. These few are nearly
 * all that pages use, and a page has a thousand of them: bench_page prints how long it takes to draw one with printf alone.
 */
static const char *put_value(struct buf *out, const char *format, va_list *args)
{
	char text[DECIMAL_MAX];
	int precision = -1, longs = 0;
	if (*format == '.') {
		format++;
		precision = 0;
		if (*format == '*') {
			precision = va_arg(*args, int);
			format++;
		}
		for (; *format >= '0' && *format <= '9'; format++)
			precision = precision * 10 + (*format - '0');
	}
	for (; *format == 'l'; format++)
		longs++;
	if (longs && *format != 'd')
		return NULL;
	size_t len = 0;
	switch (*format) {
	case '%':
		buf_putc(out, '%');
		return format + 1;
	case 'c':
		buf_putc(out, (char)va_arg(*args, int));
		return format + 1;
	case 'd':
		if (precision >= 0)
			return NULL;
		put_whole(out, longs == 2 ? va_arg(*args, long long) : longs == 1 ? va_arg(*args, long) : va_arg(*args, int));
		return format + 1;
	case 's': {
		const char *value = va_arg(*args, const char *);
		buf_append(out, value, precision < 0 ? strlen(value) : strnlen(value, (size_t)precision));
		return format + 1;
	}
	case 'f':
		len = decimal_fixed(text, va_arg(*args, double), precision < 0 ? 6 : precision);
		break;
	case 'g':
		len = decimal_general(text, va_arg(*args, double), precision < 0 ? 6 : precision);
		break;
	default:
		break;
	}
	buf_append(out, text, len);
	return len ? format + 1 : NULL;
}

void emit_vrawf(struct buf *out, const char *format, va_list all)
{
	va_list args, again;
	size_t begin = out->len;
	va_copy(args, all);
	va_copy(again, all);
	for (const char *at = format; at;) {
		const char *value = strchrnul(at, '%');
		buf_append(out, at, (size_t)(value - at));
		at = value;
		if (!*at)
			break;
		at = put_value(out, at + 1, &args);
		if (!at && !out->failed) {
			out->len = begin;
			buf_vprintf(out, format, again);
		}
	}
	va_end(again);
	va_end(args);
}

void emit_rawf(struct buf *out, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	emit_vrawf(out, format, args);
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
	if (text)
		percent_encode(out, text, strlen(text), "-._~");
}

/* What spreadsheets skip before they look: ASCII, no-break and ideographic spaces. Bytes of one, 0 none. */
static size_t skipped_space(const char *text)
{
	static const char *const wide[] = { "\xc2\xa0", "\xe3\x80\x80", "\xe2\x80\x82", "\xe2\x80\x83", "\xe2\x80\xaf" };
	if (*text && strchr(" \t\r\n\v\f", *text))
		return 1;
	for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++)
		if (strncmp(text, wide[i], strlen(wide[i])) == 0)
			return strlen(wide[i]);
	return 0;
}

/* Full-width and small signs are signs to a spreadsheet, too. */
static bool is_sign(const char *text)
{
	static const char *const wide[] = { "\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d", "\xef\xbc\xa0", "\xef\xb9\xa6",
		"\xef\xb9\xa2", "\xef\xb9\xa3", "\xef\xb9\xab", "\xe2\x88\x92" };
	if (*text && strchr("=+-@", *text))
		return true;
	for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++)
		if (strncmp(text, wide[i], strlen(wide[i])) == 0)
			return true;
	return false;
}

static bool is_number(const char *text)
{
	char *end;
	(void)strtod(text, &end);
	return *end == '\0' && strspn(text, "0123456789.eE+-") == strlen(text);
}

/* A spreadsheet runs what begins like a formula, unless it is a number. */
static bool is_formula(const char *text)
{
	bool odd = *text && strchr("\t\r\n", *text);
	const char *at = text;
	for (size_t n; (n = skipped_space(at)); at += n)
		;
	return odd || (is_sign(at) && !is_number(text));
}

void emit_csv(struct buf *out, const char *text)
{
	struct buf shown;
	if (!text)
		return;
	buf_init(&shown, 16 * strlen(text) + 1);
	utf8_show(&shown, text, strlen(text), "\r\n\t");
	bool formula = is_formula(shown.data);
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

void emit_csv_number(struct buf *out, double v)
{
	if (isfinite(v))
		buf_printf(out, ",%.6g", v);
	else
		buf_putc(out, ',');
}
