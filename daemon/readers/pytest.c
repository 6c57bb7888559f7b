/* pytest.c - JSON of pytest-benchmark. */
#include "readers/internal.h"

#include <math.h>
#include <stdio.h>

/* Add the times of all rounds, if the file has them and not too many; else the median and the mean. Units: s. */
static int read_stats(struct reading *out, json_t *stats, const char *file, const char *key, bool has_data, const char *where,
	struct fw_err *err)
{
	struct fields f;

	field_begin(&f, stats, err, "%s.stats", where);
	if (f.failed)
		return -1;
	return has_data && json_array_size(json_object_get(stats, "data")) > 0
		       ? object_add_times(out, &f, file, "data", key, 1e3, NAN, err)
		       : object_add_statistics(out, &f, file, key, 1e3, err);
}

static int read_benchmark(struct reading *out, json_t *object, size_t i, bool has_data, const char *file, struct fw_err *err)
{
	char key[OBJECT_NAME_SIZE], where[40], why[READING_WHY_SIZE], position[OBJECT_TEXT_SIZE];
	struct fields f;

	snprintf(where, sizeof where, "benchmarks[%zu]", i);
	field_begin(&f, object, err, "%s", where);
	field_text(&f, json_is_string(json_object_get(object, "fullname")) ? "fullname" : "name", key, sizeof key);
	if (f.failed)
		return -1;
	if (!key[0])
		return field_fail(&f, "fullname", "is missing");
	reading_entry(out, (int)i);
	if (json_object_get(object, "error")) { /* by the kit's plugin */
		field_text(&f, "error", why, sizeof why);
		object_position(position, file, &f, "error");
		return f.failed ? -1 : reading_fail(out, key, why[0] ? why : "failed", position, err);
	}
	return read_stats(out, json_object_get(object, "stats"), file, key, has_data, where, err);
}

static size_t count_rounds(json_t *list)
{
	size_t n = 0, i;
	json_t *benchmark;

	json_array_foreach(list, i, benchmark) n += json_array_size(json_object_get(json_object_get(benchmark, "stats"), "data"));
	return n;
}

int read_pytest(struct reading *out, const char *text, size_t len, const char *file, const struct reading_options *how,
	struct fw_err *err)
{
	json_t *root = object_load_bare(text, len, file, err);
	struct fields f;

	(void)how;
	if (!root)
		return -1;
	field_begin(&f, root, err, "file");
	json_t *list = field_array(&f, "benchmarks", 0, READING_ROWS_MAX);
	int result = f.failed ? -1 : 0;
	bool has_data = count_rounds(list) <= READING_VALUES_MAX - READING_ROWS_MAX;

	if (result == 0) {
		json_t *machine = json_object_get(root, "machine_info");
		const char *cpu = json_string_value(json_object_get(json_object_get(machine, "cpu"), "brand_raw"));
		const char *node = json_string_value(json_object_get(machine, "node"));

		object_report_conditions(out, machine);
		if (node)
			reading_report(out, "host", node);
		if (cpu)
			reading_report(out, "cpu", cpu);
		if (!has_data)
			reading_note(out, "the median of each benchmark is read, because the file has more than %d rounds",
				READING_VALUES_MAX - READING_ROWS_MAX);
	}
	for (size_t i = 0; result == 0 && i < json_array_size(list); i++)
		result = read_benchmark(out, json_array_get(list, i), i, has_data, file, err);
	json_decref(root);
	return result != 0 ? object_mistake(err, file) : 0;
}
