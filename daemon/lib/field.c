/* field.c - the only conversion of foreign JSON values to C values. */
#include "lib/lib.h"

#include <math.h>
#include <stdio.h>

void field_begin(struct fields *f, json_t *object, struct fw_err *err, const char *where, ...)
{
	va_list args;

	*f = (struct fields){ .object = object, .err = err };
	va_start(args, where);
	vsnprintf(f->where, sizeof f->where, where, args);
	va_end(args);
	if (!json_is_object(object)) {
		f->failed = true;
		err_set(err, ERR_PROTOCOL, "%s: must be an object", f->where);
	}
}

int field_fail(struct fields *f, const char *key, const char *format, ...)
{
	char what[256];
	va_list args;

	if (f->failed)
		return -1;
	f->failed = true;
	va_start(args, format);
	vsnprintf(what, sizeof what, format, args);
	va_end(args);
	return err_set(f->err, ERR_PROTOCOL, "%s.%s: %s", f->where, key, what);
}

/* Return the value; NULL if it is absent or null, or after a failure. */
static json_t *value_of(const struct fields *f, const char *key)
{
	json_t *v = f->failed ? NULL : json_object_get(f->object, key);

	return json_is_null(v) ? NULL : v;
}

static json_t *required(struct fields *f, const char *key)
{
	json_t *v = value_of(f, key);

	if (!v)
		field_fail(f, key, "is missing");
	return v;
}

bool field_has(const struct fields *f, const char *key)
{
	return value_of(f, key) != NULL;
}

int64_t field_int(struct fields *f, const char *key, int64_t min, int64_t max)
{
	return required(f, key) ? field_int_or(f, key, min, max, min) : min;
}

int64_t field_int_or(struct fields *f, const char *key, int64_t min, int64_t max, int64_t absent)
{
	json_t *v = value_of(f, key);
	json_int_t n = json_integer_value(v);

	if (!v)
		return absent;
	if (!json_is_integer(v))
		field_fail(f, key, "must be an integer");
	else if (n < min || n > max)
		field_fail(f, key, "%lld is outside %lld..%lld", (long long)n, (long long)min, (long long)max);
	return f->failed ? min : n;
}

double field_double(struct fields *f, const char *key, double min, double max)
{
	return required(f, key) ? field_double_or(f, key, min, max, min) : min;
}

double field_double_or(struct fields *f, const char *key, double min, double max, double absent)
{
	json_t *v = value_of(f, key);
	double n = json_number_value(v) + 0.0; /* -0 would be written as an integer and read again as 0 */

	if (!v)
		return absent;
	if (!json_is_number(v))
		field_fail(f, key, "must be a number");
	else if (!(n >= min && n <= max))
		field_fail(f, key, "%g is outside %g..%g", n, min, max);
	return f->failed ? min : n;
}

bool field_bool(struct fields *f, const char *key)
{
	return required(f, key) && field_bool_or(f, key, false);
}

bool field_bool_or(struct fields *f, const char *key, bool absent)
{
	json_t *v = value_of(f, key);

	if (v && !json_is_boolean(v))
		field_fail(f, key, "must be true or false");
	return v ? json_is_true(v) : absent;
}

uint64_t field_u64(struct fields *f, const char *key)
{
	json_t *v = required(f, key);
	uint64_t n = 0;

	if (!v)
		return 0;
	const char *text = json_string_value(v);
	size_t len = json_string_length(v);
	bool good = text && len > 0 && len <= 20;

	for (size_t i = 0; good && i < len; i++) {
		unsigned digit = (unsigned)text[i] - '0';

		good = digit <= 9 && (n < UINT64_MAX / 10 || (n == UINT64_MAX / 10 && digit <= UINT64_MAX % 10));
		if (good)
			n = n * 10 + digit;
	}
	if (!good) {
		field_fail(f, key, "must be a decimal string of a 64-bit number");
		return 0;
	}
	return n;
}

