#include "lib/lib.h"

#include <math.h>
#include <stdlib.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { DEPTH_MAX = 64, NUMBER_MAX = 48 };

void jsonr_init(struct jsonr *r, const char *text, size_t len, char *buffer)
{
	*r = (struct jsonr){ .at = text, .end = text + len, .buffer = buffer };
}

/* Return the next character other than white space, NUL at the end. */
static inline char next(struct jsonr *r)
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

/* ---- skipping values -------------------------------------------------------------------------------------------------- */

/* Meaning of a character outside of texts. */
enum meaning { NOTHING, QUOTE, OPENS, CLOSES, ENDS };
static const unsigned char meaning_of[256] = { ['"'] = QUOTE,
	['{'] = OPENS,
	['['] = OPENS,
	['}'] = CLOSES,
	[']'] = CLOSES,
	[','] = ENDS,
	[' '] = ENDS,
	['\n'] = ENDS,
	['\t'] = ENDS,
	['\r'] = ENDS };

static inline enum meaning meaning(char c)
{
	return (enum meaning)meaning_of[(unsigned char)c];
}

/*
 * More than half of a comparison's body is skipped for every page, sixteen characters at once if the machine supports that. Each
 * function skips characters other than those it searches for, and may stop before the first match.
 */
#ifdef __SSE2__
static inline const char *pass(const char *at, const char *end, char a, char b, char c, char folded)
{
	for (; end - at >= 16; at += 16) {
		__m128i text = _mm_loadu_si128((const __m128i *)at), fold = _mm_or_si128(text, _mm_set1_epi8(folded));
		__m128i found = _mm_or_si128(_mm_cmpeq_epi8(text, _mm_set1_epi8(a)),
			_mm_or_si128(_mm_cmpeq_epi8(fold, _mm_set1_epi8(b)), _mm_cmpeq_epi8(fold, _mm_set1_epi8(c))));
		unsigned bits = (unsigned)_mm_movemask_epi8(found);
		if (bits)
			return at + __builtin_ctz(bits);
	}
	return at;
}
#else
static inline const char *pass(const char *at, const char *end, char a, char b, char c, char folded)
{
	(void)end, (void)a, (void)b, (void)c, (void)folded;
	return at;
}
#endif

/* Skip to the next quote or bracket; square and curly brackets differ in one bit. */
static inline const char *pass_plain(const char *at, const char *end)
{
	return pass(at, end, '"', '{', '}', '{' - '[');
}

/* Return the position behind the closing quote of the text whose first character is at `at`; NULL: there is none. */
static inline const char *behind_text(const char *at, const char *end)
{
	for (at = pass(at, end, '"', '\\', '\\', 0); at < end && *at != '"'; at++)
		if (*at == '\\' && ++at == end)
			break;
	return at < end ? at + 1 : NULL;
}

/* Return the position behind the bracket that closes the one at `at`. */
static const char *behind_bracket(const char *at, const char *end)
{
	for (int depth = 0; at < end; at = pass_plain(at, end)) {
		switch (meaning(*at++)) {
		case QUOTE:
			at = behind_text(at, end);
			if (!at)
				return NULL;
			break;
		case OPENS:
			if (++depth > DEPTH_MAX)
				return NULL;
			break;
		case CLOSES:
			if (--depth == 0)
				return at;
			break;
		case NOTHING:
		case ENDS:
			break;
		}
	}
	return NULL;
}

/* Return the position behind a number, true, false or null. */
static inline const char *behind_word(const char *at, const char *end)
{
	while (at < end && meaning(*at) < CLOSES)
		at++;
	return at;
}

