/* jsonw.c - a writer that cannot produce invalid JSON from foreign bytes or odd numbers. */
#include "lib/lib.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { DEPTH_MAX = 32 };

void jsonw_init(struct jsonw *j, struct buf *out)
{
	*j = (struct jsonw){ .out = out };
}

/* True if a comma separates the next value from the one before; called once for each value. */
static bool is_comma_due(struct jsonw *j)
{
	bool due = !j->after_key && j->need_comma[j->depth];

	if (!j->after_key)
		j->need_comma[j->depth] = true;
	j->after_key = false;
	return due;
}

static void separate(struct jsonw *j)
{
	if (is_comma_due(j))
		buf_putc(j->out, ',');
}

void jsonw_open(struct jsonw *j, char bracket)
{
	separate(j);
	buf_putc(j->out, bracket);
	/* Deeper than any document of flopwatch: a bug, which must not lead to a write beyond need_comma. */
	if (j->depth + 1 >= DEPTH_MAX) {
		j->out->failed = true;
		return;
	}
	j->need_comma[++j->depth] = false;
}

void jsonw_close(struct jsonw *j, char bracket)
{
	if (j->depth == 0) {
		j->out->failed = true;
		return;
	}
	j->depth--;
	buf_putc(j->out, bracket);
}

/* Eight at a time: the high bit is set for each control character, quote, backslash, or byte that is not ASCII. */
static uint64_t mark_escaped(uint64_t eight)
{
	const uint64_t one = UINT64_C(0x0101010101010101), high = one << 7;
	uint64_t quote = eight ^ one * '"', backslash = eight ^ one * '\\';

	return (((eight - one * ' ') | (quote - one) | (backslash - one) | (eight + one)) | eight) & high;
}

static bool is_plain(const char *text, size_t len)
{
	static const bool is[256] = { [' ' ... '!'] = true, ['#' ... '['] = true, [']' ... '~'] = true };
	uint64_t eight;

	for (; len >= sizeof eight; text += sizeof eight, len -= sizeof eight) {
		memcpy(&eight, text, sizeof eight);
		if (mark_escaped(eight))
			break; /* or a false match next to a real one: check each byte */
	}
	while (len && is[(unsigned char)*text])
		text++, len--;
	return len == 0;
}

static void put_quoted(struct buf *b, const char *text, size_t len)
{
	size_t i, plain = 0;

	buf_putc(b, '"');
	for (i = 0; i < len;) {
		uint32_t code;
		size_t bytes;

		/* nearly all characters are plain and need no decoding */
		while (i < len && text[i] >= 0x20 && text[i] < 0x7f && text[i] != '"' && text[i] != '\\')
			i++;
		if (i == len)
			break;
		bytes = utf8_next(text + i, len - i, &code);

		if (code >= 0x20 && code != '"' && code != '\\' && code != UTF8_INVALID) {
			i += bytes;
			continue;
		}
		buf_append(b, text + plain, i - plain);
		if (code == UTF8_INVALID)
			buf_puts(b, "\xef\xbf\xbd");
		else if (code == '"' || code == '\\')
			buf_printf(b, "\\%c", (char)code);
		else if (code == '\n')
			buf_puts(b, "\\n");
		else if (code == '\t')
			buf_puts(b, "\\t");
		else
			buf_printf(b, "\\u%04x", (unsigned)code);
		i += bytes;
		plain = i;
	}
	buf_append(b, text + plain, len - plain);
	buf_putc(b, '"');
}

/* Write a comma if due, the quoted text and its `tail`; NUL: none. Text without escapes, the usual case, is written at once. */
static void put_text(struct jsonw *j, const char *text, size_t len, char tail)
{
	bool comma = is_comma_due(j);
	char *begin = is_plain(text, len) ? buf_reserve(j->out, len + 2 + comma + (tail != '\0')) : NULL, *at = begin;

	if (!begin) {
		if (comma)
			buf_putc(j->out, ',');
		put_quoted(j->out, text, len);
		if (tail)
			buf_putc(j->out, tail);
		return;
	}
	if (comma)
		*at++ = ',';
	*at++ = '"';
	if (len)
		memcpy(at, text, len);
	at += len;
	*at++ = '"';
	if (tail)
		*at++ = tail;
	buf_grown(j->out, (size_t)(at - begin));
}

void jsonw_key(struct jsonw *j, const char *key)
{
	put_text(j, key, strlen(key), ':');
	j->after_key = true;
}

void jsonw_string(struct jsonw *j, const char *text)
{
	if (text)
		jsonw_bytes(j, text, strlen(text));
	else
		jsonw_null(j);
}

void jsonw_bytes(struct jsonw *j, const void *data, size_t len)
{
	put_text(j, data, len, '\0');
}

void jsonw_int(struct jsonw *j, int64_t v)
{
	char text[24], *end = text + sizeof text, *s = end;
	uint64_t left = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;

	do
		*--s = (char)('0' + left % 10);
	while (left /= 10);
	if (v < 0)
		*--s = '-';
	separate(j);
	buf_append(j->out, s, (size_t)(end - s));
}

