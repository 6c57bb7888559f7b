/* status: every branch with its verdict, the most urgent first. */
#include <math.h>
#include <stdlib.h>

#include "cli/internal.h"
#include "lib/lib.h"
#include "model/model.h"

/* The answers of the daemon that one status needs. */
struct status {
	const json_t *alerts; /* live ones */
	json_t *rows;         /* branches, sorted; each with the member "alert", and with "newest" if only that is slower */
	const char *repo;     /* name of the first row's repository */
	bool has_repos;       /* of several repositories */
};

/* ---- rows -------------------------------------------------------------------------------------------------------------- */

static bool is_of_branch(const json_t *alert, const json_t *branch)
{
	return strcmp(value_text(alert, "repo"), value_text(branch, "repo")) == 0 &&
	       strcmp(value_text(alert, "branch"), value_text(branch, "name")) == 0;
}

/* The live alert of a branch, newest first in the list. NULL: none. */
static json_t *alert_of(const json_t *alerts, const json_t *branch)
{
	size_t i;
	json_t *alert;
	json_array_foreach(alerts, i, alert)
	{
		if (is_of_branch(alert, branch))
			return alert;
	}
	return NULL;
}

/* Whether the newest push failed, or is slower itself by as much as the alert. */
static bool has_worse(const json_t *branch, const json_t *slowest)
{
	enum verdict verdict = value_verdict(branch);
	double pct = value_number(branch, "worst_pct");
	if (verdict != VERDICT_REGRESSION)
		return verdict == VERDICT_FAILED || verdict == VERDICT_REJECTED;
	return strcmp(value_text(slowest, "target"), value_text(branch, "compared")) == 0 ||
	       (!isnan(pct) && !(value_number(slowest, "worst_pct") < pct));
}

/*
 * A branch is slower while such an alert is live, also after a push that changes nothing or loses less: that verdict becomes
 * "newest".
 */
static void set_alert(const json_t *alerts, json_t *branch)
{
	enum verdict verdict = value_verdict(branch);
	json_t *slowest = alert_slowest(alerts, value_text(branch, "repo"), value_text(branch, "name"));
	if (slowest && has_worse(branch, slowest))
		slowest = NULL;
	json_object_set(branch, "alert", slowest ? slowest : alert_of(alerts, branch));
	if (!slowest)
		return;
	json_object_set_new(branch, "newest", json_string(verdict == VERDICT_NONE ? "not judged" : verdict_name(verdict)));
	json_object_set_new(branch, "verdict", json_string(verdict_name(VERDICT_REGRESSION)));
	json_object_set(branch, "worst_pct", json_object_get(slowest, "worst_pct"));
	json_object_set_new(branch, "slower", json_integer((json_int_t)json_array_size(json_object_get(slowest, "cells"))));
}

/* Verdicts are listed by their precedence; a branch that is being measured, or never was, comes before unchanged ones. */
static int urgency(const json_t *branch)
{
	enum verdict verdict = value_verdict(branch);
	return verdict == VERDICT_NONE ? VERDICT_ACCEPTED : (int)verdict;
}

static int by_urgency(const void *a, const void *b)
{
	const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
	double pct[2] = { value_number(x, "worst_pct"), value_number(y, "worst_pct") };
	if (urgency(x) != urgency(y))
		return urgency(x) < urgency(y) ? -1 : 1;
	if (value_verdict(x) == VERDICT_REGRESSION && pct[0] != pct[1] && !isnan(pct[0]) && !isnan(pct[1]))
		return pct[0] < pct[1] ? -1 : 1;
	return strcmp(value_text(y, "finished_at"), value_text(x, "finished_at"));
}

static void sort_rows(struct status *s, const json_t *items)
{
	size_t n = json_array_size(items);
	json_t **row = mem_alloc_zero(n + 1, sizeof *row);
	for (size_t i = 0; i < n; i++) {
		row[i] = json_array_get(items, i);
		s->repo = i ? s->repo : value_text(row[i], "repo");
		s->has_repos = s->has_repos || strcmp(s->repo, value_text(row[i], "repo")) != 0;
		set_alert(s->alerts, row[i]);
	}
	qsort(row, n, sizeof *row, by_urgency);
	s->rows = json_array();
	for (size_t i = 0; i < n; i++)
		json_array_append(s->rows, row[i]);
	free(row);
}

/* ---- columns ----------------------------------------------------------------------------------------------------------- */

/* The suite that decides, of several: "gemm, 1 of 2". */
static void suite_cell(struct table *t, const json_t *branch)
{
	const char *decides = value_text(branch, "suite");
	size_t n = json_array_size(json_object_get(branch, "suites"));
	if (n > 1)
		table_cell(t, "%s, 1 of %zu", decides, n);
	else
		table_cell_if(t, *decides, "%s", decides);
}

static void unfinished_cell(struct table *t, const json_t *branch)
{
	struct buf names;
	size_t i;
	json_t *name;
	buf_init(&names, 4096);
	json_array_foreach(json_object_get(branch, "unfinished"), i, name)
		buf_printf(&names, "%s%s", i ? ", " : "", json_string_value(name));
	table_cell_if(t, names.len, "%s", names.data);
	buf_fini(&names);
}