struct jsonr_span jsonr_value(struct jsonr *r)
{
	char c = next(r);
	const char *begin = r->at, *at = begin;
	if (c == '"')
		at = behind_text(at + 1, r->end);
	else if (c == '{' || c == '[')
		at = behind_bracket(at, r->end);
	else
		at = behind_word(at, r->end);
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

/* Convert the digits of a \u escape to UTF-8. Surrogates and NUL are no valid texts: jsonw writes neither. */
static void put_code(struct jsonr *r)
{
	int code = 0, n = 0;
	for (; n < 4 && r->at < r->end && *r->at != '"'; n++) {
		int v = hex(*r->at++);
		code = v < 0 || code < 0 ? -1 : code * 16 + v;
	}
	if (n < 4 || code <= 0 || (code >= 0xd800 && code < 0xe000))
		code = 0xfffd;
	if (code < 0x80) {
		*r->buffer++ = (char)code;
	} else if (code < 0x800) {
		*r->buffer++ = (char)(0xc0 | code >> 6);
		*r->buffer++ = (char)(0x80 | (code & 63));
	} else {
		*r->buffer++ = (char)(0xe0 | code >> 12);
		*r->buffer++ = (char)(0x80 | (code >> 6 & 63));
		*r->buffer++ = (char)(0x80 | (code & 63));
	}
}

/* Convert the character after a backslash. */
static void put_escaped(struct jsonr *r)
{
	static const char meant[256] = { ['n'] = '\n', ['t'] = '\t', ['r'] = '\r', ['b'] = '\b', ['f'] = '\f' };
	if (r->at == r->end)
		return;
	char c = *r->at++, plain = meant[(unsigned char)c];
	if (c == 'u')
		put_code(r);
	else
		*r->buffer++ = plain ? plain : c;
}

/*
 * Copy the text that begins here into `buffer`, without a NUL behind it. Returns false if the next value is no text; it is skipped.
 */
static bool put_text(struct jsonr *r)
{
	if (next(r) != '"') {
		jsonr_value(r);
		return false;
	}
	const char *at = r->at + 1;
	char *to = r->buffer;
	for (; at < r->end && *at != '"'; at++) {
		if (*at != '\\') {
			*to++ = *at;
			continue;
		}
		r->at = at + 1;
		r->buffer = to;
		put_escaped(r);
		at = r->at - 1;
		to = r->buffer;
	}
	r->at = at + 1;
	r->buffer = to;
	if (at == r->end)
		fail(r);
	return !r->failed;
}

static void take_text(struct jsonr *r, const char **into)
{
	const char *begin = r->buffer;
	if (!put_text(r))
		return;
	*r->buffer++ = '\0';
	*into = begin;
}

static void take_words(struct jsonr *r, const char **into)
{
	char *begin = r->buffer;
	if (!jsonr_array(r))
		return;
	while (jsonr_item(r)) {
		bool is_text = next(r) == '"';
		if (is_text && r->buffer > begin)
			*r->buffer++ = ' ';
		put_text(r);
	}
	*r->buffer++ = '\0';
	*into = begin;
}

/* Most numbers have few digits: a whole number below 2^53 over an exact power of ten is rounded once, as strtod does. */
static double number(struct jsonr *r)
{
	enum { DIGITS_MAX = 15 };
	static const double power[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 };
	bool is_negative = next(r) == '-';
	const char *at = r->at + is_negative, *point = NULL, *first = at;
	uint64_t digits = 0;
	for (; at < r->end && at - first <= DIGITS_MAX; at++) {
		unsigned digit = (unsigned char)*at - (unsigned)'0';
		if (digit <= 9)
			digits = digits * 10 + digit;
		else if (*at == '.' && !point)
			point = at;
		else
			break;
	}
	long n = at - first - (point != NULL);
	if (at < r->end && meaning(*at) >= CLOSES && n > 0 && n <= DIGITS_MAX) {
		double v = (double)digits / power[point ? at - point - 1 : 0];
		r->at = at;
		return is_negative ? -v : v;
	}
	char text[NUMBER_MAX];
	struct jsonr_span span = jsonr_value(r);
	if (span.len >= sizeof text || span.len == 0 || !strchr("-0123456789", *span.text))
		return NAN;
	memcpy(text, span.text, span.len);
	text[span.len] = '\0';
	return strtod(text, NULL);
}

static void take_number(struct jsonr *r, enum jsonr_kind kind, void *into)
{
	double v = number(r);
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

/* Skip the comma before the next value, or the bracket behind the last one. An additional comma is accepted. */
static inline bool follows(struct jsonr *r, char close)
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
	case JSONR_LIST:
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
	case JSONR_SKIP:
		jsonr_value(r);
		return;
	case JSONR_OTHER:
		field->read(r, into);
		return;
	}
}

/*
 * Skip the comma, the key of `field` and its colon if they are next, without white space. That is nearly always so if the list has
 * every key in its order.
 */
static inline bool takes_key(struct jsonr *r, const struct jsonr_field *field)
{
	if (!field->key || r->at == r->end)
		return false;
	bool is_first = *r->at != ',';
	size_t len = field->len + strlen(",\"\":") - is_first;
	if ((size_t)(r->end - r->at) < len || memcmp(r->at, field->next + is_first, len) != 0)
		return false;
	r->at += len;
	return true;
}

