/* object.c - loading of JSON files. */
#include "readers/internal.h"

#include <stdio.h>
#include <stdlib.h>

json_t *object_load(const char *text, size_t len, const char *file, struct fw_err *err)
{
	json_error_t where;
	size_t mark = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	json_t *root = json_loadb(text + mark, len - mark, 0, &where);

	if (!root)
		err_set(err, ERR_INVALID, "%s:%d: is no JSON: %.200s; is the file cut off?", file, where.line, where.text);
	return root;
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
			snprintf(why, READING_WHY_SIZE, "%g ms is no time", json_number_value(item) * unit_ms);
		else
			continue;
		return why;
	}
	return NULL;
}

int object_add_times(struct reading *out, struct fields *f, const char *file, const char *name, const char *key, double unit_ms,
	double tflops, struct fw_err *err)
{
	json_t *v = json_object_get(f->object, name);
	char where[OBJECT_TEXT_SIZE], text[READING_WHY_SIZE];
	const char *why = unusable_reason(v, unit_ms, text, name);
	size_t n = json_is_array(v) ? json_array_size(v) : 1;

	if (why)
		return reading_leave(out, key, err, "%s", why);
	object_position(where, file, f, name);
	for (size_t i = 0; i < n; i++) {
		const json_t *item = json_is_array(v) ? json_array_get(v, i) : v;

		if (reading_add(out, key, json_number_value(item) * unit_ms, tflops, where, err))
			return -1;
	}
	return 0;
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
