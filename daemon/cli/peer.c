/* Peers: ask for a branch to be measured beside them, and what that has shown. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/jsonw.h"
#include "cli/place.h"
#include "cli/table.h"
#include "cli/value.h"
#include "cli/verbs.h"

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
	struct fw_err err = { 0 };
	struct buf path;
	json_t *answer = NULL;
	buf_init(&path, 1024);
	buf_puts(&path, "/api/v1/peers?repo=");
	client_argument(&path, o->repo ? o->repo : "");
	buf_puts(&path, "&device=");
	client_argument(&path, o->device ? o->device : "");
	int result = client_get(c, path.data, &answer, &err);
	buf_fini(&path);
	if (result != 0)
		return verb_fail(&err);
	const json_t *items = json_object_get(answer, "items");
	if (o->json) {
		json_dumpf(answer, stdout, JSON_INDENT(2));
		putchar('\n');
	} else if (json_array_size(items) == 0) {
		puts("nothing was measured beside a peer yet; write: flopwatch peer --provider NAME");
	} else {
		print_peers(items);
	}
	json_decref(answer);
	return EXIT_OK;
}

static void write_wish(struct buf *out, const struct options *o, const char *repo)
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
	struct fw_err err = { 0 };
	struct buf wish;
	char worktree[4096] = "", repo[256];
	json_t *answer = NULL, *id;
	size_t i;
	if (o->n_arg == 1 && strcmp(o->arg[0], "show") == 0)
		return show(c, o);
	bool here = place_worktree(worktree, sizeof worktree, NULL) == 0;
	if (place_repo(c, o, here ? worktree : NULL, repo, sizeof repo, &err) != 0)
		return verb_fail(&err);
	buf_init(&wish, 65536);
	write_wish(&wish, o, repo);
	int result = wish.failed ? err_set(&err, ERR_INVALID, "a name is too long")
				 : client_post(c, "/api/v1/peers", wish.data, &answer, &err);
	buf_fini(&wish);
	if (result != 0)
		return verb_fail(&err);
	if (o->json) {
		json_dumpf(answer, stdout, JSON_INDENT(2));
		putchar('\n');
	}
	json_array_foreach(json_object_get(answer, "jobs"), i, id)
	{
		if (!o->json)
			printf("job %lld queued; follow it with: flopwatch wait %lld\n", (long long)json_integer_value(id),
				(long long)json_integer_value(id));
	}
	json_decref(answer);
	return EXIT_OK;
}
