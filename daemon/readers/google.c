/*
 * google.c - Google Benchmark JSON.
 *
 * A result is the repetitions of one benchmark, and their aggregates. Since 2021 an item has its result (family_index,
 * per_family_instance_index), since 2019 its repetition; before that only the order shows them.
 */
#include "readers/internal.h"

#include <math.h>
#include <stdio.h>

enum { NONE = -1 };

struct run {
	char name[OBJECT_NAME_SIZE]; /* of the benchmark, without a statistic's suffix */
	char statistic[64];          /* "" a repetition, "median", "?" unknown */
	char unit[16];
	bool failed, skipped;
	int64_t family, instance;        /* NONE: not in the file */
	int64_t repetition, repetitions; /* number and total; NONE */
	int result;                      /* number of its result */
};

struct result {
	const struct run *first;
	int64_t n, last_repetition; /* repetitions so far */
	bool has_median, has_mean, has_aggregates;
	bool broken; /* an item of it has no time */
};

/* Cut "_mean" off "BM_Sum_mean". Shape: statistic[64]. */
static bool take_statistic(char *name, char *statistic)
{
	static const char *const known[] = { "mean", "median", "stddev", "cv", "BigO", "RMS" };
	char *last = strrchr(name, '_');

	for (size_t i = 0; last && last != name && i < sizeof known / sizeof known[0]; i++)
		if (strcmp(last + 1, known[i]) == 0) {
			snprintf(statistic, 64, "%s", known[i]);
			*last = '\0';
			return true;
		}
	return false;
}

/*
 * Current files mark aggregates and name their statistic. Files of 2018 only mark them; in older ones only the suffix of the
 * name shows it.
 */
static int read_run(struct fields *f, struct run *r)
{
	char type[32], run_name[OBJECT_NAME_SIZE], ignored[64];

	field_text(f, "name", r->name, sizeof r->name);
	if (object_is_bare(json_object_get(f->object, "name")))
		field_fail(f, "name", "is no text");
	field_text(f, "run_name", run_name, sizeof run_name);
	field_text(f, "run_type", type, sizeof type);
	field_text(f, "aggregate_name", r->statistic, sizeof r->statistic);
	field_text(f, "time_unit", r->unit, sizeof r->unit);
	r->failed = field_bool_or(f, "error_occurred", false);
	r->skipped = field_bool_or(f, "skipped", false);
	r->family = field_int_or(f, "family_index", 0, INT32_MAX, NONE);
	r->instance = field_int_or(f, "per_family_instance_index", 0, INT32_MAX, NONE);
	r->repetition = field_int_or(f, "repetition_index", 0, INT32_MAX, NONE);
	r->repetitions = field_int_or(f, "repetitions", 0, INT32_MAX, NONE);
	if (r->statistic[0])
		(void)(run_name[0] ? false : take_statistic(r->name, ignored));
	else if (strcmp(type, "iteration") != 0 && !take_statistic(r->name, r->statistic) && strcmp(type, "aggregate") == 0)
		snprintf(r->statistic, sizeof r->statistic, "?");
	if (r->statistic[0] && run_name[0])
		snprintf(r->name, sizeof r->name, "%s", run_name);
	return f->failed ? -1 : 0;
}

static bool is_same_benchmark(const struct run *a, const struct run *b)
{
	return a->family == b->family && a->instance == b->instance && strcmp(a->name, b->name) == 0;
}

/*
 * True if another repetition may belong to a result, as far as both report. Without repetition numbers only aggregates show it,
 * see join_by_aggregates.
 */
static bool takes_repetition(const struct result *in, const struct run *r)
{
	if (in->has_aggregates)
		return false;
	if (in->n == 0)
		return true;
	if (r->repetition != NONE)
		return r->repetition > in->last_repetition;
	return r->repetitions != NONE && in->n < r->repetitions;
}

static bool takes_aggregate(const struct result *in, const struct run *r)
{
	return !(strcmp(r->statistic, "median") == 0 ? in->has_median : strcmp(r->statistic, "mean") == 0 && in->has_mean);
}

