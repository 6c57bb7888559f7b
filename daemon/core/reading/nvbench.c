/*
 * nvbench.c - see nvbench.h.
 *
 * Since January 2022 files have a version, states and summaries are lists, and a summary has a "tag". Before, either may be an object
 * whose keys are the names, and a summary is known by its title.
 */
#include "core/reading/nvbench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/reading/object.h"

enum { VERSION = 1, LIST_MAX = 10000 };

/* One value as a string of digits, or as a number. NAN: null, or none. */
static double value_of(const json_t *v)
{
	const char *text = json_string_value(v);
	double value;

	if (json_is_number(v))
		return json_number_value(v);
	return text && reading_number(text, &value) ? value : NAN;
}

/* Of a summary: {"data":[{"name":"value","value":"1.5"}]}, in old files "values", or {"value":{"value":"1.5"}}. */
static double summary_value(struct fields *summary)
{
	json_t *item, *plain = json_object_get(summary->object, "value");
	size_t i;

	if (json_is_object(plain))
		return value_of(json_object_get(plain, "value"));
	json_t *data = field_array(summary, field_has(summary, "values") ? "values" : "data", 0, 1000);

	json_array_foreach(data, i, item)
	{
		const char *name = json_string_value(json_object_get(item, "name"));

		if (name && strcmp(name, "value") == 0)
			return value_of(json_object_get(item, "value"));
	}
	return NAN;
}

/* How good a summary's time is, 0 the best; N_TIMES: it is no time. */
enum { N_TIMES = 9 };
static int rank_of(const char *name)
{
	static const char *const names[N_TIMES] = { "nv/cold/time/gpu/median", "nv/cold/time/gpu/mean", "Average GPU Time (Cold)",
		"nv/batch/time/gpu/mean", "Average GPU Time (Batch)", "nv/cpu_only/time/cpu/median", "nv/cpu_only/time/cpu/mean",
		"nv/cold/time/cpu/mean", "Average CPU Time (Cold)" };

	for (int i = 0; i < N_TIMES; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return N_TIMES;
}

struct best {
	int rank;
	double seconds;
};

static void take_summary(struct best *best, struct fields *state, json_t *object, const char *name, const char *shown)
{
	char tag[128] = "";
	struct fields s;

	field_begin(&s, object, state->err, "%.40s.summaries%s", state->where, shown);
	if (!name) {
		field_text(&s, "tag", tag, sizeof tag);
		if (!tag[0])
			field_text(&s, "name", tag, sizeof tag);
	}
	int rank = rank_of(name ? name : tag);
	double value = !s.failed && rank < best->rank ? summary_value(&s) : NAN;

	if (isfinite(value))
		*best = (struct best){ rank, value };
	state->failed = state->failed || s.failed;
}

/* Seconds of a state by the best summary there is; NAN none. */
static double state_seconds(struct fields *state)
{
	json_t *list = json_object_get(state->object, "summaries"), *item;
	struct best best = { N_TIMES, NAN };
	char shown[64];
	const char *name;
	size_t i;

	if (json_is_object(list)) {
		json_object_foreach(list, name, item) take_summary(&best, state, item, name, "");
		return best.seconds;
	}
	list = field_array(state, "summaries", 0, LIST_MAX);
	json_array_foreach(list, i, item)
	{
		snprintf(shown, sizeof shown, "[%zu]", i);
		take_summary(&best, state, item, NULL, shown);
		if (state->failed)
			break;
	}
	return best.seconds;
}

/* "Device=0 T=F32" is T=F32: there is one device. */
static void name_state(const char *bench, const char *axes, char key[OBJECT_TEXT_SIZE])
{
	static const char one_device[] = "Device=0";
	size_t n = sizeof one_device - 1;

	if (strncmp(axes, one_device, n) == 0 && (!axes[n] || axes[n] == ' '))
		axes += n + (axes[n] == ' ');
	snprintf(key, OBJECT_TEXT_SIZE, "%s%s%s", bench, axes[0] ? "/" : "", axes);
}

/* `name` NULL: the state has it itself. */
static int read_state(struct reading *out, json_t *object, const char *bench, const char *name, size_t b, size_t i,
	const char *file, struct fw_err *err)
{
	struct fields f;
	char own[OBJECT_NAME_SIZE], key[OBJECT_TEXT_SIZE], where[OBJECT_TEXT_SIZE], why[READING_WHY_SIZE - 16];

	field_begin(&f, object, err, "benchmarks[%zu].states[%zu]", b, i);
	field_text(&f, field_has(&f, "name") ? "name" : "description", own, sizeof own);
	name_state(bench, name ? name : own, key);
	if (field_bool_or(&f, "is_skipped", false)) {
		field_text(&f, "skip_reason", why, sizeof why);
		return f.failed ? -1 : reading_leave(out, key, err, "skipped%s%s", why[0] ? ": " : "", why);
	}
	double seconds = state_seconds(&f);

	if (f.failed)
		return -1;
	if (!isfinite(seconds))
		return field_fail(&f, "summaries", "holds no time; run it without --profile");
	if (seconds == 0)
		return reading_leave(out, key, err, "0 s is no time");
	return reading_add(out, key, seconds * 1e3, NAN, object_place(where, file, &f, "summaries"), err);
}

static int read_bench(struct reading *out, json_t *object, size_t b, const char *file, struct fw_err *err)
{
	struct fields bench;
	char name[OBJECT_NAME_SIZE];
	const char *state;
	json_t *item;
	size_t i = 0;

	field_begin(&bench, object, err, "benchmarks[%zu]", b);
	field_text(&bench, "name", name, sizeof name);
	json_t *states = json_object_get(bench.object, "states");

	if (json_is_object(states)) {
		json_object_foreach(states, state, item) if (read_state(out, item, name, state, b, i++, file, err)) return -1;
		return bench.failed ? -1 : 0;
	}
	states = field_array(&bench, "states", 0, READING_ROWS_MAX);
	if (bench.failed)
		return -1;
	json_array_foreach(states, i, item) if (read_state(out, item, name, NULL, b, i, file, err)) return -1;
	return 0;
}

/* Files of 2021 have no version. */
static int check_version(json_t *root, const char *file, struct fw_err *err)
{
	const json_t *version = json_object_get(json_object_get(json_object_get(root, "meta"), "version"), "json");
	const json_t *major = json_object_get(version, "major");

	if (!version || (json_is_integer(major) && json_integer_value(major) == VERSION))
		return 0;
	const char *text = json_string_value(json_object_get(version, "string"));

	return err_set(err, ERR_INVALID, "%s: is of version %.20s of nvbench's JSON; %d is read", file,
		text && field_is(FIELD_WORD, text) ? text : "?", VERSION);
}

int read_nvbench(
	struct reading *out, const char *text, size_t len, const char *file, const struct reading_how *how, struct fw_err *err)
{
	json_t *root = object_load(text, len, file, err);
	struct fields f;

	(void)how;
	if (!root)
		return -1;
	field_begin(&f, root, err, "file");
	int result = f.failed ? -1 : check_version(root, file, err);
	json_t *list = result == 0 ? field_array(&f, "benchmarks", 0, READING_ROWS_MAX) : NULL;

	result = f.failed ? -1 : result;
	for (size_t b = 0; result == 0 && b < json_array_size(list); b++)
		result = read_bench(out, json_array_get(list, b), b, file, err);
	json_decref(root);
	return result != 0 ? object_mistake(err, file) : 0;
}
