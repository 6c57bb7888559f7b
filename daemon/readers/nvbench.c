/*
 * nvbench.c - nvbench JSON.
 *
 * Since January 2022 files have a version, states and summaries are lists, and a summary has a "tag". Before, either may be an
 * object whose keys are the names, and a summary is identified by its title.
 */
#include "readers/internal.h"

#include <math.h>
#include <stdio.h>

enum { VERSION = 1, LIST_MAX = 10000 };

/* A value as a string of digits, or as a number. NAN: null, or neither. */
static double value_of(const json_t *v)
{
	const char *text = json_string_value(v);
	double value;

	if (json_is_number(v))
		return json_number_value(v);
	return text && reading_number(text, &value) ? value : NAN;
}

/* Value of a summary: {"data":[{"name":"value","value":"1.5"}]}, in old files "values", or {"value":{"value":"1.5"}}. */
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

/* Statistics of time, the best first. Those of one rank are the same statistic, whose tag was a title in 2021. */
static const struct {
	const char *tag;
	int rank;
	const char *name;
} statistics[] = {
	{ "nv/cold/time/gpu/median", 0, "median of cold GPU times" },
	{ "nv/cold/time/gpu/mean", 1, "mean of cold GPU times" },
	{ "Average GPU Time (Cold)", 1, "mean of cold GPU times" },
	{ "nv/batch/time/gpu/median", 2, "median of batched GPU times" },
	{ "nv/batch/time/gpu/mean", 3, "mean of batched GPU times" },
	{ "Average GPU Time (Batch)", 3, "mean of batched GPU times" },
	{ "nv/cpu_only/time/cpu/median", 4, "median of CPU times" },
	{ "nv/cpu_only/time/cpu/mean", 5, "mean of CPU times" },
	{ "nv/cold/time/cpu/median", 6, "median of cold CPU times" },
	{ "nv/cold/time/cpu/mean", 7, "mean of cold CPU times" },
	{ "Average CPU Time (Cold)", 7, "mean of cold CPU times" },
};
enum { N_STATISTICS = sizeof statistics / sizeof statistics[0] };
_Static_assert((int)READING_TIMES_MAX >= 8, "a row holds a statistic of each rank");

/* The statistics of a state. Shape: time[n]; ranks differ. */
struct stated {
	int n;
	struct reading_time time[READING_TIMES_MAX];
	bool has_unfit; /* a statistic is present and is not a time */
};

static void take_statistic(struct stated *to, int statistic, double seconds)
{
	if (!reading_is_time(seconds * 1e3)) {
		to->has_unfit = true;
		return;
	}
	for (int i = 0; i < to->n; i++)
		if (to->time[i].rank == statistics[statistic].rank)
			return;
	to->time[to->n++] = (struct reading_time){
		.name = statistics[statistic].name, .rank = statistics[statistic].rank, .ms = seconds * 1e3
	};
}

static void take_summary(struct stated *to, struct fields *state, json_t *object, const char *name, const char *shown)
{
	char tag[128] = "";
	struct fields s;

	field_begin(&s, object, state->err, "%.40s.summaries%s", state->where, shown);
	if (!name) {
		field_text(&s, "tag", tag, sizeof tag);
		if (!tag[0])
			field_text(&s, "name", tag, sizeof tag);
	}
	for (int i = 0; i < N_STATISTICS && !s.failed; i++)
		if (strcmp(statistics[i].tag, name ? name : tag) == 0)
			take_statistic(to, i, summary_value(&s));
	state->failed = state->failed || s.failed;
}

static void read_summaries(struct fields *state, struct stated *to)
{
	json_t *list = json_object_get(state->object, "summaries"), *item;
	char shown[64];
	const char *name;
	size_t i;

	*to = (struct stated){ 0 };
	if (json_is_object(list)) {
		json_object_foreach(list, name, item) take_summary(to, state, item, name, "");
		return;
	}
	list = field_has(state, "summaries") ? field_array(state, "summaries", 0, LIST_MAX) : NULL;
	json_array_foreach(list, i, item)
	{
		snprintf(shown, sizeof shown, "[%zu]", i);
		take_summary(to, state, item, NULL, shown);
		if (state->failed)
			break;
	}
}

