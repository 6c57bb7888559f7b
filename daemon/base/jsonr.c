#include "base/jsonr.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64, NUMBER_MAX = 48 };

void jsonr_init(struct jsonr *r, const char *text, size_t len, char *room)
{
	*r = (struct jsonr){ .at = text, .end = text + len, .room = room };
}

/* The next character that is no space, NUL at the end. */
static char next(struct jsonr *r)
{
	while (r->at < r->end && *r->at <= ' ' && (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r'))
		r->at++;
	return r->at < r->end ? *r->at : '\0';
}

static void fail(struct jsonr *r)
{
	r->failed = true;
	r->at = r->end;
}

/* ---- stepping over ---------------------------------------------------------------------------------------------------- */

/* Behind the quote that ends the text which begins at `at`; NULL: there is none. */
static const char *behind_text(const char *at, const char *end)
{
	for (at++; (at = memchr(at, '"', (size_t)(end - at))); at++) {
		const char *escapes = at;
		while (escapes[-1] == '\\')
			escapes--;
		if ((at - escapes) % 2 == 0)
			return at + 1;
	}
	return NULL;
}

static bool is_end(char c)
{
	return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* Behind the bracket that closes what opens at `at`. */
static const char *behind_bracket(const char *at, const char *end)
{
	static const bool is_plain[256] = { [0 ... '!'] = true, ['#' ... 'Z'] = true, ['^' ... 'z'] = true };
	for (int depth = 0; at < end;) {
		char c = *at;
		if (is_plain[(unsigned char)c]) {
			at++;
			continue;
		}
		if (c == '"') {
			at = behind_text(at, end);
			if (!at)
				return NULL;
			continue;
		}
		at++;
		if ((c == '{' || c == '[') && ++depth > DEPTH_MAX)
			return NULL;
		if ((c == '}' || c == ']') && --depth == 0)
			return at;
	}
	return NULL;
}

struct jsonr_span jsonr_value(struct jsonr *r)
{
	char c = next(r);
	const char *begin = r->at, *at = begin;
	if (c == '"') {
		at = behind_text(at, r->end);
	} else if (c == '{' || c == '[') {
		at = behind_bracket(at, r->end);
	} else {
		while (at < r->end && !is_end(*at))
			at++;
	}
	if (!at || at == begin) {
		fail(r);
		return (struct jsonr_span){ "", 0 };
	}
	r->at = at;
	return (struct jsonr_span){ begin, (size_t)(at - begin) };
}

/* ---- values ----------------------------------------------------------------------------------------------------------- */

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* A \u and its digits as UTF-8. Halves of a pair, and NUL, cannot stand in a text: jsonw writes neither. */
static char *put_code(char *to, const char *digits, const char *end)
{
	int code = 0;
	for (int i = 0; i < 4; i++) {
		int v = digits + i < end ? hex(digits[i]) : -1;
		code = v < 0 || code < 0 ? -1 : code * 16 + v;
	}
	if (code <= 0 || (code >= 0xd800 && code < 0xe000))
		code = 0xfffd;
	if (code < 0x80) {
		*to++ = (char)code;
	} else if (code < 0x800) {
		*to++ = (char)(0xc0 | code >> 6);
		*to++ = (char)(0x80 | (code & 63));
	} else {
		*to++ = (char)(0xe0 | code >> 12);
		*to++ = (char)(0x80 | (code >> 6 & 63));
		*to++ = (char)(0x80 | (code & 63));
	}
	return to;
}

/* What stands between the quotes, into the room, without a NUL behind it. */
static void put_text(struct jsonr *r, struct jsonr_span span)
{
	const char *at = span.text + 1, *end = span.text + span.len - 1;
	while (at < end) {
		const char *escape = memchr(at, '\\', (size_t)(end - at)), *plain = escape ? escape : end;
		memcpy(r->room, at, (size_t)(plain - at));
		r->room += plain - at;
		if (!escape || escape + 1 >= end)
			return;
		at = escape + 2;
		switch (escape[1]) {
		case 'u':
			r->room = put_code(r->room, at, end);
			at += end - at < 4 ? end - at : 4;
			break;
		case 'n':
			*r->room++ = '\n';
			break;
		case 't':
			*r->room++ = '\t';
			break;
		case 'r':
			*r->room++ = '\r';
			break;
		case 'b':
			*r->room++ = '\b';
			break;
		case 'f':
			*r->room++ = '\f';
			break;
		default:
			*r->room++ = escape[1];
		}
	}
}

static void take_text(struct jsonr *r, const char **into)
{
	struct jsonr_span span = jsonr_value(r);
	if (span.len < 2 || *span.text != '"')
		return;
	*into = r->room;
	put_text(r, span);
	*r->room++ = '\0';
}

static void take_words(struct jsonr *r, const char **into)
{
	char *begin = r->room;
	if (!jsonr_array(r))
		return;
	while (jsonr_item(r)) {
		struct jsonr_span span = jsonr_value(r);
		if (span.len < 2 || *span.text != '"')
			continue;
		if (r->room > begin)
			*r->room++ = ' ';
		put_text(r, span);
	}
	*r->room++ = '\0';
	*into = begin;
}

/* Figures have few digits: a whole number below 2^53 over an exact power of ten is rounded once, as strtod would round it. */
static double number(struct jsonr_span span)
{
	static const double power[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 };
	const char *at = span.text, *end = span.text + span.len;
	bool is_negative = at < end && *at == '-', has_point = false;
	uint64_t digits = 0;
	int n = 0, decimals = 0;
	for (at += is_negative; at < end && n <= 15; at++) {
		if (*at == '.' && !has_point) {
			has_point = true;
			continue;
		}
		if (*at < '0' || *at > '9')
			break;
		digits = digits * 10 + (uint64_t)(*at - '0');
		decimals += has_point;
		n++;
	}
	if (at == end && n > 0 && n <= 15)
		return (is_negative ? -1 : 1) * (double)digits / power[decimals];
	char text[NUMBER_MAX];
	if (span.len >= sizeof text || !strchr("-0123456789", *span.text))
		return NAN;
	memcpy(text, span.text, span.len);
	text[span.len] = '\0';
	return strtod(text, NULL);
}

static void take_number(struct jsonr *r, enum jsonr_kind kind, void *into)
{
	double v = number(jsonr_value(r));
	if (isnan(v))
		return;
	if (kind == JSONR_NUMBER)
		*(double *)into = v;
	else if (kind == JSONR_WHOLE && fabs(v) <= INT32_MAX)
		*(int *)into = (int)v;
	else if (kind == JSONR_ID && fabs(v) < 0x1p53)
		*(int64_t *)into = (int64_t)v;
}

/* ---- containers ------------------------------------------------------------------------------------------------------- */

bool jsonr_array(struct jsonr *r)
{
	if (next(r) != '[') {
		jsonr_value(r);
		return false;
	}
	r->at++;
	return true;
}

/* Past the comma before the next value, or the bracket behind the last. A comma too many is let pass. */
static bool follows(struct jsonr *r, char close)
{
	char c = next(r);
	if (c == ',') {
		r->at++;
		return true;
	}
	if (c == close)
		r->at++;
	else if (c == '\0')
		fail(r);
	return c != close && c != '\0';
}

bool jsonr_item(struct jsonr *r)
{
	return follows(r, ']');
}

static void take_name(struct jsonr *r, const struct jsonr_field *field, void *into)
{
	const char *text = NULL;
	take_text(r, &text);
	if (text)
		field->name(text, into);
}

static void take(struct jsonr *r, const struct jsonr_field *field, void *into)
{
	void *to = (char *)into + field->offset;
	switch (field->kind) {
	case JSONR_TEXT:
		take_text(r, to);
		return;
	case JSONR_WORDS:
		take_words(r, to);
		return;
	case JSONR_NUMBER:
	case JSONR_WHOLE:
	case JSONR_ID:
		take_number(r, field->kind, to);
		return;
	case JSONR_TRUE:
		*(bool *)to = next(r) == 't';
		jsonr_value(r);
		return;
	case JSONR_SPAN:
		*(struct jsonr_span *)to = jsonr_value(r);
		return;
	case JSONR_OBJECT:
		jsonr_object(r, field->inner, into);
		return;
	case JSONR_NAME:
		take_name(r, field, into);
		return;
	case JSONR_OTHER:
		field->read(r, into);
		return;
	}
}

static bool is_key(const struct jsonr_field *field, struct jsonr_span key)
{
	size_t len = key.len - 2;
	return *field->key == key.text[1] && strncmp(field->key, key.text + 1, len) == 0 && field->key[len] == '\0';
}

/* The field of a key: from the one after the last found on, and round. */
static const struct jsonr_field *find(const struct jsonr_field *all, const struct jsonr_field *from, struct jsonr_span key)
{
	for (const struct jsonr_field *f = from; f->key; f++)
		if (is_key(f, key))
			return f;
	for (const struct jsonr_field *f = all; f < from; f++)
		if (is_key(f, key))
			return f;
	return NULL;
}

void jsonr_object(struct jsonr *r, const struct jsonr_field *field, void *into)
{
	const struct jsonr_field *from = field;
	if (next(r) != '{') {
		jsonr_value(r);
		return;
	}
	r->at++;
	while (follows(r, '}')) {
		struct jsonr_span key = jsonr_value(r);
		if (key.len < 2 || *key.text != '"' || next(r) != ':') {
			fail(r);
			return;
		}
		r->at++;
		const struct jsonr_field *found = find(field, from, key);
		if (!found) {
			jsonr_value(r);
			continue;
		}
		take(r, found, into);
		from = found + 1;
	}
}
