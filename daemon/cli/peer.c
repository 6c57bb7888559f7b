/* Peers: ask for a branch to be measured beside them, and what that has shown. */
#include <math.h>

#include "cli/internal.h"
#include "lib/lib.h"

static void print_peers(const json_t *items)
{
	static const char *const titles[] = { "repository", "peer", ">of its speed", ">cells", "commit", "~suite", "~device",
		">comparison" };
	struct table t;
	size_t i;
	json_t *p;
	table_init(&t, 8, titles);
	json_array_foreach(items, i, p)
	{
		double pct = value_number(p, "geomean_pct");
		if (!json_is_true(json_object_get(p, "current")))
			continue;
		table_cell(&t, "%s", value_text(p, "repo"));
		table_cell(&t, "%s", value_text(p, "provider"));
		if (isnan(pct))
			table_cell(&t, "-");
		else
			table_cell(&t, "%.1f %%", pct);
		table_cell(&t, "%lld of %lld", value_integer(p, "timed"), value_integer(p, "cells"));
		table_cell(&t, "%.12s", value_text(p, "commit"));
		table_cell(&t, "%s", value_text(p, "suite"));
		table_cell(&t, "%s", value_text(p, "device"));
		table_cell(&t, "%lld", value_integer(p, "comparison"));
	}
	table_print(&t, stdout);
	table_fini(&t);
}

static int show(struct client *c, const struct options *o)
{
	struct buf path;
	buf_init(&path, 1024);
	buf_puts(&path, "/api/v1/peers");
	client_query(&path, "repo", o->repo);
	client_query(&path, "device", o->device);
	int status = verb_show(c, o, &path, print_peers, "no peer comparison yet; write: flopwatch peer --provider NAME");
	buf_fini(&path);
	return status;
}

static void write_request(struct buf *out, const struct options *o, const char *repo)
{
	struct jsonw j;
	jsonw_init(&j, out);
	jsonw_object(&j);
	jsonw_kv_string(&j, "repo", repo);
	if (o->n_arg)
		jsonw_kv_string(&j, "target", o->arg[0]);
	if (o->provider)
		jsonw_kv_string(&j, "provider", o->provider);
	if (o->suite)
		jsonw_kv_string(&j, "suite", o->suite);
	if (o->device)
		jsonw_kv_string(&j, "device", o->device);
	if (o->cells)
		jsonw_kv_string(&j, "cells", o->cells);
	jsonw_object_end(&j);
}

int verb_peer(struct client *c, const struct options *o)
{
	struct buf request;
	char repo[256];
	if (o->n_arg == 1 && strcmp(o->arg[0], "show") == 0)
		return show(c, o);
	int status = checkout_repo(c, o, o->n_arg ? o->arg[0] : NULL, repo, sizeof repo);
	if (status != EXIT_OK)
		return status;
	buf_init(&request, 65536);
	write_request(&request, o, repo);
	status = verb_request_jobs(c, o, "/api/v1/peers", &request);
	buf_fini(&request);
	return status;
}
