/* try: builds, checks and runs the working tree once, with the same worker that would do so for a push. */
#include <stdlib.h>

#include "cli/internal.h"
#include "lib/lib.h"
#include "model/model.h"

enum { BUILD_S = 900, CHECK_S = 900, RUN_S = 600, WAIT_S = 600, LOG_BYTES = 512 << 10 };

/* One trial, of a suite or a benchmark. */
struct attempt {
	const struct options *options;
	const struct tree *tree;
	const struct benchmark *run; /* NULL: `suite` */
	struct suite suite;
	struct msg_job *job;
	struct rule rule; /* of a complete comparison */
	double budget_s;
	struct progress *progress;
	struct report_total *total;
	int number, n_all; /* among the suites and benchmarks that are tried */
};

static void fill_sides(struct attempt *a)
{
	static const enum role roles[] = { ROLE_BASE, ROLE_TARGET };

	for (int i = 0; i < 2; i++) {
		struct msg_side *s = &a->job->side[i];

		s->role = roles[i];
		snprintf(s->commit, sizeof s->commit, "%s", a->tree->commit);
		s->build = a->tree->manifest.build;
		s->n_inputs = a->tree->manifest.n_inputs;
		for (int k = 0; k < s->n_inputs; k++) {
			snprintf(s->input[k].path, sizeof s->input[k].path, "%s", a->tree->manifest.input[k]);
			snprintf(s->input[k].oid, sizeof s->input[k].oid, "%s", a->tree->oid[k]);
		}
		if (a->run)
			s->benchmark = *a->run;
	}
	a->job->n_sides = 2;
}

/* One run of the tree against itself: checked as a push is, without a verdict. */
static void fill_job(struct attempt *a)
{
	struct msg_job *j = a->job;

	j->job = 1;
	j->attempt = 1;
	snprintf(j->nonce, sizeof j->nonce, "try");
	j->kind = JOBKIND_SELFCHECK;
	j->seed = (uint64_t)clock_mono_ns();
	j->quick = true;
	fill_sides(a);
	j->cell = a->suite.cell;
	j->n_cells = a->suite.n_cells;
	j->rule = a->rule;
	j->limits = (struct msg_limits){ .build_s = BUILD_S,
		.check_s = CHECK_S,
		.run_s = RUN_S,
		.budget_s = a->budget_s,
		.wait_s = WAIT_S,
		.log_bytes = LOG_BYTES };
}

static int read_suite(struct attempt *a, const char *name, struct fw_err *err)
{
	char file[1024];
	struct buf text;

	buf_init(&text, 1 << 20);
	int result = tree_suite(a->tree, name, &text, file, err);

	if (result == 0)
		result = suite_parse(text.data, text.len, file, &a->suite, err);
	buf_fini(&text);
	if (result == 0 && suite_choose(&a->suite, a->options->cells, 0, err) != 0)
		return -1;
	if (result == 0) {
		rule_default(&a->rule, a->suite.n_cells);
		a->budget_s = a->suite.budget_s;
	}
	return result;
}

static int status_of(const struct outcome *o)
{
	int timed, unsupported, failed;

	outcome_count(o, &timed, &unsupported, &failed);
	if (failed || o->n_faults || strcmp(o->build_state, "failed") == 0)
		return EXIT_ERROR;
	return timed ? EXIT_OK : EXIT_UNDECIDED; /* nothing to compare */
}