enum { DEVICES_MAX = 64, NO_DEVICE = -1 };

struct devices {
	int n;
	int64_t id[DEVICES_MAX];
	const json_t *list; /* their descriptions in the file */
};

/* The number after "Device=" at the start of a state's name, and the start of the rest. */
static int64_t take_device(const char **axes)
{
	static const char prefix[] = "Device=";
	size_t n = sizeof prefix - 1, digits;

	if (strncmp(*axes, prefix, n) != 0)
		return NO_DEVICE;
	digits = strspn(*axes + n, "0123456789");
	if (digits == 0 || digits > 9 || ((*axes)[n + digits] && (*axes)[n + digits] != ' '))
		return NO_DEVICE;
	int64_t id = strtol(*axes + n, NULL, 10);

	*axes += n + digits + ((*axes)[n + digits] == ' ');
	return id;
}

/* The card of a state: from its name, or its number only. */
static int64_t device_of(const json_t *state, const char **axes)
{
	const json_t *number = json_object_get(state, "device");
	int64_t id = take_device(axes);

	return id == NO_DEVICE && json_is_integer(number) && json_integer_value(number) >= 0 ? json_integer_value(number) : id;
}

static const json_t *find_device(const struct devices *d, int64_t id)
{
	const json_t *item;
	size_t i;

	json_array_foreach(d->list, i, item)
	{
		const json_t *number = json_object_get(item, "id");

		if (json_is_integer(number) && json_integer_value(number) == id)
			return item;
	}
	return NULL;
}

static const char *device_name(const struct devices *d, int64_t id)
{
	return json_string_value(json_object_get(find_device(d, id), "name"));
}

static void note_device(struct devices *d, int64_t id)
{
	int at = d->n;

	for (int i = 0; i < d->n; i++)
		if (d->id[i] == id)
			return;
	if (id == NO_DEVICE || d->n == DEVICES_MAX)
		return;
	while (at > 0 && d->id[at - 1] > id) {
		d->id[at] = d->id[at - 1];
		at--;
	}
	d->id[at] = id;
	d->n++;
}

/*
 * Name of a card in a row's name: its own, with "(2)" for the second of that name. So the cards of two files match by name and
 * order, whatever their numbers.
 */
static void label_device(const struct devices *d, int64_t id, char *out, size_t size)
{
	const char *name = device_name(d, id);
	int before = 0, all = 0;

	for (int i = 0; i < d->n; i++) {
		const char *other = device_name(d, d->id[i]);
		bool same = name && other ? strcmp(name, other) == 0 : !name && !other;

		all += same;
		before += same && d->id[i] < id;
	}
	if (!name)
		snprintf(out, size, "%d", before);
	else if (all > 1)
		snprintf(out, size, "%.100s(%d)", name, before + 1);
	else
		snprintf(out, size, "%.100s", name);
}

static void report_devices(struct reading *out, const struct devices *d)
{
	static const char *const context[] = { "sm_default_clock_rate", "number_of_sms", "ecc_state" };

	for (int i = 0; i < d->n; i++) {
		const json_t *device = find_device(d, d->id[i]);
		const char *name = device_name(d, d->id[i]);

		if (name)
			reading_report(out, "GPU", name);
		for (size_t k = 0; k < sizeof context / sizeof context[0]; k++) {
			const json_t *value = json_object_get(device, context[k]);
			char *text = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;

			if (text)
				reading_report(out, context[k], text);
			free(text);
		}
	}
}

/* Two passes over the states: first collect cards, then read. */
struct walk {
	struct reading *out;
	const char *file;
	struct devices devices;
	bool is_first_pass, name_device; /* names include the card */
	int n_states, n_unmeasured;
};

static void name_state(const struct walk *w, const char *bench, const char *axes, const json_t *state, char key[OBJECT_TEXT_SIZE])
{
	int64_t id = device_of(state, &axes);
	char label[128] = "";

	if (id != NO_DEVICE && w->name_device)
		label_device(&w->devices, id, label, sizeof label);
	snprintf(key, OBJECT_TEXT_SIZE, "%s%s%s%s%s%s", bench, label[0] || axes[0] ? "/" : "", label[0] ? "Device=" : "", label,
		label[0] && axes[0] ? " " : "", axes);
}

