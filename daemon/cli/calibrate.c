/* Calibration: ask for comparisons of equal builds, what they have shown, and to forget it. */
#include <math.h>

#include "cli/internal.h"
#include "lib/lib.h"

static void figure(struct table *t, const json_t *cell, const char *key)
{
	double pct = value_number(cell, key);
	if (isfinite(pct))
		table_cell(t, "%.2f %%", pct);
	else
		table_cell(t, "-");
}

static void print_cells(const json_t *items)
{
	static const char *const titles[] = { "cell", "~repo", ">A/A", ">alarms", ">runs", ">noise", ">smallest loss", "",
		"~newest" };
	struct table t;
	size_t i;
	json_t *c;
	table_init(&t, 9, titles);
	json_array_foreach(items, i, c)
	{
		table_cell(&t, "%s", value_text(c, "cell"));
		table_cell(&t, "%s", value_text(c, "repo"));
		table_cell(&t, "%lld", value_integer(c, "comparisons"));
		table_cell(&t, "%lld", value_integer(c, "alarms"));
		table_cell(&t, "%lld", value_integer(c, "runs"));
		figure(&t, c, "tau0_pct");
		figure(&t, c, "mde_pct");
		table_cell(&t, "%s", json_is_true(json_object_get(c, "underpowered")) ? "underpowered" : "");
		table_cell(&t, "%.16s", value_text(c, "updated_at"));
	}
	table_print(&t, stdout);
	table_fini(&t);
}

static int show(struct client *c, const struct options *o)
{
	struct buf path;
	buf_init(&path, 1024);
	buf_puts(&path, "/api/v1/calibration");
	client_query(&path, "repo", o->repo);
	client_query(&path, "device", o->device);
	int status = verb_show(c, o, &path, print_cells, "nothing was calibrated yet; write: flopwatch calibrate");
	buf_fini(&path);
	return status;
}

static void kv_given(struct jsonw *j, const char *key, const char *value)
{
	if (value)
		jsonw_kv_string(j, key, value);
}

static int forget(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	struct buf request;
	struct jsonw j;
	json_t *answer = NULL;
	buf_init(&request, 4096);
	jsonw_init(&j, &request);
	jsonw_object(&j);
	kv_given(&j, "repo", o->repo);
	kv_given(&j, "cells", o->cells);
	kv_given(&j, "device", o->device);
	jsonw_object_end(&j);
	int result = request.failed ? err_set(&err, ERR_INVALID, "the request is too long")
				    : client_post(c, "/api/v1/calibration/forget", request.data, &answer, &err);
	buf_fini(&request);
	if (result != 0)
		return verb_fail(&err);
	long long n = value_integer(answer, "forgotten");
	if (o->json)
		verb_print_json(answer);
	else
		printf("forgot how runs of %lld cell%s varied\n", n, n == 1 ? "" : "s");
	json_decref(answer);
	return EXIT_OK;
}

static void write_request(struct buf *out, const struct options *o)
{
	struct jsonw j;
	jsonw_init(&j, out);
	jsonw_object(&j);
	kv_given(&j, "repo", o->repo);
	kv_given(&j, "suite", o->suite);
	kv_given(&j, "device", o->device);
	if (o->runs)
		jsonw_kv_int(&j, "runs", o->runs);
	jsonw_object_end(&j);
}

int verb_calibrate(struct client *c, const struct options *o)
{
	struct buf request;
	if (o->n_arg == 1 && strcmp(o->arg[0], "show") == 0)
		return show(c, o);
	if (o->n_arg == 1 && strcmp(o->arg[0], "forget") == 0)
		return forget(c, o);
	if (o->n_arg == 1) {
		fputs("usage: flopwatch calibrate [show | forget] [--repo R] [--suite S] [--device UUID] [--cells GLOB] [--runs "
		      "N]\n",
			stderr);
		return EXIT_USAGE;
	}
	buf_init(&request, 4096);
	write_request(&request, o);
	int status = verb_request_jobs(c, o, "/api/v1/calibrate", &request);
	buf_fini(&request);
	return status;
}
