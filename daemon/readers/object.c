/* object.c - loading of JSON files. */
#include "readers/internal.h"

#include <stdio.h>
#include <strings.h>

json_t *object_load(const char *text, size_t len, const char *file, struct fw_err *err)
{
	json_error_t where;
	size_t mark = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	json_t *root = json_loadb(text + mark, len - mark, 0, &where);

	if (!root)
		err_set(err, ERR_INVALID, "%s:%d:%d: is not JSON: %.200s; is the file cut off?", file, where.line, where.column,
			where.text);
	return root;
}

enum { MARK = 0x7f }; /* replaces bare values; no program writes it */

static const char *const words[] = { "infinity", "nan", "inf" };

/* Length of a bare value that begins here, with its sign; 0: none. */
static size_t length_at(const char *at, const char *end)
{
	size_t sign = *at == '-';

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		size_t n = strlen(words[i]);

		if ((size_t)(end - at) < sign + n || strncasecmp(at + sign, words[i], n) != 0)
			continue;
		return at + sign + n == end || strchr(",]} \t\r\n", at[sign + n]) ? sign + n : 0;
	}
	return 0;
}

/*
 * Copy a text, replacing each bare NaN and Infinity in a value's position by another value of the same length, so that lines
 * and columns stay valid. Shape: [len]. Own: free.
 */
static char *bare_replace(const char *text, size_t len)
{
	char *copy = mem_alloc(len + 1), *end = copy + len, before = '\0';
	bool in_text = false;

	memcpy(copy, text, len);
	copy[len] = '\0';
	for (char *at = copy; at < end; at++) {
		size_t n = !in_text && before && strchr(":[,", before) ? length_at(at, end) : 0;

		if (n > 0) {
			memset(at, MARK, n);
			at[0] = at[n - 1] = '"';
			at += n - 1;
		} else if (*at == '"') {
			in_text = !in_text;
		} else if (in_text && *at == '\\') {
			at++;
		}
		if (at < end && !strchr(" \t\r\n", *at))
			before = *at;
	}
	return copy;
}

json_t *object_load_bare(const char *text, size_t len, const char *file, struct fw_err *err)
{
	char *copy = bare_replace(text, len);
	json_t *root = object_load(copy, len, file, err);

	free(copy);
	return root;
}

bool object_is_bare(const json_t *value)
{
	const char *text = json_string_value(value);

	return text && *text && text[strspn(text, (const char[]){ MARK, '\0' })] == '\0';
}

int object_each_line(
	struct reading *out, const char *text, size_t len, const char *file, object_line_fn *take, void *arg, struct fw_err *err)
{
	struct text_line line = text_begin(text, len);
	char where[OBJECT_TEXT_SIZE];
	json_error_t why;

	while (text_next(&line)) {
		if (line.n == 0)
			continue;
		json_t *object = json_loadb(line.at, line.n, JSON_REJECT_DUPLICATES, &why);

		snprintf(where, sizeof where, "%.500s:%d", file, line.number);
		if (!object)
			return err_set(err, ERR_INVALID, "%s:%d: is not a JSON object: %.200s", where, why.column, why.text);
		int result = take(out, object, where, arg, err);

		json_decref(object);
		if (result != 0)
			return object_mistake(err, where);
	}
	return 0;
}

int object_mistake(struct fw_err *err, const char *file)
{
	if (!err || err->code != ERR_PROTOCOL)
		return -1;
	err->code = ERR_INVALID;
	return err_context(err, "%s", file);
}

const char *object_position(char out[OBJECT_TEXT_SIZE], const char *file, const struct fields *f, const char *key)
{
	snprintf(out, OBJECT_TEXT_SIZE, "%.500s: %s.%s", file, f->where, key);
	return out;
}

