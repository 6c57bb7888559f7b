/* jmh.c - JSON of JMH. */
#include "readers/internal.h"

#include <math.h>
#include <stdio.h>

/* The unit of a score: "us/op" is a time, "ops/ms" a rate. */
struct unit_of_score {
	bool is_rate;
	double ms; /* of the time in the unit */
};

static bool read_unit(const char *text, struct unit_of_score *out)
{
	const char *slash = strchr(text, '/');
	char time[16];

	if (!slash)
		return false;
	out->is_rate = strncmp(text, "ops/", 4) == 0;
	snprintf(time, sizeof time, "%.*s", out->is_rate ? (int)sizeof time - 1 : (int)(slash - text),
		out->is_rate ? slash + 1 : text);
	out->ms = unit_to_ms(strcmp(time, "min") == 0 ? "s" : time) * (strcmp(time, "min") == 0 ? 60 : 1);
	return out->ms > 0 && (out->is_rate || strcmp(slash, "/op") == 0);
}

/* The time of an operation in ms. */
static double time_of(const json_t *score, const struct unit_of_score *unit)
{
	double value = json_number_value(score);

	return unit->is_rate ? unit->ms / value : value * unit->ms;
}

/* Add the score of each iteration of each fork. Returns the number of them; 0: the file has none; -1 failed. */
static int add_iterations(struct reading *out, json_t *forks, const struct unit_of_score *unit, const char *key,
	const char *where, struct fw_err *err)
{
	json_t *fork, *score;
	size_t i, k;
	int n = 0;

	json_array_foreach(forks, i, fork)
	{
		json_array_foreach(fork, k, score)
		{
			if (!reading_is_time(time_of(score, unit)))
				return reading_skip(out, key, err, "a score of its raw data is neither a time nor a rate") != 0
					       ? -1
					       : 1;
			if (reading_add(out, key, time_of(score, unit), NAN, where, err) != 0)
				return -1;
			n++;
		}
	}
	return n;
}

/* Add the median and the mean. For a rate they are those of its values, whose inverse is the time. */
static int add_score(struct reading *out, json_t *metric, const struct unit_of_score *unit, const char *key, const char *where,
	struct fw_err *err)
{
	const json_t *score[] = { json_object_get(json_object_get(metric, "scorePercentiles"), "50.0"),
		json_object_get(metric, "score") };
	static const char *const names[] = { READING_MEDIAN, READING_MEAN };
	struct reading_time time[2];
	int n = 0;

	for (int rank = 0; rank < 2; rank++)
		if (reading_is_time(time_of(score[rank], unit)))
			time[n++] = (struct reading_time){ names[rank], rank, time_of(score[rank], unit) };
	return n > 0 ? reading_state(out, key, time, n, where, err)
		     : reading_skip(out, key, err, "its score is neither a time nor a rate");
}

static int read_metric(struct reading *out, struct fields *f, const char *key, const char *file, struct fw_err *err)
{
	json_t *metric = field_object(f, "primaryMetric");
	const char *text = json_string_value(json_object_get(metric, "scoreUnit"));
	char full[TABLE_KEY_SIZE + 16], where[OBJECT_TEXT_SIZE];
	struct unit_of_score unit;

	if (f->failed)
		return -1;
	if (!text || !read_unit(text, &unit))
		return reading_skip(out, key, err, "its unit `%.20s` is neither a time of an operation nor operations in a time",
			text ? text : "");
	snprintf(full, sizeof full, "%s%s", key, unit.is_rate ? "/per-op" : "");
	object_position(where, file, f, "primaryMetric");
	int n = add_iterations(out, json_object_get(metric, "rawData"), &unit, full, where, err);

	return n != 0 ? (n < 0 ? -1 : 0) : add_score(out, metric, &unit, full, where, err);
}

static int read_benchmark(struct reading *out, json_t *object, size_t i, const char *file, struct fw_err *err)
{
	static const char *const context[] = { "jdkVersion", "vmName", "vmVersion" };
	char name[OBJECT_NAME_SIZE], mode[16], key[TABLE_KEY_SIZE], number[24];
	struct fields f;

	field_begin(&f, object, err, "[%zu]", i);
	field_text(&f, "benchmark", name, sizeof name);
	field_text(&f, "mode", mode, sizeof mode);
	int64_t threads = field_int_or(&f, "threads", -1, INT32_MAX, 1);

	if (f.failed)
		return -1;
	if (!name[0])
		return field_fail(&f, "benchmark", "is missing");
	for (size_t k = 0; k < sizeof context / sizeof context[0]; k++)
		if (json_is_string(json_object_get(object, context[k])))
			reading_report(out, context[k], json_string_value(json_object_get(object, context[k])));
	snprintf(key, sizeof key, "%s", name);
	object_put_parameters(key, json_object_get(object, "params"));
	table_put(key, "mode", mode);
	snprintf(number, sizeof number, "%lld", (long long)threads);
	if (threads != 1)
		table_put(key, "threads", number);
	reading_entry(out, (int)i);
	return read_metric(out, &f, key, file, err);
}

int read_jmh(struct reading *out, const char *text, size_t len, const char *file, const struct reading_options *how,
	struct fw_err *err)
{
	json_t *root = object_load_bare(text, len, file, err), *benchmark;
	int result = 0;
	size_t i;

	(void)how;
	if (!root)
		return -1;
	if (!json_is_array(root))
		result = err_set(err, ERR_INVALID, "%s: is not a list of benchmarks; let JMH write one with -rf json", file);
	json_array_foreach(root, i, benchmark)
	{
		if (result == 0)
			result = read_benchmark(out, benchmark, i, file, err);
	}
	json_decref(root);
	return result != 0 ? object_mistake(err, file) : 0;
}