static bool is_key(const struct jsonr_field *field, struct jsonr_span key)
{
	return key.len == field->len + 2 && memcmp(field->key, key.text + 1, field->len) == 0;
}

/* Find the field of a key: search from `from`, the field after the last one found, to the end, then from the start. */
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

/* Skip any other key. Returns its field, NULL for a key that is not in the list, or without a key. */
static const struct jsonr_field *seek_key(struct jsonr *r, const struct jsonr_field *all, const struct jsonr_field *from)
{
	struct jsonr_span key = jsonr_value(r);
	if (key.len < 2 || *key.text != '"' || next(r) != ':') {
		fail(r);
		return NULL;
	}
	r->at++;
	return find(all, from, key);
}

void jsonr_object(struct jsonr *r, const struct jsonr_field *field, void *into)
{
	const struct jsonr_field *from = field;
	if (next(r) != '{') {
		jsonr_value(r);
		return;
	}
	r->at++;
	for (;;) {
		const struct jsonr_field *found = from;
		if (!takes_key(r, from)) {
			if (!follows(r, '}'))
				return;
			found = seek_key(r, field, from);
		}
		if (r->failed)
			return;
		if (!found) {
			jsonr_value(r);
			continue;
		}
		take(r, found, into);
		from = found + 1;
	}
}

/* ---- trees ------------------------------------------------------------------------------------------------------------ */

static json_t *tree(struct jsonr *r, int depth);

static json_t *object_tree(struct jsonr *r, int depth)
{
	json_t *object = json_object();
	char *key = r->buffer; /* its space is free again after its value */
	r->at++;
	while (!r->failed && follows(r, '}')) {
		if (!put_text(r) || next(r) != ':') {
			fail(r);
			break;
		}
		*r->buffer++ = '\0';
		r->at++;
		if (json_object_set_new_nocheck(object, key, tree(r, depth)) != 0)
			fail(r);
		r->buffer = key;
	}
	return object;
}

static json_t *array_tree(struct jsonr *r, int depth)
{
	json_t *array = json_array();
	r->at++;
	while (!r->failed && follows(r, ']'))
		if (json_array_append_new(array, tree(r, depth)) != 0)
			fail(r);
	return array;
}

/* An integer if written as one, as in jansson. */
static json_t *number_tree(struct jsonr *r)
{
	enum { DIGITS_MAX = 18 };
	bool is_negative = *r->at == '-';
	const char *first = r->at + is_negative, *at = first;
	json_int_t v = 0;
	for (; at < r->end && *at >= '0' && *at <= '9' && at - first < DIGITS_MAX; at++)
		v = v * 10 + (*at - '0');
	if (at == r->end || meaning(*at) < CLOSES || at == first)
		return json_real(number(r));
	r->at = at;
	return json_integer(is_negative ? -v : v);
}

static json_t *word_tree(struct jsonr *r)
{
	struct jsonr_span word = jsonr_value(r);
	return word.len == 4 && memcmp(word.text, "null", 4) == 0    ? json_null()
	       : word.len == 4 && memcmp(word.text, "true", 4) == 0  ? json_true()
	       : word.len == 5 && memcmp(word.text, "false", 5) == 0 ? json_false()
								     : NULL;
}

/* NULL: the next characters are no value, or memory is out; the containing value then fails. */
static json_t *tree(struct jsonr *r, int depth)
{
	char c = next(r), *begin = r->buffer;
	json_t *text;
	if (depth == DEPTH_MAX)
		return NULL;
	switch (c) {
	case '{':
		return object_tree(r, depth + 1);
	case '[':
		return array_tree(r, depth + 1);
	case '"':
		text = put_text(r) ? json_stringn_nocheck(begin, (size_t)(r->buffer - begin)) : NULL;
		r->buffer = begin;
		return text;
	default:
		return c == '-' || (c >= '0' && c <= '9') ? number_tree(r) : word_tree(r);
	}
}

json_t *jsonr_tree(const char *text, size_t len)
{
	struct jsonr r;
	char *buffer = mem_alloc(len + 1); /* a text without memory must not look like none */
	jsonr_init(&r, text, len, buffer);
	json_t *root = tree(&r, 0);
	if (r.failed || next(&r) != '\0') {
		json_decref(root);
		root = NULL;
	}
	free(buffer);
	return root;
}
