/* calibrate: request comparisons of equal builds, print their results, delete them. */
#include <math.h>

#include "cli/internal.h"

static const char *underpowered(const json_t *cell)
{
	return json_is_true(json_object_get(cell, "underpowered")) ? "underpowered" : "";
}

/* Whether an earlier row is of the same cell: it is measured in several suites, or on several kinds of device. */
static bool is_repeated(const json_t *items, size_t at)
{
	const json_t *cell = json_array_get(items, at), *earlier;
	for (size_t i = 0; i < at; i++) {
		earlier = json_array_get(items, i);
		if (strcmp(value_text(earlier, "cell"), value_text(cell, "cell")) == 0 &&
			strcmp(value_text(earlier, "repo"), value_text(cell, "repo")) == 0)
			return true;
	}
	return false;
}

/*
 * "20 cells can show a slowdown of 1.54 % or more": of the noisiest cell, and how many rows are noisier than their threshold. A
 * cell has a row for each suite and kind of device.
 */
static void print_finding(const json_t *items)
{
	size_t n = 0, i, noisy = 0;
	double most_pct = NAN;
	json_t *cell;
	json_array_foreach(items, i, cell)
	{
		n += !is_repeated(items, i);
		noisy += json_is_true(json_object_get(cell, "underpowered"));
		most_pct = fmax(most_pct, value_number(cell, "mde_pct")); /* ignores a NAN */
	}
	printf("%zu cell%s ", n, n == 1 ? "" : "s");
	if (n < json_array_size(items))
		printf("(%zu rows) ", json_array_size(items));
	if (isnan(most_pct))
		fputs("measured", stdout);
	else
		printf("can show a slowdown of %.2f %% or more", most_pct);
	if (noisy)
		printf("; %zu %s too noisy for a slowdown of the threshold", noisy, noisy == 1 ? "is" : "are");
	putchar('\n');
}

static bool differs(const json_t *items, const char *key)
{
	const char *first = value_text(json_array_get(items, 0), key);
	size_t i;
	json_t *row;
	json_array_foreach(items, i, row)
	{
		if (strcmp(value_text(row, key), first) != 0)
			return true;
	}
	return false;
}

static void class_cell(struct table *t, const json_t *row)
{
	table_cell(t, "%lld %s", value_integer(row, "class"), value_text(row, "model"));
}

/* Whether another row is the same cell's with a newer version of its suite, whose noise applies. */
static bool is_outdated(const json_t *items, const json_t *row)
{
	static const char *const keys[] = { "cell", "suite", "repo" };
	size_t i;
	const json_t *other;
	json_array_foreach(items, i, other)
	{
		bool is_same = value_integer(other, "class") == value_integer(row, "class");
		for (int k = 0; k < 3 && is_same; k++)
			is_same = strcmp(value_text(other, keys[k]), value_text(row, keys[k])) == 0;
		if (is_same && strcmp(value_text(other, "updated_at"), value_text(row, "updated_at")) > 0)
			return true;
	}
	return false;
}

/* Own: json_decref. */
static json_t *newest_rows(const json_t *items)
{
	json_t *rows = json_array(), *row;
	size_t i;
	json_array_foreach(items, i, row)
	{
		if (!is_outdated(items, row))
			json_array_append(rows, row);
	}
	return rows;
}

static void print_cells(const json_t *answer)
{
	static const struct column suite = { "suite", .key = "suite" }, class = { "class", .cell = class_cell };
	static const struct column all[] = { { "cell", .key = "cell" }, { "~repo", .key = "repo" },
		{ ">A/A", .integer = "comparisons" }, { ">alarms", .integer = "alarms" }, { ">runs", .integer = "runs" },
		{ ">noise", .percent = "tau0_pct", .digits = 2 }, { ">smallest slowdown", .percent = "mde_pct", .digits = 2 },
		{ "", .text = underpowered }, { "~newest", .key = "updated_at", .cut = 16 } };
	enum { ALL = sizeof all / sizeof all[0] };
	json_t *items = newest_rows(json_object_get(answer, "items"));
	struct column shown[ALL + 2];
	int n = 0;
	size_t i;
	json_t *row;
	bool has_classes = false;
	json_array_foreach(items, i, row) has_classes =
		has_classes || value_integer(row, "class") != value_integer(json_array_get(items, 0), "class");
	for (int k = 0; k < ALL; k++) {
		shown[n++] = all[k];
		if (k == 0 && differs(items, "suite"))
			shown[n++] = suite;
		if (k == 0 && has_classes)
			shown[n++] = class;
	}
	print_finding(items);
	table_print_rows(items, n, shown, stdout);
	json_decref(items);
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
