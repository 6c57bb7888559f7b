/* reading_json.c - see reading_json.h. Every value comes through core/field.c, so that each mistake has its JSON path. */
#include "core/reading_json.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "core/field.h"

enum { NAME_SIZE = 512, KEY_SIZE = 4 * NAME_SIZE };

/* Whole text as one object. Own: json_decref. */
static json_t *load(const char *text, size_t len, const char *file, struct fw_err *err)
{
	json_error_t where;
	size_t mark = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	json_t *root = json_loadb(text + mark, len - mark, 0, &where);

	if (!root)
		err_set(err, ERR_INVALID, "%s:%d: is no JSON: %.200s; is the file cut off?", file, where.line, where.text);
	return root;
}

/* A mistake found by a field becomes one of the file. */
static int mistake(struct fw_err *err, const char *file)
{
	if (err && err->code == ERR_PROTOCOL)
		err->code = ERR_INVALID;
	return err_context(err, "%s", file);
}

static const char *place(char out[KEY_SIZE], const char *file, const struct fields *f, const char *key)
{
	snprintf(out, KEY_SIZE, "%.500s: %s.%s", file, f->where, key);
	return out;
}

/* A number, or a list of numbers, in units of `unit_ms`. */
static int add_times(struct reading *out, struct fields *f, const char *file, const char *name, const char *key, double unit_ms,
	double tflops, struct fw_err *err)
{
	json_t *v = json_object_get(f->object, name);
	char where[KEY_SIZE];
	size_t n = json_is_array(v) ? json_array_size(v) : 1;

	place(where, file, f, name);
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

/* ---- flopwatch ----------------------------------------------------------------------------------------------------------- */

static int cell_line(struct reading *out, struct fields *f, const char *file, struct fw_err *err)
{
	static const char *const units[] = { "ms", "us", "ns", "s" };
	char key[NAME_SIZE];
	const char *unit = NULL;
	double tflops = field_double_or(f, "tflops", 0, 1e9, NAN);

	field_text(f, "cell", key, sizeof key);
	for (int i = 0; i < 4; i++)
		if (field_has(f, units[i])) {
			if (unit)
				return field_fail(f, units[i], "stands beside %s; give one of them", unit);
			unit = units[i];
		}
	if (!unit)
		return field_fail(f, "ms", "is missing; a row has ms, us, ns or s");
	return f->failed ? -1 : add_times(out, f, file, unit, key, reading_unit_ms(unit), tflops, err);
}

/* A figure of our own benchmarks: counts, bytes and percentages are no times and are passed over. */
static int bench_line(struct reading *out, struct fields *f, const char *file, struct fw_err *err)
{
	char name[NAME_SIZE], peer[NAME_SIZE], cell[NAME_SIZE], unit[32], key[KEY_SIZE], where[KEY_SIZE];
	double ms, tflops, value = field_double(f, "value", -INFINITY, INFINITY);
	const char *suffix;

	field_text(f, "bench", name, sizeof name);
	field_text(f, "peer", peer, sizeof peer);
	field_text(f, "cell", cell, sizeof cell);
	field_text(f, "unit", unit, sizeof unit);
	if (f->failed)
		return -1;
	if (reading_convert(value, unit, &ms, &tflops, &suffix))
		return 0;
	snprintf(key, sizeof key, "%s%s%s%s%s%s", name, peer[0] ? "/" : "", peer, cell[0] ? "/" : "", cell, suffix);
	return reading_add(out, key, ms, tflops, place(where, file, f, "value"), err);
}

static int read_line(struct reading *out, const char *line, size_t len, int number, const char *file, struct fw_err *err)
{
	json_error_t why;
	json_t *object = json_loadb(line, len, JSON_REJECT_DUPLICATES, &why);
	struct fields f;
	char name[KEY_SIZE];

	snprintf(name, sizeof name, "%.500s:%d", file, number);
	if (!object)
		return err_set(err, ERR_INVALID, "%s: is no JSON object: %.200s", name, why.text);
	field_begin(&f, object, err, "row");
	int rc = f.failed                 ? -1
		 : field_has(&f, "bench") ? bench_line(out, &f, name, err)
		 : !field_has(&f, "cell") ? field_fail(&f, "cell", "is missing; a row is {\"cell\":\"name\",\"ms\":[...]}")
					  : cell_line(out, &f, name, err);

	json_decref(object);
	if (rc != 0 && err && err->code == ERR_PROTOCOL)
		return mistake(err, name);
	return rc;
}

static bool is_blank(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r')
			return false;
	return true;
}

int read_flopwatch(struct reading *out, const char *text, size_t len, const char *file, const char *unit, struct fw_err *err)
{
	const char *end = text + len;

	(void)unit;
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		text += 3;
	for (int number = 1; text < end; number++) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t n = stop ? (size_t)(stop - text) : (size_t)(end - text);

		if (!is_blank(text, n) && read_line(out, text, n, number, file, err))
			return -1;
		text += n + (stop != NULL);
	}
	return 0;
}

