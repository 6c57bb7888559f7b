/* google.c - see google.h. */
#include "core/reading/google.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/reading/bare.h"
#include "core/reading/object.h"

/* One item of the file. */
struct run {
	char name[OBJECT_NAME_SIZE]; /* of the benchmark, without that of a statistic */
	char statistic[64];          /* "" a repetition, "median", "?" one that is not known */
	char unit[16];
	bool failed, skipped;
};

/* Take "_mean" off "BM_Sum_mean". Shape: statistic[64]. */
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
 * Files of today say which rows are aggregates, and of what. Those of 2018 say of a row that it is one and not which; older ones
 * tell it only by the end of its name.
 */
static int read_run(struct fields *f, struct run *r)
{
	char type[32], run_name[OBJECT_NAME_SIZE], ignored[64];

	field_text(f, "name", r->name, sizeof r->name);
	if (bare_is(json_object_get(f->object, "name")))
		field_fail(f, "name", "is no text");
	field_text(f, "run_name", run_name, sizeof run_name);
	field_text(f, "run_type", type, sizeof type);
	field_text(f, "aggregate_name", r->statistic, sizeof r->statistic);
	field_text(f, "time_unit", r->unit, sizeof r->unit);
	r->failed = field_bool_or(f, "error_occurred", false);
	r->skipped = field_bool_or(f, "skipped", false);
	if (r->statistic[0])
		(void)(run_name[0] ? false : take_statistic(r->name, ignored));
	else if (strcmp(type, "iteration") != 0 && !take_statistic(r->name, r->statistic) && strcmp(type, "aggregate") == 0)
		snprintf(r->statistic, sizeof r->statistic, "?");
	if (r->statistic[0] && run_name[0])
		snprintf(r->name, sizeof r->name, "%s", run_name);
	return f->failed ? -1 : 0;
}

static int add_run(
	struct reading *out, struct fields *f, const struct run *r, const char *time, const char *file, struct fw_err *err)
{
	char where[OBJECT_TEXT_SIZE], why[READING_WHY_SIZE];

	if (r->failed) {
		field_text(f, "error_message", why, sizeof why);
		return reading_fail(
			out, r->name, why[0] ? why : "error_occurred", object_place(where, file, f, "error_message"), err);
	}
	if (r->skipped) {
		field_text(f, "skip_message", why, sizeof why - 16);
		return reading_leave(out, r->name, err, "skipped%s%s", why[0] ? ": " : "", why);
	}
	if (bare_is(json_object_get(f->object, time)))
		return reading_leave(out, r->name, err, "its %s is NaN or infinite", time);
	double value = field_double(f, time, 0, 1e15), unit_ms = reading_unit_ms(r->unit[0] ? r->unit : "ns");

	if (!f->failed && unit_ms == 0)
		field_fail(f, "time_unit", "`%.10s` is unknown; use ns, us, ms or s", r->unit);
	if (f->failed)
		return -1;
	if (value == 0)
		return reading_leave(out, r->name, err, "a %s of 0 is no time", time);
	return reading_add(out, r->name, value * unit_ms, NAN, object_place(where, file, f, time), err);
}

/* Take the rows of one statistic, "" the repetitions, of benchmarks that no row is known of yet. */
static int read_rows(
	struct reading *out, json_t *list, const char *wanted, const char *time, const char *file, struct fw_err *err)
{
	int known = out->n_rows;

	for (size_t i = 0; i < json_array_size(list); i++) {
		struct fields f;
		struct run r;

		field_begin(&f, json_array_get(list, i), err, "benchmarks[%zu]", i);
		if (read_run(&f, &r))
			return -1;
		if (strcmp(r.statistic, wanted) != 0 || (wanted[0] && reading_met(out, known, r.name)))
			continue;
		if (add_run(out, &f, &r, time, file, err))
			return -1;
	}
	return 0;
}

int read_google(
	struct reading *out, const char *text, size_t len, const char *file, const struct reading_how *how, struct fw_err *err)
{
	static const char *const wanted[] = { "", "median", "mean" };
	const char *time = strcmp(how->time, "cpu") == 0 ? "cpu_time" : "real_time";
	char *copy = bare_replace(text, len);
	json_t *root = copy ? object_load(copy, len, file, err) : NULL;
	struct fields f;

	if (!copy)
		return err_set(err, ERR_INTERNAL, "out of memory");
	free(copy);
	if (!root)
		return -1;
	field_begin(&f, root, err, "file");
	json_t *list = field_array(&f, "benchmarks", 0, READING_VALUES_MAX);
	int result = f.failed ? -1 : 0;

	for (int i = 0; i < 3 && result == 0; i++)
		result = read_rows(out, list, wanted[i], time, file, err);
	json_decref(root);
	return result != 0 ? object_mistake(err, file) : 0;
}
