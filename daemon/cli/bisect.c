/* bisect: request a bisect between two commits, follow it, print the culprit. */

#include "cli/internal.h"

#include <math.h>

/* One line about the state of the bisect. */
static bool describe(const json_t *bisect, char *text, size_t size)
{
	const char *state = value_text(bisect, "state");
	long long job = value_integer(bisect, "job");
	if (!job)
		snprintf(text, size, "%s", state);
	else if (!*value_text(bisect, "goal"))
		snprintf(text, size, "%lld commits: measuring both ends, J%lld", value_integer(bisect, "commits"), job);
	else
		snprintf(text, size, "%lld commits: J%lld, the %lld. measurement", value_integer(bisect, "commits"), job,
			value_integer(bisect, "jobs"));
	return strcmp(state, "listing") == 0 || strcmp(state, "measuring") == 0;
}

#define PROBABILITY_SHOWN 0.9999 /* a few runs cannot resolve more digits */

static void commits_cell(struct table *t, const json_t *culprit)
{
	if (value_integer(culprit, "commits") == 1)
		table_cell(t, "%.12s", value_text(culprit, "to"));
	else
		table_cell(t, "%.12s..%.12s", value_text(culprit, "from"), value_text(culprit, "to"));
}

static void cells_cell(struct table *t, const json_t *culprit)
{
	table_cell(t, "%zu", json_array_size(json_object_get(culprit, "cells")));
}

static void comparison_cell(struct table *t, const json_t *culprit)
{
	long long comparison = value_integer(culprit, "comparison");
	table_cell_if(t, comparison, "C%lld", comparison);
}

static const char *proof(const json_t *culprit)
{
	return json_is_true(json_object_get(culprit, "confirmed")) ? "measured" : "deduced";
}

static void probability_cell(struct table *t, const json_t *culprit)
{
	double p = value_number(culprit, "probability");
	bool is_sure = p > PROBABILITY_SHOWN;
	table_cell_if(t, !isnan(p), "%s%.4f", is_sure ? ">" : "", is_sure ? PROBABILITY_SHOWN : p);
}

static void print_culprits(const json_t *culprits)
{
	static const struct column columns[] = { { "culprit", .cell = commits_cell }, { ">commits", .integer = "commits" },
		{ ">change", .percent = "change_pct", .digits = 1, .is_change = true }, { ">cells", .cell = cells_cell },
		{ ">comparison", .cell = comparison_cell }, { "proof", .text = proof },
		{ ">probability", .cell = probability_cell }, { "subject", .key = "subject" } };
	table_print_rows(culprits, 8, columns, stdout);
}

static int print_result(const struct options *o, const json_t *bisect, struct fw_err *err)
{
	const json_t *culprits = json_object_get(bisect, "culprits");
	long long commits = value_integer(bisect, "commits"), jobs = value_integer(bisect, "jobs");
	const char *state = value_text(bisect, "state");
	if (o->json) {
		verb_print_json(bisect);
	} else if (strcmp(state, "done") == 0) {
		printf("bisect %lld  %s  %.12s..%.12s  %lld commit%s, %lld measurement%s: ", value_integer(bisect, "id"),
			value_text(bisect, "repo"), value_text(bisect, "good"), value_text(bisect, "bad"), commits,
			commits == 1 ? "" : "s", jobs, jobs == 1 ? "" : "s");
		plain_line(stdout, "%s", value_text(bisect, "state_why"));
		if (json_array_size(culprits))
			print_culprits(culprits);
		long long comparison = value_integer(json_array_get(culprits, 0), "comparison");
		if (comparison)
			printf("next: flopwatch why C%lld\n", comparison);
	}
	if (strcmp(state, "done") != 0)
		return err_set(err, ERR_INVALID, "bisect %lld is %s: %s", value_integer(bisect, "id"), state,
			value_text(bisect, "state_why"));
	return verb_status_of_verdict(value_verdict(bisect));
}

int verb_bisect(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	json_t *requested = NULL, *bisect = NULL;
	char repo[256];
	int status = checkout_repo(c, o, o->arg[1], repo, sizeof repo);
	if (status != EXIT_OK)
		return status;
	const struct member request[] = { { "repo", .text = repo }, { "good", .text = o->arg[0] }, { "bad", .text = o->arg[1] },
		{ "cells", .text = o->n_arg == 3 ? o->arg[2] : NULL }, { "suite", .text = o->suite },
		{ "device", .text = o->device }, { 0 } };
	status = -1;
	if (client_post_members(c, "/api/v1/bisects", request, &requested, &err) == 0 &&
		follow_one(c, o, "bisect", value_integer(requested, "id"), describe, &bisect, &err) == 0)
		status = print_result(o, bisect, &err);
	json_decref(requested);
	json_decref(bisect);
	return status < 0 ? verb_fail(&err) : status;
}