static void note_item(struct result *in, const struct run *r)
{
	if (r->statistic[0]) {
		in->has_aggregates = true;
		in->has_median = in->has_median || strcmp(r->statistic, "median") == 0;
		in->has_mean = in->has_mean || strcmp(r->statistic, "mean") == 0;
	} else {
		in->n++;
		in->last_repetition = r->repetition;
	}
}

/*
 * Old files do not mark items of one name as repetitions; only following aggregates show it. So an item without a repetition
 * number starts a new result, and the first aggregate joins all results of its name directly before it.
 */
static int join_by_aggregates(struct run *run, size_t at, struct result *result)
{
	size_t from = at;

	while (from > 0 && is_same_benchmark(&run[from - 1], &run[at]) && !run[from - 1].statistic[0] &&
		run[from - 1].repetition == NONE && run[from - 1].repetitions == NONE)
		from--;
	if (from == at)
		return NONE;
	int joined = run[from].result;

	for (size_t i = from + 1; i < at; i++) {
		result[run[i].result] = (struct result){ 0 };
		run[i].result = joined;
		result[joined].n++;
	}
	return joined;
}

/* Aggregates of several benchmarks, or of unknown ones. */
static bool is_passed_over(const struct run *r)
{
	return strcmp(r->statistic, "BigO") == 0 || strcmp(r->statistic, "RMS") == 0 || strcmp(r->statistic, "?") == 0;
}

/* Find the newest result that an item belongs to; NONE. A complete result hides older ones of its name. */
static int find_result(const struct run *r, const struct result *result, int n_results)
{
	for (int k = n_results - 1; k >= 0; k--)
		if (result[k].first && is_same_benchmark(result[k].first, r))
			return (r->statistic[0] ? takes_aggregate(&result[k], r) : takes_repetition(&result[k], r)) ? k : NONE;
	return NONE;
}

/* Number the results. Shape: run[n], result[n]. */
static int group(struct run *run, size_t n, struct result *result, struct fw_err *err)
{
	int n_results = 0;

	for (size_t i = 0; i < n; i++) {
		run[i].result = NONE;
		if (is_passed_over(&run[i]))
			continue;
		int in = run[i].statistic[0] ? join_by_aggregates(run, i, result) : NONE;

		if (in == NONE)
			in = find_result(&run[i], result, n_results);
		if (in == NONE && n_results > 2 * READING_ROWS_MAX)
			return err_set(
				err, ERR_INVALID, "benchmarks[%zu]: more than %d rows; split the file", i, READING_ROWS_MAX);
		if (in == NONE) {
			in = n_results++;
			result[in] = (struct result){ .first = &run[i] };
		}
		run[i].result = in;
		note_item(&result[in], &run[i]);
	}
	return 0;
}

static bool has_time(json_t *object, const struct run *r, const char *time, double *ms, char why[READING_WHY_SIZE])
{
	const json_t *value = json_object_get(object, time);
	double unit = unit_to_ms(r->unit[0] ? r->unit : "ns");

	*ms = json_number_value(value) * unit;
	if (!value || json_is_null(value))
		snprintf(why, READING_WHY_SIZE, "it has no %s", time);
	else if (object_is_bare(value))
		snprintf(why, READING_WHY_SIZE, "its %s is NaN or infinite", time);
	else if (!json_is_number(value))
		snprintf(why, READING_WHY_SIZE, "its %s is not a number", time);
	else if (unit == 0)
		snprintf(why, READING_WHY_SIZE, "the time_unit `%.10s` is unknown; ns, us, ms and s are read", r->unit);
	else if (!reading_is_time(*ms))
		snprintf(why, READING_WHY_SIZE, "a %s of %g is not a time", time, json_number_value(value));
	else
		return true;
	return false;
}

