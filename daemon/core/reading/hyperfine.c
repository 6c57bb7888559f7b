/* hyperfine.c - see hyperfine.h. */
#include "core/reading/hyperfine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/reading/object.h"

/* The command, and what it was run with: "sort data.txt [threads=4]". */
static void command_key(struct fields *f, char key[OBJECT_TEXT_SIZE])
{
	char command[OBJECT_NAME_SIZE];
	json_t *parameters = json_object_get(f->object, "parameters"), *value;
	const char *name;
	int used;

	field_text(f, "command", command, sizeof command);
	used = snprintf(key, OBJECT_TEXT_SIZE, "%s", command);
	json_object_foreach(parameters, name, value)
	{
		const char *text = json_string_value(value);

		/* a command line that was templated shows its values already */
		if (text && used < OBJECT_TEXT_SIZE - 1 && !strstr(command, text))
			used += snprintf(key + used, (size_t)(OBJECT_TEXT_SIZE - used), " [%.100s=%.100s]", name, text);
	}
}

/* Why its times are none, as far as it is seen before they are read; NULL nothing. */
static const char *unfit(const struct fields *f, const char *times)
{
	json_t *list = json_object_get(f->object, "exit_codes"), *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		if (!json_is_integer(item) || json_integer_value(item) != 0)
			return "it ended with a failure";
	}
	list = json_object_get(f->object, times);
	json_array_foreach(list, i, item)
	{
		if (json_is_number(item) && json_number_value(item) == 0)
			return "a time of 0 s, less than starting the shell took; hyperfine -N starts none";
	}
	return NULL;
}

static int read_result(struct reading *out, json_t *object, size_t i, const char *file, struct fw_err *err)
{
	char key[OBJECT_TEXT_SIZE];
	struct fields f;

	field_begin(&f, object, err, "results[%zu]", i);
	if (f.failed)
		return -1;
	const char *times = field_has(&f, "times") ? "times" : field_has(&f, "median") ? "median" : "mean";
	const char *why = unfit(&f, times);

	command_key(&f, key);
	if (why)
		return reading_leave(out, key, err, "%s", why);
	return field_has(&f, times) ? object_add_times(out, &f, file, times, key, 1e3, NAN, err)
				    : field_fail(&f, "times", "is missing");
}

int read_hyperfine(
	struct reading *out, const char *text, size_t len, const char *file, const struct reading_how *how, struct fw_err *err)
{
	json_t *root = object_load(text, len, file, err);
	struct fields f;

	(void)how;
	if (!root)
		return -1;
	field_begin(&f, root, err, "file");
	json_t *list = field_array(&f, "results", 0, READING_ROWS_MAX);
	int result = f.failed ? -1 : 0;

	for (size_t i = 0; result == 0 && i < json_array_size(list); i++)
		result = read_result(out, json_array_get(list, i), i, file, err);
	json_decref(root);
	return result != 0 ? object_mistake(err, file) : 0;
}
