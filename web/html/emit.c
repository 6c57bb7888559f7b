#include "web/html/html.h"

#include <math.h>

/* Number of leading characters that need neither escaping nor decoding, in most cases all of them. */
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

/* Numbers are written in place, since a copy would wait until the single bytes are stored. */
static void put_fixed(struct buf *out, double v, int decimals)
{
	char *unused = buf_unused(out, DECIMAL_MAX);
	size_t len = unused ? decimal_fixed(unused, v, decimals) : 0;
	if (len)
		buf_grown(out, len);
	else
		buf_printf(out, "%.*f", decimals, v);
}

static void put_general(struct buf *out, double v, int digits)
{
	char *unused = buf_unused(out, DECIMAL_MAX);
	size_t len = unused ? decimal_general(unused, v, digits) : 0;
	if (len)
		buf_grown(out, len);
	else
		buf_printf(out, "%.*g", digits, v);
}

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
 * Write one conversion; `format` is the text after its '%'. Returns the text after the conversion, NULL for one that is left to
 * printf. These few conversions are nearly all that pages use, and a page has a thousand of them: bench_page prints how long it
 * takes to draw one with printf alone.
 */
static inline __attribute__((always_inline)) const char *put_value(struct buf *out, const char *format, va_list *args)
{
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
		put_fixed(out, va_arg(*args, double), precision < 0 ? 6 : precision);
		return format + 1;
	case 'g':
		put_general(out, va_arg(*args, double), precision < 0 ? 6 : precision);
		return format + 1;
	default:
		return NULL;
	}
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

/* Whether the position `at` of a format is inside a tag. Optional words before it are inside as at their beginning. */
static bool is_in_tag(const char *format, const char *at)
{
	while (at > format)
		if (*--at == '<' || *at == '>')
			return *at == '<';
	return false;
}

/*
 * Write the text in braces, which `words` begins, where there is a value, which replaces each '*' in it; a string is escaped by
 * its position. {known}: the number, or a dash. Returns the text after it.
 */
static const char *draw_optional(struct buf *out, const char *format, const char *words, va_list *args)
{
	char number[DECIMAL_TEXT_MAX];
	const char *end = strchr(words, '}'), *value = number;
	bool is_there, is_known = strncmp(words, "{known}", 7) == 0;
	if (*format == 's') {
		value = va_arg(*args, const char *);
		is_there = value && *value;
	} else if (words[-1] == 'd') {
		long long v = words[-2] == 'l' ? va_arg(*args, long long) : va_arg(*args, int);
		snprintf(number, sizeof number, "%lld", v);
		is_there = v != 0;
	} else {
		double v = va_arg(*args, double);
		if (words[-1] == 'f')
			decimal_text(number, sizeof number, v, format[1] - '0');
		else
			snprintf(number, sizeof number, "%.*g", format[1] - '0', v);
		is_there = isfinite(v);
		if (is_known)
			buf_puts(out, is_there ? number : "\u2013");
	}
	for (const char *at = words + 2; is_there && !is_known && end && at < end; at++)
		if (*at == '*')
			escape(out, value, is_in_tag(words, at));
		else
			buf_putc(out, *at);
	return end ? end + 1 : NULL;
}

static void draw_signed(struct buf *out, double v)
{
	layout_signed(out, v, 2);
}

static void draw_comparison(struct buf *out, int64_t id)
{
	emit_rawf(out, "<a href=\"/comparisons/%lld\">C%lld</a>", (long long)id, (long long)id);
}

static void draw_job(struct buf *out, int64_t id)
{
	emit_rawf(out, "<a href=\"/jobs/%lld\">J%lld</a>", (long long)id, (long long)id);
}

static void draw_alert(struct buf *out, int64_t id)
{
	emit_rawf(out, "<a href=\"/alerts/%lld\">A%lld</a>", (long long)id, (long long)id);
}

#define NAMED(type, name) type name, sizeof type - 1, sizeof type name - 1

/*
 * Write the value of a conversion that is followed by a name in braces, which `words` begins. Returns the text after it, NULL
 * where there is no such name.
 */