/* ---- nvbench ------------------------------------------------------------------------------------------------------------- */

/* Value of a summary's datum "value": a string of digits, or a number. NAN: null, or none. */
static double summary_value(struct fields *summary)
{
	json_t *data = field_array(summary, "data", 0, 1000), *item;
	size_t i;

	json_array_foreach(data, i, item)
	{
		const char *name = json_string_value(json_object_get(item, "name"));
		json_t *v = json_object_get(item, "value");

		if (!name || strcmp(name, "value") != 0)
			continue;
		if (json_is_number(v))
			return json_number_value(v);
		const char *text = json_string_value(v);
		char *end;
		double value = text ? strtod(text, &end) : NAN;

		return text && *text && !*end ? value : NAN;
	}
	return NAN;
}

/* Seconds of a state by the best summary there is; NAN none. */
static double state_seconds(struct fields *state, const char *file, char where[KEY_SIZE])
{
	static const char *const tags[] = { "nv/cold/time/gpu/median", "nv/cold/time/gpu/mean", "nv/batch/time/gpu/mean",
		"nv/cpu_only/time/cpu/median", "nv/cpu_only/time/cpu/mean", "nv/cold/time/cpu/mean" };
	enum { N_TAGS = sizeof tags / sizeof tags[0] };
	json_t *list = field_array(state, "summaries", 0, 10000);
	int best = N_TAGS;
	double seconds = NAN;

	for (size_t i = 0; i < json_array_size(list) && !state->failed; i++) {
		struct fields s;
		char tag[128];

		field_begin(&s, json_array_get(list, i), state->err, "%.40s.summaries[%zu]", state->where, i);
		field_text(&s, "tag", tag, sizeof tag);
		for (int t = 0; t < best && !s.failed; t++)
			if (strcmp(tags[t], tag) == 0) {
				double value = summary_value(&s);

				if (isfinite(value)) {
					best = t;
					seconds = value;
					place(where, file, &s, "data");
				}
			}
		state->failed = state->failed || s.failed;
	}
	return seconds;
}

static int read_state(
	struct reading *out, json_t *object, const char *bench, size_t b, size_t i, const char *file, struct fw_err *err)
{
	struct fields f;
	char name[NAME_SIZE], key[KEY_SIZE], where[KEY_SIZE];
	static const char one_device[] = "Device=0";

	field_begin(&f, object, err, "benchmarks[%zu].states[%zu]", b, i);
	field_text(&f, "name", name, sizeof name);
	if (field_bool_or(&f, "is_skipped", false)) {
		out->n_skipped++;
		return f.failed ? -1 : 0;
	}
	double seconds = state_seconds(&f, file, where);

	if (f.failed)
		return -1;
	if (!isfinite(seconds))
		return field_fail(&f, "summaries", "holds no time; run it without --profile");
	const char *axes = name;

	if (strncmp(axes, one_device, sizeof one_device - 1) == 0 &&
		(!axes[sizeof one_device - 1] || axes[sizeof one_device - 1] == ' '))
		axes += sizeof one_device - 1 + (axes[sizeof one_device - 1] == ' ');
	snprintf(key, sizeof key, "%s%s%s", bench, axes[0] ? "/" : "", axes);
	return reading_add(out, key, seconds * 1e3, NAN, where, err);
}

int read_nvbench(struct reading *out, const char *text, size_t len, const char *file, const char *unit, struct fw_err *err)
{
	json_t *root = load(text, len, file, err);
	struct fields f;
	int rc = 0;

	(void)unit;
	if (!root)
		return -1;
	field_begin(&f, root, err, "file");
	json_t *list = field_array(&f, "benchmarks", 0, READING_ROWS_MAX);

	rc = f.failed ? -1 : 0;
	for (size_t b = 0; rc == 0 && b < json_array_size(list); b++) {
		struct fields bench;
		char name[NAME_SIZE];

		field_begin(&bench, json_array_get(list, b), err, "benchmarks[%zu]", b);
		field_text(&bench, "name", name, sizeof name);
		json_t *states = field_array(&bench, "states", 0, READING_ROWS_MAX);

		rc = bench.failed ? -1 : 0;
		for (size_t i = 0; rc == 0 && i < json_array_size(states); i++)
			rc = read_state(out, json_array_get(states, i), name, b, i, file, err);
	}
	json_decref(root);
	return rc != 0 && err && err->code == ERR_PROTOCOL ? mistake(err, file) : rc;
}

/* ---- Google Benchmark ---------------------------------------------------------------------------------------------------- */

