/* calibrate: request comparisons of equal builds, print their results, delete them. */
#include "cli/internal.h"
#include "lib/lib.h"

static const char *underpowered(const json_t *cell)
{
	return json_is_true(json_object_get(cell, "underpowered")) ? "underpowered" : "";
}

static void print_cells(const json_t *answer)
{
	static const struct column columns[] = { { "cell", .key = "cell" }, { "~repo", .key = "repo" },
		{ ">A/A", .integer = "comparisons" }, { ">alarms", .integer = "alarms" }, { ">runs", .integer = "runs" },
		{ ">noise", .percent = "tau0_pct", .digits = 2 }, { ">smallest loss", .percent = "mde_pct", .digits = 2 },
		{ "", .text = underpowered }, { "~newest", .key = "updated_at", .cut = 16 } };
	table_print_rows(json_object_get(answer, "items"), 9, columns, stdout);
}

static int show(struct client *c, const struct options *o)
{
	const struct member query[] = { { "repo", .text = o->repo }, { "device", .text = o->device }, { 0 } };
	return verb_show(
		c, o, "/api/v1/calibration", query, print_cells, "nothing was calibrated yet; write: flopwatch calibrate");
}

static int forget(struct client *c, const struct options *o)
{
	const struct member request[] = { { "repo", .text = o->repo }, { "cells", .text = o->cells },
		{ "device", .text = o->device }, { 0 } };
	struct fw_err err = { 0 };
	json_t *answer = NULL;
	if (client_post_members(c, "/api/v1/calibration/forget", request, &answer, &err) != 0)
		return verb_fail(&err);
	long long n = value_integer(answer, "forgotten");
	if (o->json)
		verb_print_json(answer);
	else
		printf("forgot how runs of %lld cell%s varied\n", n, n == 1 ? "" : "s");
	json_decref(answer);
	return EXIT_OK;
}

int verb_calibrate(struct client *c, const struct options *o)
{
	const struct member request[] = { { "repo", .text = o->repo }, { "suite", .text = o->suite },
		{ "device", .text = o->device }, { "runs", .number = o->runs }, { 0 } };
	if (o->n_arg == 1 && strcmp(o->arg[0], "show") == 0)
		return show(c, o);
	if (o->n_arg == 1 && strcmp(o->arg[0], "forget") == 0)
		return forget(c, o);
	if (o->n_arg == 1)
		return verb_usage(
			"usage: flopwatch calibrate [show | forget] [--repo R] [--suite S] [--device UUID] [--cells GLOB] [--runs N]");
	return verb_request_jobs(c, o, "/api/v1/calibrate", request);
}