static int read_state(struct walk *w, json_t *object, const char *bench, const char *name, size_t b, size_t i, struct fw_err *err)
{
	struct fields f;
	char own[OBJECT_NAME_SIZE], key[OBJECT_TEXT_SIZE], where[OBJECT_TEXT_SIZE], why[READING_WHY_SIZE - 16];
	struct stated stated;

	field_begin(&f, object, err, "benchmarks[%zu].states[%zu]", b, i);
	field_text(&f, field_has(&f, "name") ? "name" : "description", own, sizeof own);
	if (f.failed)
		return -1;
	if (w->is_first_pass) {
		const char *axes = name ? name : own;

		note_device(&w->devices, device_of(object, &axes));
		return 0;
	}
	reading_entry(w->out, w->n_states++);
	name_state(w, bench, name ? name : own, object, key);
	if (field_bool_or(&f, "is_skipped", false)) {
		field_text(&f, "skip_reason", why, sizeof why);
		return f.failed ? -1 : reading_skip(w->out, key, err, "skipped%s%s", why[0] ? ": " : "", why);
	}
	read_summaries(&f, &stated);
	if (f.failed)
		return -1;
	if (stated.n > 0)
		return reading_state(w->out, key, stated.time, stated.n, object_position(where, w->file, &f, "summaries"), err);
	w->n_unmeasured++;
	return reading_skip(w->out, key, err, stated.has_unfit ? "its time is not a time" : "its summaries hold no time");
}

static int read_bench(struct walk *w, json_t *object, size_t b, struct fw_err *err)
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
		json_object_foreach(states, state, item) if (read_state(w, item, name, state, b, i++, err)) return -1;
		return bench.failed ? -1 : 0;
	}
	states = field_array(&bench, "states", 0, READING_ROWS_MAX);
	if (bench.failed)
		return -1;
	json_array_foreach(states, i, item) if (read_state(w, item, name, NULL, b, i, err)) return -1;
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
		text && field_is(FIELD_IDENTIFIER, text) ? text : "?", VERSION);
}

static void report_versions(struct reading *out, json_t *root)
{
	json_t *meta = json_object_get(root, "meta"), *version = json_object_get(json_object_get(meta, "version"), "nvbench");
	const char *text = json_string_value(json_object_get(version, "git_version"));

	if (!text)
		text = json_string_value(json_object_get(version, "string"));
	if (text && *text)
		reading_report(out, "version of nvbench", text);
	object_report_conditions(out, meta);
	object_report_conditions(out, version);
	object_report_conditions(out, root);
}

int read_nvbench(struct reading *out, const char *text, size_t len, const char *file, const struct reading_options *how,
	struct fw_err *err)
{
	json_t *root = object_load(text, len, file, err);
	struct walk w = { .out = out, .file = file };
	struct fields f;

	if (!root)
		return -1;
	field_begin(&f, root, err, "file");
	int result = f.failed ? -1 : check_version(root, file, err);
	json_t *list = result == 0 ? field_array(&f, "benchmarks", 0, READING_ROWS_MAX) : NULL;

	result = f.failed ? -1 : result;
	w.devices.list = json_object_get(root, "devices");
	for (int pass = 0; pass < 2; pass++) {
		w.is_first_pass = pass == 0;
		w.name_device = w.devices.n > 1 || how->name_device;
		for (size_t b = 0; result == 0 && b < json_array_size(list); b++)
			result = read_bench(&w, json_array_get(list, b), b, err);
	}
	out->n_devices = w.devices.n;
	if (result == 0) {
		report_devices(out, &w.devices);
		report_versions(out, root);
	}
	if (result == 0 && out->n_rows == 0 && w.n_unmeasured > 0)
		result = err_set(err, ERR_INVALID, "%s: none of its states holds a time; run it without --profile", file);
	json_decref(root);
	return result != 0 ? object_mistake(err, file) : 0;
}