void jsonw_double(struct jsonw *j, double v)
{
	char text[40];
	int digits;

	separate(j);
	if (!isfinite(v)) {
		buf_puts(j->out, "null");
		return;
	}
	for (digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	buf_puts(j->out, text);
}

static void put_figure(struct buf *b, double v)
{
	char text[DECIMAL_MAX], *unused = buf_unused(b, DECIMAL_MAX);
	size_t len = decimal_general(unused ? unused : text, v == 0 ? 0.0 : v, 7);

	if (len && unused)
		buf_grown(b, len);
	else if (len)
		buf_append(b, text, len);
	else if (isfinite(v))
		buf_printf(b, "%.7g", v);
	else
		buf_append(b, "null", 4);
}

void jsonw_figure(struct jsonw *j, double v)
{
	separate(j);
	put_figure(j->out, v);
}

void jsonw_next_figure(struct jsonw *j, double v)
{
	j->after_key = false;
	put_figure(j->out, v);
}

void jsonw_next_plain(struct jsonw *j, const char *text)
{
	size_t len = strlen(text);
	char *at = buf_reserve(j->out, len + 2);

	j->after_key = false;
	if (!at)
		return;
	at[0] = at[len + 1] = '"';
	memcpy(at + 1, text, len);
	buf_grown(j->out, len + 2);
}

void jsonw_float(struct jsonw *j, float v)
{
	separate(j);
	if (isfinite(v))
		buf_printf(j->out, "%.9g", (double)v);
	else
		buf_puts(j->out, "null");
}

void jsonw_bool(struct jsonw *j, bool v)
{
	separate(j);
	buf_puts(j->out, v ? "true" : "false");
}

void jsonw_null(struct jsonw *j)
{
	separate(j);
	buf_puts(j->out, "null");
}

void jsonw_raw(struct jsonw *j, const char *text, size_t len)
{
	separate(j);
	buf_append(j->out, text, len);
}

void jsonw_kv_string(struct jsonw *j, const char *key, const char *text)
{
	jsonw_key(j, key);
	jsonw_string(j, text);
}

void jsonw_kv_int(struct jsonw *j, const char *key, int64_t v)
{
	jsonw_key(j, key);
	jsonw_int(j, v);
}

void jsonw_kv_double(struct jsonw *j, const char *key, double v)
{
	jsonw_key(j, key);
	jsonw_double(j, v);
}

void jsonw_kv_bool(struct jsonw *j, const char *key, bool v)
{
	jsonw_key(j, key);
	jsonw_bool(j, v);
}

void jsonw_kv_null(struct jsonw *j, const char *key)
{
	jsonw_key(j, key);
	jsonw_null(j);
}

void jsonw_kv_object(struct jsonw *j, const char *key)
{
	jsonw_key(j, key);
	jsonw_object(j);
}

void jsonw_kv_array(struct jsonw *j, const char *key)
{
	jsonw_key(j, key);
	jsonw_array(j);
}

void jsonw_kv_figure(struct jsonw *j, const char *key, double v)
{
	jsonw_key(j, key);
	jsonw_figure(j, v);
}

static void put_branch(struct jsonw *j, const char *key, const char *branch)
{
	char display[80];
	struct buf text;

	snprintf(display, sizeof display, "%s_display", key);
	buf_init(&text, (size_t)16 * BRANCH_KEY_MAX);
	branch_text(&text, branch);
	jsonw_kv_string(j, key, *branch ? branch : NULL);
	jsonw_kv_string(j, display, text.len ? text.data : NULL);
	buf_fini(&text);
}

static bool is_as(const char *as, const char *name)
{
	return strncmp(as, name, strlen(name)) == 0;
}

/* `word`: the rest of a format, from an item without its key on. */
static void put_word(struct jsonw *j, const char *key, char mark, const char *word, va_list *args)
{
	const char *as = word + (*word == '%') + strspn(word + (*word == '%'), "l");
	bool is_wide = *word == '%' && word[1] == 'l';
	char kind = *as++, time[32];
	const char *text = kind == 's' ? va_arg(*args, const char *) : NULL;
	int64_t whole = is_wide ? va_arg(*args, long long) : kind == 'd' || kind == 'i' ? va_arg(*args, int) : 0;
	double number = kind == 'f' || kind == 'g' ? va_arg(*args, double) : NAN;
	bool is_empty = !whole && !(text && *text) && !isfinite(number);

	if (is_empty && mark == '~')
		return;
	if (kind == 's' && key && is_as(as, "{branch}")) {
		put_branch(j, key, text ? text : "");
		return;
	}
	if (key)
		jsonw_key(j, key);
	if (is_empty && (mark == '?' || (kind == 'd' && is_as(as, "{time}"))))
		kind = 'n';
	if (text && is_as(as, "{json}")) {
		jsonw_raw(j, text, strlen(text));
		return;
	}
	if (kind == 'd' && is_as(as, "{time}")) {
		clock_format(whole, time);
		text = time;
		kind = 's';
	}
	switch (kind) {
	case '{':
		jsonw_object(j);
		break;
	case '}':
		jsonw_object_end(j);
		break;
	case '[':
		jsonw_array(j);
		break;
	case ']':
		jsonw_array_end(j);
		break;
	case 's':
		jsonw_string(j, text);
		break;
	case 'd':
		jsonw_int(j, whole);
		break;
	case 'i':
		jsonw_bool(j, whole != 0);
		break;
	case 'f':
		jsonw_double(j, number);
		break;
	case 'g':
		jsonw_figure(j, number);
		break;
	case 'n':
		jsonw_null(j);
		break;
	default: /* a bug of the caller */
		j->out->failed = true;
	}
}

void jsonw_vformat(struct jsonw *j, const char *format, va_list *args)
{
	for (const char *p = format; *p; p += strcspn(p, " "), p += *p == ' ') {
		char key[64], mark = '\0';
		size_t len = strcspn(p, "?~= ");
		bool has_key = p[len] && p[len] != ' ';

		if (has_key) {
			snprintf(key, sizeof key, "%.*s", (int)len, p);
			mark = p[len];
			p += len + 1 + (mark != '=');
		}
		put_word(j, has_key ? key : NULL, mark, p, args);
	}
}

void jsonw_format(struct jsonw *j, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	jsonw_vformat(j, format, &args);
	va_end(args);
}