static int attempt(struct attempt *a, const char *name, json_t *list, struct fw_err *err)
{
	const struct options *o = a->options;
	struct outcome outcome;
	struct hints hints;
	char label[96];
	int status = -1;

	snprintf(label, sizeof label, "%s", name);
	if (a->n_all > 1)
		snprintf(label, sizeof label, "%d of %d, %.63s", a->number, a->n_all, name);
	outcome_init(&outcome);
	fill_job(a);
	struct session_request request = { .tree = a->tree,
		.device = o->device,
		.read_only = o->read_only,
		.job = a->job,
		.label = label,
		.progress = a->progress };

	outcome_cells(&outcome, a->suite.cell, a->suite.n_cells);
	if (session_run(&request, &outcome, err) == 0) {
		hint_all(a->tree, &outcome, a->run, &hints);
		struct report report = { .name = name,
			.tree = a->tree,
			.outcome = &outcome,
			.run = a->run,
			.rule = &a->rule,
			.budget_s = a->budget_s,
			.is_long = o->is_long,
			.is_alone = a->n_all == 1,
			.hints = &hints };

		double least, most;

		if (report_cost(&report, &least, &most))
			hint_budget(&outcome, a->run, name, least, a->budget_s, &hints);
		report_add(&report, a->total);
		if (o->json)
			json_array_append_new(list, report_json(&report));
		else
			report_print(&report, o->quiet, stdout);
		status = status_of(&outcome);
	}
	outcome_fini(&outcome);
	return status;
}

/* Try one suite or benchmark of the manifest, by its name. Returns the exit status, or -1 with err. */
static int try_one(struct attempt a, const char *name, json_t *list, struct fw_err *err)
{
	int status = -1;

	a.run = manifest_benchmark(&a.tree->manifest, name);
	a.job = mem_alloc_zero(1, sizeof *a.job);
	if (a.run) {
		benchmark_rule(a.run, 0, &a.rule);
		a.budget_s = a.run->budget_s;
		status = attempt(&a, name, list, err);
	} else if (read_suite(&a, name, err) == 0) {
		status = attempt(&a, name, list, err);
	}
	suite_fini(&a.suite);
	free(a.job);
	return status;
}

/* A failure takes precedence over nothing to compare. */
static int worse(int a, int b)
{
	return a == EXIT_ERROR || b == EXIT_ERROR ? EXIT_ERROR : a ? a : b;
}

static int fail(const struct fw_err *err)
{
	(void)verb_fail_here(err);
	return err->code == ERR_INVALID ? EXIT_USAGE : err->code == ERR_NOT_FOUND ? EXIT_NOT_FOUND : EXIT_ERROR;
}

static void print_next(int status)
{
	puts(status == EXIT_OK ? "next: commit and push, then: flopwatch wait BRANCH"
		: status == EXIT_ERROR
			? "next: fix it, then try again"
			: "next: name a device that supports a cell, --device NAME (flopwatch-worker probe lists them), or "
			  "push: the daemon's device decides");
}

int verb_try(struct client *c, const struct options *o)
{
	struct tree *t = mem_alloc(sizeof *t);
	json_t *list = json_array();
	struct report_total total = { 0 };
	struct progress progress;
	struct attempt a = { .options = o, .tree = t, .progress = &progress, .total = &total };
	struct fw_err err = { 0 };
	int status = EXIT_OK;

	(void)c;
	progress_start(&progress, o, stderr);
	progress_step(&progress, "reading the files of the checkout");
	bool is_open = tree_open(t, o->n_arg ? o->arg[0] : ".", &err) == 0;

	bool is_tried = is_open; /* else a message has the remedy */

	progress_clear(&progress);
	if (!is_open)
		status = fail(&err);
	a.n_all = o->suite ? 1 : t->manifest.n_suites;
	total.is_part = a.n_all < t->manifest.n_suites;
	for (int i = 0; is_open && i < a.n_all; i++) {
		a.number = i + 1;

		int one = try_one(a, o->suite ? o->suite : t->manifest.suite[i], list, &err);

		if (one < 0) {
			status = fail(&err);
			is_tried = false;
			break;
		}
		status = worse(status, one);
	}
	if (o->json && is_open && json_array_size(list))
		verb_print_json(list);
	else if (!o->json && is_tried) {
		report_print_total(&total, stdout);
		print_next(status);
	}
	json_decref(list);
	tree_free(t);
	free(t);
	return status;
}