static const char *draw_value(struct buf *out, const char *format, const char *words, va_list *args)
{
	static const struct { /* the most frequent ones first */
		const char *conversion;
		size_t brace, len;
		void (*text)(struct buf *out, const char *value);
		void (*number)(struct buf *out, double value);
		void (*whole)(struct buf *out, int64_t value);
	} drawn[] = { { NAMED(".2f", "{signed}"), .number = draw_signed }, { NAMED("f", "{ms}"), .number = layout_ms },
		{ NAMED("s", "{case %s %lld}"), .text = NULL }, { NAMED("s", "{verdict}"), .text = layout_verdict },
		{ NAMED("f", "{decided %d}"), .number = NULL }, { NAMED("f", "{change}"), .number = layout_change },
		{ NAMED("s", "{name}"), .text = layout_name }, { NAMED("s", "{author}"), .text = layout_author },
		{ NAMED("s", "{branch}"), .text = layout_branch }, { NAMED("s", "{commit}"), .text = layout_commit },
		{ NAMED("s", "{sha}"), .text = layout_sha }, { NAMED("f", "{duration}"), .number = layout_duration },
		{ NAMED("lld", "{time}"), .whole = layout_time }, { NAMED("lld", "{comparison}"), .whole = draw_comparison },
		{ NAMED("lld", "{job}"), .whole = draw_job }, { NAMED("lld", "{alert}"), .whole = draw_alert } };
	for (size_t i = 0; i < sizeof drawn / sizeof drawn[0]; i++) {
		const char *conversion = drawn[i].conversion;
		if (words - format != (ptrdiff_t)drawn[i].brace || words[1] != conversion[drawn[i].brace + 1] ||
			strncmp(format, conversion, drawn[i].len) != 0)
			continue;
		if (drawn[i].whole) {
			drawn[i].whole(out, va_arg(*args, long long));
		} else if (*format == 's') {
			const char *text = va_arg(*args, const char *),
				   *title = drawn[i].text ? NULL : va_arg(*args, const char *);
			if (drawn[i].text)
				drawn[i].text(out, text);
			else
				layout_case(out, text, title, va_arg(*args, long long));
		} else {
			double v = va_arg(*args, double);
			if (drawn[i].number)
				drawn[i].number(out, v);
			else
				layout_decided(out, v, va_arg(*args, int));
		}
		return format + drawn[i].len;
	}
	return NULL;
}

void emit_format(struct buf *out, const char *format, ...)
{
	static const bool is_modifier[256] = { ['-'] = true, ['.'] = true, ['*'] = true, ['0' ... '9'] = true, ['l'] = true };
	va_list args;
	va_start(args, format);
	for (const char *at = format; at;) {
		const char *value = strchrnul(at, '%');
		buf_append(out, at, (size_t)(value - at));
		at = value;
		if (!*at)
			break;
		const char *conversion = at + 1;
		while (is_modifier[(unsigned char)*conversion])
			conversion++;
		if (*conversion && conversion[1] == '{') {
			at = (conversion[2] == '?' || conversion[2] == 'k' ? draw_optional : draw_value)(
				out, at + 1, conversion + 1, &args);
		} else if (at[1] == 's') {
			const char *text = va_arg(args, const char *);
			bool in_tag = is_in_tag(format, at);
			if (in_tag && at > format && at[-1] == '=')
				emit_argument(out, text);
			else
				escape(out, text, in_tag);
			at += 2;
		} else if (at[1] == '-' || *conversion != 's') {
			at = put_value(out, at + 1 + (at[1] == '-'), &args);
		} else {
			at = NULL; /* a precision cuts the text: put_value would not escape it */
		}
		out->failed |= !at;
	}
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

/* `text` is the function that escapes. */
static void put_format(struct buf *out, void (*text)(struct buf *out, const char *text), const char *format, va_list all)
{
	va_list args;
	va_copy(args, all);
	for (const char *at = format; at;) {
		const char *value = strchrnul(at, '%'), *code = "%s{code}";
		buf_append(out, at, (size_t)(value - at));
		at = value;
		if (!*at)
			break;
		bool is_code = strncmp(at, code, strlen(code)) == 0;
		if (at[1] == 's') {
			(is_code ? markdown_code : text)(out, va_arg(args, const char *));
			at += is_code ? strlen(code) : 2;
		} else {
			at = put_value(out, at + 1 + (at[1] == '-'), &args);
		}
		out->failed |= !at;
	}
	va_end(args);
}

void markdown_format(struct buf *out, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	put_format(out, markdown_text, format, args);
	va_end(args);
}

void csv_format(struct buf *out, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	put_format(out, csv_text, format, args);
	va_end(args);
}
