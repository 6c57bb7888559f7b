/* Peers: request comparisons of a branch with them, and list the results. */
#include "cli/internal.h"

static void cells_cell(struct table *t, const json_t *p)
{
	table_cell(t, "%lld of %lld", value_integer(p, "timed"), value_integer(p, "cells"));
}

static void print_peers(const json_t *answer)
{
	static const struct column columns[] = { { "repository", .key = "repo" }, { "peer", .key = "provider" },
		{ ">of its speed", .percent = "geomean_pct", .digits = 1 }, { ">cells", .cell = cells_cell },
		{ "commit", .key = "commit", .cut = 12 }, { "~suite", .key = "suite" }, { "~device", .key = "device" },
		{ ">comparison", .integer = "comparison" } };
	json_t *rows = json_array(), *p;
	size_t i;
	json_array_foreach(json_object_get(answer, "items"), i, p) if (json_is_true(json_object_get(p, "current")))
		json_array_append(rows, p);
	table_print_rows(rows, 8, columns, stdout);
	json_decref(rows);
}

static int show(struct client *c, const struct options *o)
{
	const struct member query[] = { { "repo", .text = o->repo }, { "device", .text = o->device }, { 0 } };
	return verb_show(
		c, o, "/api/v1/peers", query, print_peers, "no peer comparison yet; write: flopwatch peer --provider NAME");
}

int verb_peer(struct client *c, const struct options *o)
{
	char repo[256];
	if (o->n_arg == 1 && strcmp(o->arg[0], "show") == 0)
		return show(c, o);
	int status = checkout_repo(c, o, o->n_arg ? o->arg[0] : NULL, repo, sizeof repo);
	if (status != EXIT_OK)
		return status;
	const struct member request[] = { { "repo", .text = repo }, { "target", .text = o->n_arg ? o->arg[0] : NULL },
		{ "provider", .text = o->provider }, { "suite", .text = o->suite }, { "device", .text = o->device },
		{ "cells", .text = o->cells }, { 0 } };
	return verb_request_jobs(c, o, "/api/v1/peers", request);
}