static void verdict_cell(struct table *t, const json_t *branch)
{
	const char *verdict = value_text(branch, "verdict");
	table_cell_if(t, *verdict, "%s", verdict);
}

static void judged_cell(struct table *t, const json_t *branch)
{
	const char *judged = value_text(branch, "compared");
	table_cell_if(t, *judged, "%.10s", judged);
}

static void comparison_cell(struct table *t, const json_t *branch)
{
	long long comparison = value_integer(branch, "comparison");
	table_cell_if(t, comparison, "C%lld", comparison);
}

static void job_cell(struct table *t, const json_t *branch)
{
	const json_t *job = json_object_get(branch, "job");
	long long id = value_integer(job, "id");
	table_cell_if(t, id, "J%lld %s", id, value_text(job, "state"));
}

/* The change that the verdict is about; a branch without a change has none, for it would be noise. */
static void change_cell(struct table *t, const json_t *branch)
{
	enum verdict verdict = value_verdict(branch);
	bool lost = verdict == VERDICT_REGRESSION || verdict == VERDICT_ACCEPTED;
	double pct = lost                             ? value_number(branch, "worst_pct")
		     : verdict == VERDICT_IMPROVEMENT ? value_number(branch, "best_pct")
						      : NAN;
	if (isnan(pct))
		table_cell(t, "%s", "");
	else
		table_cell(t, "%+.1f %%", pct);
}

/* "6/20 cells" of a regression, "6 cells" of one of an older push, else the number of cells. */
static void cells_cell(struct table *t, const json_t *branch)
{
	long long cells = 0, lost = 0, slower = value_integer(branch, "slower");
	size_t i;
	json_t *suite;
	if (slower) { /* of an older push, which may have had other cells */
		table_cell(t, "%lld cell%s", slower, slower == 1 ? "" : "s");
		return;
	}
	json_array_foreach(json_object_get(branch, "suites"), i, suite)
	{
		cells += value_integer(suite, "cells");
		lost += value_integer(suite, "regressions");
	}
	if (lost)
		table_cell(t, "%lld/%lld cells", lost, cells);
	else if (cells)
		table_cell(t, "%lld cell%s", cells, cells == 1 ? "" : "s");
	else
		table_cell(t, "%s", "");
}

/* The class of the first cause of the alert's profile: "spills". */
static void cause_cell(struct table *t, const json_t *branch)
{
	char words[VALUE_LABEL_SIZE];
	value_label(json_object_get(json_object_get(branch, "alert"), "why"), "cause", words);
	table_cell(t, "%s", words);
}

/* Return the subject of an alert that the verdict next to it does not show; "" for a slowdown. */
static const char *subject_of(const json_t *alert)
{
	switch (alertkind_from_name(value_text(alert, "kind"))) {
	case ALERTKIND_MISSING:
		return "cells are missing";
	case ALERTKIND_FAILING:
		return "cells fail";
	case ALERTKIND_DRIFT:
		return "drift";
	case ALERTKIND_COST:
		return value_text(alert, "cost");
	default:
		return "";
	}
}

static void alert_cell(struct table *t, const json_t *branch)
{
	const json_t *alert = json_object_get(branch, "alert");
	const char *subject = subject_of(alert);
	if (alert)
		table_cell(
			t, "A%lld %s%s%s", value_integer(alert, "id"), value_text(alert, "state"), *subject ? ": " : "", subject);
	else
		table_cell(t, "%s", "");
}

/* The age of the verdict, or the job that will give one; of a branch that an older push made slower also the newest verdict. */
static void age_cell(struct table *t, const json_t *branch)
{
	const json_t *job = json_object_get(branch, "job");
	enum jobstate state = jobstate_from_name(value_text(job, "state"));
	char age[VALUE_AGE_SIZE];
	value_age(branch, "finished_at", age);
	const char *behind = value_text(branch, "behind"), *newest = value_text(branch, "newest");
	char push[64] = "";
	if (*newest)
		snprintf(push, sizeof push, "newest push %s, ", newest);
	if (state < JOBSTATE_N && !jobstate_is_final(state))
		table_cell(t, "%sJ%lld %s%s%s", push, value_integer(job, "id"), value_text(job, "state"), *behind ? " " : "",
			behind);
	else
		table_cell(t, "%s%s", push, *age ? age : "not measured");
}

/* ---- the list ---------------------------------------------------------------------------------------------------------- */

/* "5 branches: 1 regression, 1 undecided, 3 unchanged". */
static void print_finding(const struct status *s)
{
	size_t n = json_array_size(s->rows), i;
	json_t *row;
	const char *sign = ":";
	printf("%zu branch%s", n, n == 1 ? "" : "es");
	for (int v = 0; v <= VERDICT_NONE; v++) {
		int count = 0;
		json_array_foreach(s->rows, i, row) count += (int)value_verdict(row) == v;
		if (!count)
			continue;
		printf("%s %d %s", sign, count, v == VERDICT_NONE ? "without a verdict" : verdict_name((enum verdict)v));
		sign = ",";
	}
	putchar('\n');
}

