/* hyperfine.c - hyperfine JSON. */
#include "readers/internal.h"

#include <math.h>

enum { KEY_MAX = 1 << 20 };

/* Write the command with its parameters in the order of their names: "sort data.txt [threads=4]". */
static void put_key(struct buf *key, const json_t *object)
{
	const char *command = json_string_value(json_object_get(object, "command")), *name[OBJECT_PARAMETERS_MAX];
	json_t *parameters = json_object_get(object, "parameters");
	size_t n = object_sort_names(parameters, name);

	buf_puts(key, command ? command : "");
	for (size_t i = 0; i < n; i++) {
		buf_printf(key, " [%s=", name[i]);
		object_put_value(key, json_object_get(parameters, name[i]));
		buf_putc(key, ']');
	}
	for (size_t i = 0; i < key->len; i++) /* a command over several lines */
		if ((unsigned char)key->data[i] < ' ')
			key->data[i] = ' ';
}

/* Why its times are unusable, if visible before reading them; NULL: usable. */
static const char *unusable_reason(const json_t *object)
{
	json_t *list = json_object_get(object, "exit_codes"), *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		if (!json_is_integer(item) || json_integer_value(item) != 0)
			return "it ended with a failure";
	}
	list = json_object_get(object, "times");
	json_array_foreach(list, i, item)
	{
		if (json_is_number(item) && json_number_value(item) == 0)
			return "a time of 0 s, less than starting the shell took; hyperfine -N starts none";
	}
	return NULL;
}

static int read_result(struct reading *out, json_t *object, size_t i, const char *file, struct fw_err *err)
{
	struct fields f;
	struct buf key;
	int result;

	field_begin(&f, object, err, "results[%zu]", i);
	if (f.failed)
		return -1;
	buf_init(&key, KEY_MAX);
	put_key(&key, object);
	reading_entry(out, (int)i);
	const char *why = unusable_reason(object);

	if (key.failed || !json_is_string(json_object_get(object, "command")))
		result = field_fail(&f, "command", key.failed ? "is too long" : "is missing");
	else if (why)
		result = reading_skip(out, key.data, err, "%s", why);
	else if (json_array_size(json_object_get(object, "times")) > 0)
		result = object_add_times(out, &f, file, "times", key.data, 1e3, NAN, err);
	else
		result = object_add_statistics(out, &f, file, key.data, 1e3, err);
	buf_fini(&key);
	return result;
}

int read_hyperfine(struct reading *out, const char *text, size_t len, const char *file, const struct reading_options *how,
	struct fw_err *err)
{
	json_t *root = object_load(text, len, file, err);
	struct fields f;

	(void)how;
	if (!root)
		return -1;
	field_begin(&f, root, err, "file");
	json_t *list = field_array(&f, "results", 0, READING_ROWS_MAX);
	int result = f.failed ? -1 : 0;

	if (result == 0)
		object_report_conditions(out, root);
	for (size_t i = 0; result == 0 && i < json_array_size(list); i++)
		result = read_result(out, json_array_get(list, i), i, file, err);
	json_decref(root);
	return result != 0 ? object_mistake(err, file) : 0;
}