static int add_repetition(struct reading *out, json_t *object, const struct run *r, struct result *result, const char *time,
	const char *where, struct fw_err *err)
{
	char why[READING_WHY_SIZE];
	struct fields f = { .object = object, .err = err };
	double ms;

	if (r->failed) {
		field_text(&f, "error_message", why, sizeof why);
		return reading_fail(out, r->name, why[0] ? why : "error_occurred", where, err);
	}
	if (r->skipped) {
		field_text(&f, "skip_message", why, sizeof why - 16);
		return reading_skip(out, r->name, err, "skipped%s%s", why[0] ? ": " : "", why);
	}
	result->broken = result->broken || !has_time(object, r, time, &ms, why);
	return result->broken ? reading_skip(out, r->name, err, "%s", why) : reading_add(out, r->name, ms, NAN, where, err);
}

/* Add a result of aggregates only: its median and its mean. Shape: run[n], the first of them at `at`. */
static int add_aggregates(struct reading *out, json_t *list, const struct run *run, size_t n, size_t at, const char *time,
	const char *where, struct fw_err *err)
{
	static const char *const names[] = { READING_MEDIAN, READING_MEAN };
	char why[READING_WHY_SIZE] = "it has neither a median nor a mean";
	struct reading_time found[2];
	int n_found = 0;

	for (int rank = 0; rank < 2; rank++)
		for (size_t i = at; i < n; i++) {
			double ms;

			if (run[i].result != run[at].result || strcmp(run[i].statistic, names[rank]) != 0)
				continue;
			if (has_time(json_array_get(list, i), &run[i], time, &ms, why))
				found[n_found++] = (struct reading_time){ .name = names[rank], .rank = rank, .ms = ms };
			break;
		}
	return n_found > 0 ? reading_state(out, run[at].name, found, n_found, where, err)
			   : reading_skip(out, run[at].name, err, "%s", why);
}

static int add_items(struct reading *out, json_t *list, const struct run *run, size_t n, struct result *result, const char *time,
	const char *file, struct fw_err *err)
{
	char where[OBJECT_TEXT_SIZE];

	for (size_t i = 0; i < n; i++) {
		json_t *object = json_array_get(list, i);

		if (run[i].result == NONE)
			continue;
		bool alone = result[run[i].result].n == 0;

		snprintf(where, sizeof where, "%.500s: benchmarks[%zu].%s", file, i, time);
		reading_entry(out, run[i].result);
		if (run[i].statistic[0] && !(alone && result[run[i].result].first == &run[i]))
			continue;
		if (run[i].statistic[0] ? add_aggregates(out, list, run, n, i, time, where, err)
					: add_repetition(out, object, &run[i], &result[run[i].result], time, where, err))
			return -1;
	}
	return 0;
}

static int read_items(struct reading *out, json_t *list, const char *time, const char *file, struct fw_err *err)
{
	size_t n = json_array_size(list);
	struct run *run = mem_alloc_zero(n + 1, sizeof *run);
	struct result *result = mem_alloc_zero(n + 1, sizeof *result);
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		struct fields f;

		field_begin(&f, json_array_get(list, i), err, "benchmarks[%zu]", i);
		rc = f.failed ? -1 : read_run(&f, &run[i]);
	}
	if (rc == 0)
		rc = group(run, n, result, err);
	if (rc == 0)
		rc = add_items(out, list, run, n, result, time, file, err);
	free(result);
	free(run);
	return rc;
}

int read_google(struct reading *out, const char *text, size_t len, const char *file, const struct reading_options *how,
	struct fw_err *err)
{
	const char *time = strcmp(how->time, "cpu") == 0 ? "cpu_time" : "real_time";
	json_t *root = object_load_bare(text, len, file, err);
	struct fields f;

	if (!root)
		return -1;
	field_begin(&f, root, err, "file");
	json_t *list = field_array(&f, "benchmarks", 0, READING_VALUES_MAX);
	int result = -1;

	if (!f.failed) {
		object_report_conditions(out, json_object_get(root, "context"));
		result = read_items(out, list, time, file, err);
	}
	json_decref(root);
	return result != 0 ? object_mistake(err, file) : 0;
}
