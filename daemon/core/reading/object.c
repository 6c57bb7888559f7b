/* object.c - see object.h. */
#include "core/reading/object.h"

#include <stdio.h>
#include <string.h>

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

const char *object_place(char out[OBJECT_TEXT_SIZE], const char *file, const struct fields *f, const char *key)
{
	snprintf(out, OBJECT_TEXT_SIZE, "%.500s: %s.%s", file, f->where, key);
	return out;
}

int object_add_times(struct reading *out, struct fields *f, const char *file, const char *name, const char *key, double unit_ms,
	double tflops, struct fw_err *err)
{
	json_t *v = json_object_get(f->object, name);
	char where[OBJECT_TEXT_SIZE];
	size_t n = json_is_array(v) ? json_array_size(v) : 1;

	object_place(where, file, f, name);
	if (n == 0)
		return err_set(err, ERR_INVALID, "%s: is an empty list; a row needs a time", where);
	for (size_t i = 0; i < n; i++) {
		json_t *item = json_is_array(v) ? json_array_get(v, i) : v;

		if (!json_is_number(item))
			return err_set(err, ERR_INVALID, "%s: must be a number or a list of numbers", where);
		if (reading_add(out, key, json_number_value(item) * unit_ms, tflops, where, err))
			return -1;
	}
	return 0;
}