bool field_is(enum field_set set, const char *text)
{
	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		bool digit = *c >= '0' && *c <= '9';
		bool ok = false;

		switch (set) {
		case FIELD_IDENTIFIER:
			ok = digit || (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || strchr("_-.:+", *c);
			break;
		case FIELD_PATH:
			ok = *c >= 0x20 && *c != 0x7f;
			break;
		case FIELD_HEX:
			ok = digit || (*c >= 'a' && *c <= 'f');
			break;
		}
		if (!ok)
			return false;
	}
	return true;
}

/* Return the string at `key`, NULL after a failure. jansson refuses NUL inside strings, so C strings are complete. */
static const char *string_of(struct fields *f, const char *key, size_t *len)
{
	json_t *v = required(f, key);

	if (v && !json_is_string(v))
		field_fail(f, key, "must be a string");
	*len = json_string_length(v);
	return json_string_value(v);
}

void field_token(struct fields *f, const char *key, enum field_set set, size_t min, char *out, size_t size)
{
	size_t len = 0;
	const char *text = string_of(f, key, &len);

	out[0] = 0;
	if (!text)
		return;
	if (len < min || len >= size)
		field_fail(f, key, "has %zu bytes, not %zu..%zu", len, min, size - 1);
	else if (!field_is(set, text))
		field_fail(f, key, "holds a character that is not allowed here");
	else
		memcpy(out, text, len + 1);
}

void field_digest(struct fields *f, const char *key, bool sha256, bool may_be_empty, char out[65])
{
	size_t len = 0;
	const char *text = string_of(f, key, &len);
	bool good = text && field_is(FIELD_HEX, text) && (len == 64 || (len == 40 && !sha256) || (len == 0 && may_be_empty));

	out[0] = 0;
	if (good)
		memcpy(out, text, len + 1);
	else
		field_fail(f, key, "must be %s lower-case hex digits", sha256 ? "64" : "40 or 64");
}

int field_choice(struct fields *f, const char *key, const char *const *choices, char *out, size_t size)
{
	size_t len = 0;
	const char *text = string_of(f, key, &len);

	if (out)
		out[0] = 0;
	if (!text)
		return -1;
	for (int i = 0; choices[i]; i++)
		if (strcmp(choices[i], text) == 0) {
			if (out)
				snprintf(out, size, "%s", choices[i]);
			return i;
		}
	char all[160];
	size_t used = 0;

	all[0] = 0;
	for (int i = 0; choices[i] && used < sizeof all; i++)
		used += (size_t)snprintf(all + used, sizeof all - used, "%s\"%s\"", i ? " " : "", choices[i]);
	field_fail(f, key, "must be one of %s", all);
	return -1;
}

static void clean_text(struct fields *f, const char *key, const char *allowed_controls, char *out, size_t size)
{
	json_t *v = value_of(f, key);
	const char *text = json_string_value(v);
	size_t len = text ? json_string_length(v) : 0;

	if (v && !text)
		field_fail(f, key, "must be a string");

	if (text)
		len = utf8_cut(text, len, size - 1);
	for (size_t i = 0; i < len; i++)
		out[i] = ((unsigned char)text[i] < 0x20 && !strchr(allowed_controls, text[i])) || text[i] == 0x7f ? ' ' : text[i];
	out[len] = 0;
}

void field_text(struct fields *f, const char *key, char *out, size_t size)
{
	clean_text(f, key, "", out, size);
}

void field_lines(struct fields *f, const char *key, char *out, size_t size)
{
	clean_text(f, key, "\n\t", out, size);
}

json_t *field_array(struct fields *f, const char *key, size_t min, size_t max)
{
	json_t *v = required(f, key);

	if (v && !json_is_array(v))
		field_fail(f, key, "must be an array");
	else if (v && (json_array_size(v) < min || json_array_size(v) > max))
		field_fail(f, key, "has %zu items, not %zu..%zu", json_array_size(v), min, max);
	return f->failed ? NULL : v;
}

json_t *field_object(struct fields *f, const char *key)
{
	json_t *v = required(f, key);

	if (v && !json_is_object(v))
		field_fail(f, key, "must be an object");
	return f->failed ? NULL : v;
}
