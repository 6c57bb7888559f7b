/* calibrate: request comparisons of equal builds, print their results, delete them. */
#include <math.h>

#include "cli/internal.h"

static const char *underpowered(const json_t *cell)
{
	return json_is_true(json_object_get(cell, "underpowered")) ? "underpowered" : "";
}

/* "20 cells can show a loss of 1.54 % or more": of the noisiest cell, and how many are noisier than their threshold. */
static void print_finding(const json_t *items)
{
	size_t n = json_array_size(items), i, noisy = 0;
	double most_pct = NAN;
	json_t *cell;
	json_array_foreach(items, i, cell)
	{
		noisy += json_is_true(json_object_get(cell, "underpowered"));
		most_pct = fmax(most_pct, value_number(cell, "mde_pct")); /* ignores a NAN */
	}
	printf("%zu cell%s ", n, n == 1 ? "" : "s");
	if (isnan(most_pct))
		fputs("measured", stdout);
	else
		printf("can show a loss of %.2f %% or more", most_pct);
	if (noisy)
		printf("; %zu %s too noisy for a loss of the threshold", noisy, noisy == 1 ? "is" : "are");
	putchar('\n');
}

static void print_cells(const json_t *answer)
{
	static const struct column columns[] = { { "cell", .key = "cell" }, { "~repo", .key = "repo" },
		{ ">A/A", .integer = "comparisons" }, { ">alarms", .integer = "alarms" }, { ">runs", .integer = "runs" },
		{ ">noise", .percent = "tau0_pct", .digits = 2 }, { ">smallest loss", .percent = "mde_pct", .digits = 2 },
		{ "", .text = underpowered }, { "~newest", .key = "updated_at", .cut = 16 } };
	const json_t *items = json_object_get(answer, "items");
	print_finding(items);
	table_print_rows(items, 9, columns, stdout);
	puts("next: flopwatch calibrate");
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
		printf("deleted the measured noise of %lld cell%s\n", n, n == 1 ? "" : "s");
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