/* Why the values of a row are no times; NULL: they are. */
static const char *unusable_reason(json_t *v, double unit_ms, char why[READING_WHY_SIZE], const char *name)
{
	size_t n = json_is_array(v) ? json_array_size(v) : 1;

	if (n == 0)
		return "an empty list; a row needs a time";
	for (size_t i = 0; i < n; i++) {
		json_t *item = json_is_array(v) ? json_array_get(v, i) : v;

		if (!json_is_number(item))
			snprintf(why, READING_WHY_SIZE, "%.40s must be a number or a list of numbers", name);
		else if (!reading_is_time(json_number_value(item) * unit_ms))
			snprintf(why, READING_WHY_SIZE, "%g ms is not a time", json_number_value(item) * unit_ms);
		else
			continue;
		return why;
	}
	return NULL;
}

int object_add_values(struct reading *out, json_t *values, const char *name, const char *key, double unit_ms, double tflops,
	const char *where, struct fw_err *err)
{
	char text[READING_WHY_SIZE];
	const char *why = unusable_reason(values, unit_ms, text, name);
	size_t n = json_is_array(values) ? json_array_size(values) : 1;

	if (why)
		return reading_skip(out, key, err, "%s", why);
	for (size_t i = 0; i < n; i++) {
		const json_t *item = json_is_array(values) ? json_array_get(values, i) : values;

		if (reading_add(out, key, json_number_value(item) * unit_ms, tflops, where, err))
			return -1;
	}
	return 0;
}

int object_add_times(struct reading *out, struct fields *f, const char *file, const char *name, const char *key, double unit_ms,
	double tflops, struct fw_err *err)
{
	char where[OBJECT_TEXT_SIZE];

	return object_add_values(
		out, json_object_get(f->object, name), name, key, unit_ms, tflops, object_position(where, file, f, name), err);
}

int object_add_statistics(
	struct reading *out, const struct fields *f, const char *file, const char *key, double unit_to_ms, struct fw_err *err)
{
	static const char *const statistics[] = { READING_MEDIAN, READING_MEAN };
	struct reading_time time[2];
	char where[OBJECT_TEXT_SIZE];
	int n = 0;

	for (int i = 0; i < 2; i++) {
		double ms = unit_to_ms * json_number_value(json_object_get(f->object, statistics[i]));

		if (reading_is_time(ms))
			time[n++] = (struct reading_time){ .name = statistics[i], .rank = i, .ms = ms };
	}
	if (n == 0)
		return reading_skip(out, key, err, "it has neither times nor a median or mean");
	return reading_state(out, key, time, n, object_position(where, file, f, READING_MEDIAN), err);
}

void object_report_conditions(struct reading *out, json_t *object)
{
	const char *name;
	json_t *value;

	json_object_foreach(object, name, value)
	{
		if (!reading_is_condition(name) || !(json_is_string(value) || json_is_number(value) || json_is_boolean(value)))
			continue;
		char *dump = json_is_string(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS);
		const char *text = json_is_string(value) ? json_string_value(value) : dump;

		if (text && *text)
			reading_report(out, name, text);
		free(dump);
	}
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void object_put_value(struct buf *key, const json_t *value)
{
	const char *text = json_string_value(value);
	double number = json_number_value(value);

	if (json_is_number(value) || (text && reading_number(text, &number)))
		buf_printf(key, "%.15g", number);
	else if (text)
		buf_puts(key, text);
	else {
		char *dump = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS);

		buf_puts(key, dump ? dump : "?");
		free(dump);
	}
}

size_t object_sort_names(json_t *object, const char *name[OBJECT_PARAMETERS_MAX])
{
	const char *each;
	json_t *value;
	size_t n = 0;

	json_object_foreach(object, each, value)
	{
		if (n < OBJECT_PARAMETERS_MAX)
			name[n++] = each;
	}
	if (n > 1)
		qsort(name, n, sizeof *name, by_name);
	return n;
}

void object_put_parameters(char key[TABLE_KEY_SIZE], json_t *object)
{
	const char *name[OBJECT_PARAMETERS_MAX];
	size_t n = object_sort_names(object, name);
	struct buf value;

	buf_init(&value, 1 << 20);
	for (size_t i = 0; i < n; i++) {
		buf_clear(&value);
		object_put_value(&value, json_object_get(object, name[i]));
		buf_require_memory(&value); /* another key would be another cell */
		table_put(key, name[i], value.failed || value.len == 0 ? "" : value.data);
	}
	buf_fini(&value);
}
