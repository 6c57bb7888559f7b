/*
 * criterion.c - results of Criterion.rs: its files estimates.json and sample.json, the JSON lines of cargo-criterion, and the text of
 * `cargo bench -- --output-format bencher`, which is that of Rust's own benchmarks.
 */
#include "readers/internal.h"

#include <math.h>
#include <stdio.h>

/*
 * The files have no name inside. It is that of their folders, "sort/16" of "target/criterion/sort/16/new/estimates.json"; the last
 * folder is the baseline's. Elsewhere it is "benchmark".
 */
static void name_file(const char *file, char key[TABLE_KEY_SIZE])
{
	static const char folder[] = "criterion/";
	const char *from = NULL, *to = strrchr(file, '/');

	for (const char *at = file; (at = strstr(at, folder)); at++)
		if (at == file || at[-1] == '/')
			from = at + strlen(folder);
	while (to && to > file && to[-1] != '/')
		to--;
	if (from && to && to - 1 > from)
		snprintf(key, TABLE_KEY_SIZE, "%.*s", (int)(to - 1 - from), from);
	else
		snprintf(key, TABLE_KEY_SIZE, "benchmark");
}

/* The samples of a benchmark: times of several iterations each. */
struct samples {
	json_t *times, *iterations;
	double unit_ms;
};

static double time_of(const struct samples *s, size_t i)
{
	return s->unit_ms * json_number_value(json_array_get(s->times, i)) / json_number_value(json_array_get(s->iterations, i));
}

static bool has_times(const struct samples *s)
{
	size_t n = json_array_size(s->times);

	for (size_t i = 0; i < n; i++)
		if (!reading_is_time(time_of(s, i)))
			return false;
	return n > 0 && n == json_array_size(s->iterations);
}

static int add_samples(struct reading *out, const struct samples *s, const char *key, const char *where, struct fw_err *err)
{
	for (size_t i = 0; i < json_array_size(s->times); i++)
		if (reading_add(out, key, time_of(s, i), NAN, where, err) != 0)
			return -1;
	return 0;
}

/* Add the estimates of the median and the mean. `value` names the number of each. */
static int add_estimates(
	struct reading *out, json_t *object, const char *value, const char *key, const char *where, struct fw_err *err)
{
	static const char *const names[] = { READING_MEDIAN, READING_MEAN };
	struct reading_time time[2];
	int n = 0;

	for (int rank = 0; rank < 2; rank++) {
		json_t *estimate = json_object_get(object, names[rank]);
		const char *unit = json_string_value(json_object_get(estimate, "unit"));
		double ms = json_number_value(json_object_get(estimate, value)) * unit_to_ms(unit ? unit : "ns");

		if (reading_is_time(ms))
			time[n++] = (struct reading_time){ names[rank], rank, ms };
	}
	return n > 0 ? reading_state(out, key, time, n, where, err)
		     : reading_skip(out, key, err, "it has neither a median nor a mean");
}

static int read_line(struct reading *out, json_t *object, const char *where, void *arg, struct fw_err *err)
{
	(void)arg;
	char key[OBJECT_NAME_SIZE], reason[64], unit[16];
	struct fields f;

	field_begin(&f, object, err, "line");
	field_text(&f, "reason", reason, sizeof reason);
	field_text(&f, "id", key, sizeof key);
	field_text(&f, "unit", unit, sizeof unit);
	if (f.failed || strcmp(reason, "benchmark-complete") != 0)
		return f.failed ? -1 : 0;
	if (!key[0])
		return field_fail(&f, "id", "is missing");
	reading_entry(out, out->entry + 1);
	struct samples samples = { json_object_get(object, "measured_values"), json_object_get(object, "iteration_count"),
		unit_to_ms(unit[0] ? unit : "ns") };

	return has_times(&samples) ? add_samples(out, &samples, key, where, err)
				   : add_estimates(out, object, "estimate", key, where, err);
}

static int read_file(struct reading *out, const char *text, size_t len, const char *file, struct fw_err *err)
{
	json_t *root = object_load(text, len, file, err);
	struct samples samples = { json_object_get(root, "times"), json_object_get(root, "iters"), unit_to_ms("ns") };
	char key[TABLE_KEY_SIZE];
	int result;

	if (!root)
		return -1;
	name_file(file, key);
	if (samples.times)
		result = has_times(&samples)
				 ? add_samples(out, &samples, key, file, err)
				 : reading_skip(out, key, err, "it has samples without a time or number of iterations");
	else if (json_object_get(root, "mean") || json_object_get(root, "median"))
		result = add_estimates(out, root, "point_estimate", key, file, err);
	else
		result = err_set(err, ERR_INVALID, "%s: is neither estimates.json nor sample.json of Criterion", file);
	json_decref(root);
	return result;
}

/* "test sort/16 ... bench:       1,234 ns/iter (+/- 56)". The unit after the number shows that it is whole. */
static int read_text_line(struct reading *out, const struct text_line *line, const char *file, struct fw_err *err)
{
	static const char mark[] = " ... bench:", unit[] = " ns/iter";
	const char *bench = memmem(line->at, line->n, mark, strlen(mark)), *name = line->at + 5, *at, *end;
	char key[TABLE_KEY_SIZE], digits[40], where[OBJECT_TEXT_SIZE];
	size_t n = 0;
	double ns;

	if (!bench || !text_begins(line, "test ") || bench <= name)
		return 0;
	at = bench + strlen(mark);
	end = memmem(at, (size_t)(line->at + line->n - at), unit, strlen(unit));
	text_trim(name, bench, key, sizeof key);
	out->line = line->number;
	reading_entry(out, line->number);
	for (; end && at < end && n + 1 < sizeof digits; at++)
		if (*at != ',' && *at != ' ')
			digits[n++] = *at;
	digits[n] = '\0';
	snprintf(where, sizeof where, "%.500s:%d", file, line->number);
	if (!end || !reading_number(digits, &ns) || !reading_is_time(ns * unit_to_ms("ns")))
		return reading_skip(out, key, err, "it has no time in ns/iter");
	return reading_add(out, key, ns * unit_to_ms("ns"), NAN, where, err);
}

int read_criterion(struct reading *out, const char *text, size_t len, const char *file, const struct reading_options *how,
	struct fw_err *err)
{
	struct text_line line = text_begin(text, len);

	(void)how;
	if (memmem(text, len, "-complete\"", 10))
		return object_each_line(out, text, len, file, read_line, NULL, err);
	if (!memmem(text, len, " ... bench:", 11))
		return read_file(out, text, len, file, err);
	while (text_next(&line))
		if (read_text_line(out, &line, file, err) != 0)
			return -1;
	return 0;
}