static void print_rows(const struct status *s, bool is_long)
{
	static const struct column brief[] = { { "~", .key = "repo" }, { "", .key = "display" }, { "", .cell = verdict_cell },
		{ ">", .cell = change_cell }, { "~", .cell = cells_cell }, { "~", .cell = cause_cell },
		{ "~", .cell = alert_cell }, { "~", .cell = age_cell } };
	static const struct column all[] = { { "~repo", .key = "repo" }, { "branch", .key = "display" },
		{ "tip", .key = "commit", .cut = 10 }, { "verdict", .cell = verdict_cell }, { "~newest push", .key = "newest" },
		{ "~judged", .cell = judged_cell }, { "~suite", .cell = suite_cell }, { "~waits for", .cell = unfinished_cell },
		{ "~>comparison", .cell = comparison_cell }, { "~job", .cell = job_cell }, { "~alert", .cell = alert_cell } };
	const struct column *first = s->has_repos ? brief : brief + 1;
	if (is_long)
		table_print_rows(s->rows, 11, all, stdout);
	else
		table_print_rows(s->rows, s->has_repos ? 8 : 7, first, stdout);
}

static void print_next(const struct status *s)
{
	const json_t *first = json_array_get(s->rows, 0), *alert = json_object_get(first, "alert");
	enum jobstate state = jobstate_from_name(value_text(json_object_get(first, "job"), "state"));
	long long comparison = value_integer(first, "comparison");
	if (alert)
		printf("next: flopwatch why A%lld\n", value_integer(alert, "id"));
	else if (comparison && (state >= JOBSTATE_N || jobstate_is_final(state)))
		printf("next: flopwatch open C%lld\n", comparison);
	else if (first)
		plain_line(stdout, "next: flopwatch wait %s%s%s", value_text(first, "display"), s->has_repos ? " --repo " : "",
			s->has_repos ? value_text(first, "repo") : "");
	else
		puts("next: push a branch; if none appears: flopwatch doctor");
}

/* Set the member "behind" of rows whose job is queued. Without the queue the list is still useful. */
static void name_behind(struct client *c, const struct options *o, const json_t *rows)
{
	const struct member query[] = { { "state", .text = jobstate_name(JOBSTATE_QUEUED) }, { "repo", .text = o->repo },
		{ "limit", .number = 500 }, { 0 } };
	struct fw_err err = { 0 };
	json_t *answer = NULL, *row, *job;
	char text[VALUE_BEHIND_SIZE];
	size_t i, k;
	bool is_queued = false;
	json_array_foreach(rows, i, row) is_queued |=
		jobstate_from_name(value_text(json_object_get(row, "job"), "state")) == JOBSTATE_QUEUED;
	if (!is_queued)
		return;
	if (client_get_query(c, "/api/v1/jobs", query, &answer, &err) != 0) {
		verb_warn_unknown("the queue is", &err);
		return;
	}
	json_array_foreach(rows, i, row)
	{
		long long id = value_integer(json_object_get(row, "job"), "id");
		json_array_foreach(json_object_get(answer, "items"), k, job)
		{
			value_behind(job, text);
			if (value_integer(job, "id") == id)
				json_object_set_new(row, "behind", json_string(text));
		}
	}
	json_decref(answer);
}

/* Own: `out` and *alerts, the references. */
static int fetch(struct client *c, const struct options *o, json_t **out, json_t **alerts, struct fw_err *err)
{
	struct buf path;
	buf_init(&path, 4096);
	buf_puts(&path, "/api/v1/branches");
	client_query(&path, "repo", o->repo);
	if (!o->all)
		client_query(&path, "watched", "yes");
	client_query(&path, "strict", o->strict ? "yes" : NULL);
	int result = client_get_all(c, path.data, out, err);
	*alerts = result == 0 && !o->json ? alert_live(c, o->repo) : NULL;
	buf_fini(&path);
	return result;
}

static int print_status(struct client *c, const struct options *o, struct fw_err *err)
{
	struct status s = { 0 };
	json_t *answer = NULL, *alerts = NULL;
	int result = fetch(c, o, &answer, &alerts, err);
	if (result == 0 && o->json) {
		verb_print_json(answer);
	} else if (result == 0) {
		s.alerts = alerts;
		sort_rows(&s, json_object_get(answer, "items"));
		name_behind(c, o, s.rows);
		print_finding(&s);
		print_rows(&s, o->is_long);
		blockers_broken(c, o->repo);
		print_next(&s);
		json_decref(s.rows);
	}
	json_decref(alerts);
	json_decref(answer);
	return result;
}

static void draw(struct client *c, const struct options *o)
{
	struct fw_err ignored = { 0 }; /* a daemon that restarts answers the next time */
	(void)print_status(c, o, &ignored);
}

int verb_status(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	if (!o->all && checkout_check(c, o, &err) != 0)
		return verb_fail(&err);
	if (o->watch)
		return watch_redraw(c, o, draw);
	return print_status(c, o, &err) == 0 ? EXIT_OK : verb_fail(&err);
}
