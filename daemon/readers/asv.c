/* asv.c - result files of airspeed velocity. Their columns have names; a benchmark has a list of results in parameters' order. */
#include "readers/internal.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

enum { PARAMETERS_MAX = 32 };

struct columns {
	size_t result, params, samples; /* positions in the list of a benchmark; SIZE_MAX none */
};

static size_t find_column(json_t *names, const char *name)
{
	json_t *each;
	size_t i;

	json_array_foreach(names, i, each)
	{
		if (json_is_string(each) && strcmp(json_string_value(each), name) == 0)
			return i;
	}
	return SIZE_MAX;
}

/* asv knows the kind of a benchmark by its name: time_, timeraw_, Time...; others are memory or numbers of any unit. */
static bool is_time(const char *name)
{
	const char *last = strrchr(name, '.');

	last = last ? last + 1 : name;
	return strncmp(last, "time_", 5) == 0 || strncmp(last, "timeraw_", 8) == 0 || strncmp(last, "Timeraw", 7) == 0 ||
	       (strncmp(last, "Time", 4) == 0 && (isupper((unsigned char)last[4]) || last[4] == '_'));
}

/* Write "suite.time_sum(1024,'float')" of combination number i; the last parameter varies fastest. False: there is none. */
static bool name_result(char key[TABLE_KEY_SIZE], const char *name, json_t *params, size_t i)
{
	size_t n = json_array_size(params), used = (size_t)snprintf(key, TABLE_KEY_SIZE, "%.500s", name);
	const char *value[PARAMETERS_MAX];

	if (n > PARAMETERS_MAX)
		return false;
	for (size_t p = n; p-- > 0;) {
		size_t size = json_array_size(json_array_get(params, p));

		value[p] = size ? json_string_value(json_array_get(json_array_get(params, p), i % size)) : NULL;
		if (!value[p])
			return false;
		i /= size;
	}
	for (size_t p = 0; p < n && used < TABLE_KEY_SIZE; p++)
		used += (size_t)snprintf(
			key + used, TABLE_KEY_SIZE - used, "%s%.100s%s", p ? "," : "(", value[p], p + 1 == n ? ")" : "");
	return i == 0;
}

/* Add the samples of one result if they were recorded, else the result, which is their median. Units: s. */
static int add_result(
	struct reading *out, json_t *result, json_t *samples, const char *key, const char *where, struct fw_err *err)
{
	struct reading_time median = { READING_MEDIAN, 0, 1e3 * json_number_value(result) };

	if (json_is_null(result))
		return reading_fail(out, key, "it failed: asv stored no result", where, err);
	if (object_is_bare(result))
		return reading_skip(out, key, err, "skipped by the benchmark suite");
	if (json_array_size(samples) > 0)
		return object_add_values(out, samples, "samples", key, 1e3, NAN, where, err);
	return json_is_number(result) && reading_is_time(median.ms)
		       ? reading_state(out, key, &median, 1, where, err)
		       : object_add_values(out, result, "result", key, 1e3, NAN, where, err);
}

/* Each result is an entry of its own, since the names of two combinations of parameters may be equal when they are cut. */
static int read_benchmark(struct reading *out, const char *name, json_t *list, const struct columns *t, int *entry,
	const char *file, struct fw_err *err)
{
	json_t *results = json_array_get(list, t->result), *params = json_array_get(list, t->params);
	json_t *samples = json_array_get(list, t->samples), *result;
	char key[TABLE_KEY_SIZE], where[OBJECT_TEXT_SIZE];
	size_t i;

	snprintf(where, sizeof where, "%.500s: results.%.500s", file, name);
	if (!json_is_array(list) || !(json_is_array(results) || json_is_null(results)))
		return err_set(err, ERR_INVALID, "%s: must be a list with a list of results; is the file cut off?", where);
	reading_entry(out, (*entry)++);
	if (json_is_null(results))
		return reading_fail(out, name, "it failed: asv stored no result", where, err);
	json_array_foreach(results, i, result)
	{
		if (!name_result(key, name, params, i))
			return err_set(err, ERR_INVALID, "%s: result %zu has no combination of parameters", where, i);
		reading_entry(out, (*entry)++);
		if (add_result(out, result, json_array_get(samples, i), key, where, err) != 0)
			return -1;
	}
	return 0;
}

static int read_benchmarks(struct reading *out, json_t *results, const struct columns *t, const char *file, struct fw_err *err)
{
	const char *name;
	json_t *list;
	int entry = 0;

	json_object_foreach(results, name, list)
	{
		if (!is_time(name)) {
			reading_note(out, "%.200s is left out: by its name it does not benchmark time", name);
			continue;
		}
		if (read_benchmark(out, name, list, t, &entry, file, err) != 0)
			return -1;
	}
	return 0;
}

int read_asv(struct reading *out, const char *text, size_t len, const char *file, const struct reading_options *how,
	struct fw_err *err)
{
	json_t *root = object_load_bare(text, len, file, err);
	struct fields f;
	int result = -1;

	(void)how;
	if (!root)
		return -1;
	field_begin(&f, root, err, "file");
	int64_t version = field_int(&f, "version", 0, INT32_MAX);

	if (!f.failed && version != 2)
		err_set(err, ERR_INVALID, "%s: is of version %lld of asv's results; 2 is read: asv update converts them", file,
			(long long)version);
	else if (!f.failed) {
		json_t *names = field_array(&f, "result_columns", 1, 64), *results = field_object(&f, "results");
		struct columns t = { find_column(names, "result"), find_column(names, "params"), find_column(names, "samples") };

		if (!f.failed && t.result == SIZE_MAX)
			field_fail(&f, "result_columns", "has no result");
		object_report_conditions(out, json_object_get(root, "params"));
		result = f.failed ? -1 : read_benchmarks(out, results, &t, file, err);
	}
	json_decref(root);
	return result != 0 ? object_mistake(err, file) : 0;
}