/* Which statistic a row is: "" a repetition. Old files say it only by the end of the name. */
static void aggregate_of(struct fields *f, const char *name, char out[64])
{
	static const char *const ends[] = { "_mean", "_median", "_stddev", "_cv", "_BigO", "_RMS" };
	char type[32];

	out[0] = '\0';
	field_text(f, "run_type", type, sizeof type);
	field_text(f, "aggregate_name", out, 64);
	for (size_t i = 0; !type[0] && !out[0] && i < sizeof ends / sizeof ends[0]; i++) {
		size_t n = strlen(name), m = strlen(ends[i]);

		if (n > m && strcmp(name + n - m, ends[i]) == 0)
			snprintf(out, 64, "%s", ends[i] + 1);
	}
}

/* Take the rows of one statistic: "" the repetitions. */
static int read_rows(struct reading *out, json_t *list, const char *wanted, const char *file, struct fw_err *err)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		struct fields f;
		char name[NAME_SIZE], run_name[NAME_SIZE], aggregate[64], unit[16], where[KEY_SIZE];

		field_begin(&f, json_array_get(list, i), err, "benchmarks[%zu]", i);
		field_text(&f, "name", name, sizeof name);
		field_text(&f, "run_name", run_name, sizeof run_name);
		field_text(&f, "time_unit", unit, sizeof unit);
		aggregate_of(&f, name, aggregate);
		bool skipped = field_bool_or(&f, "error_occurred", false) || field_bool_or(&f, "skipped", false);

		if (f.failed)
			return -1;
		if (strcmp(aggregate, wanted) != 0)
			continue;
		if (skipped) {
			out->n_skipped++;
			continue;
		}
		double value = field_double(&f, "real_time", 0, 1e15), unit_ms = reading_unit_ms(unit[0] ? unit : "ns");

		if (!f.failed && unit_ms == 0)
			field_fail(&f, "time_unit", "`%.10s` is unknown; use ns, us, ms or s", unit);
		if (f.failed)
			return -1;
		if (reading_add(out, wanted[0] && run_name[0] ? run_name : name, value * unit_ms, NAN,
			    place(where, file, &f, "real_time"), err))
			return -1;
	}
	return 0;
}

int read_google_benchmark(
	struct reading *out, const char *text, size_t len, const char *file, const char *unit, struct fw_err *err)
{
	static const char *const wanted[] = { "", "median", "mean" };
	json_t *root = load(text, len, file, err);
	struct fields f;

	(void)unit;
	if (!root)
		return -1;
	field_begin(&f, root, err, "file");
	json_t *list = field_array(&f, "benchmarks", 0, READING_VALUES_MAX);
	int rc = f.failed ? -1 : 0;

	for (int i = 0; i < 3 && rc == 0 && out->n_rows == 0; i++)
		rc = read_rows(out, list, wanted[i], file, err);
	json_decref(root);
	return rc != 0 && err && err->code == ERR_PROTOCOL ? mistake(err, file) : rc;
}

/* ---- hyperfine ----------------------------------------------------------------------------------------------------------- */

/* The command, and what it was run with: "sort data.txt [threads=4]". */
static void command_key(struct fields *f, char key[KEY_SIZE])
{
	char command[NAME_SIZE];
	json_t *parameters = json_object_get(f->object, "parameters"), *value;
	const char *name;
	int used;

	field_text(f, "command", command, sizeof command);
	used = snprintf(key, KEY_SIZE, "%s", command);
	json_object_foreach(parameters, name, value)
	{
		const char *text = json_string_value(value);

		/* a command line that was templated shows its values already */
		if (text && used < KEY_SIZE - 1 && !strstr(command, text))
			used += snprintf(key + used, (size_t)(KEY_SIZE - used), " [%.100s=%.100s]", name, text);
	}
}

static bool command_failed(const struct fields *f)
{
	json_t *codes = json_object_get(f->object, "exit_codes"), *code;
	size_t i;

	json_array_foreach(codes, i, code) if (!json_is_integer(code) || json_integer_value(code) != 0) return true;
	return false;
}

int read_hyperfine(struct reading *out, const char *text, size_t len, const char *file, const char *unit, struct fw_err *err)
{
	json_t *root = load(text, len, file, err);
	struct fields f;

	(void)unit;
	if (!root)
		return -1;
	field_begin(&f, root, err, "file");
	json_t *list = field_array(&f, "results", 0, READING_ROWS_MAX);
	int rc = f.failed ? -1 : 0;

	for (size_t i = 0; rc == 0 && i < json_array_size(list); i++) {
		struct fields result;
		char key[KEY_SIZE];

		field_begin(&result, json_array_get(list, i), err, "results[%zu]", i);
		if (result.failed) {
			rc = -1;
		} else if (command_failed(&result)) {
			out->n_skipped++;
		} else {
			const char *name = field_has(&result, "times")    ? "times"
					   : field_has(&result, "median") ? "median"
									  : "mean";

			command_key(&result, key);
			rc = field_has(&result, name) ? add_times(out, &result, file, name, key, 1e3, NAN, err)
						      : field_fail(&result, "times", "is missing");
		}
	}
	json_decref(root);
	return rc != 0 && err && err->code == ERR_PROTOCOL ? mistake(err, file) : rc;
}
