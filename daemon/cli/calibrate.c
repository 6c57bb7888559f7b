/* Calibration: ask for comparisons of equal builds, and what they have shown. */
#include <stdio.h>
#include <string.h>

#include "base/jsonw.h"
#include "cli/table.h"
#include "cli/value.h"
#include "cli/verbs.h"

static void print_cells(const json_t *items)
{
	static const char *const titles[] = { "cell", ">A/A", ">alarms", ">launches", ">scatter", ">smallest loss", "" };
	struct table t;
	size_t i;
	json_t *c;
	table_init(&t, 7, titles);
	json_array_foreach(items, i, c)
	{
		table_cell(&t, "%s", value_text(c, "cell"));
		table_cell(&t, "%lld", value_integer(c, "comparisons"));
		table_cell(&t, "%lld", value_integer(c, "alarms"));
		table_cell(&t, "%lld", value_integer(c, "launches"));
		table_cell(&t, "%.2f %%", value_number(c, "tau_pct"));
		table_cell(&t, "%.2f %%", value_number(c, "mde_pct"));
		table_cell(&t, "%s", json_is_true(json_object_get(c, "blind")) ? "blind" : "");
	}
	table_print(&t, stdout);
	table_fini(&t);
}

static int show(struct client *c, const struct options *o)
{
	struct buf path;
	buf_init(&path, 1024);
	buf_puts(&path, "/api/v1/calibration");
	client_query(&path, "device", o->device);
	int status = verb_show(c, o, &path, print_cells, "nothing was calibrated yet; write: flopwatch calibrate");
	buf_fini(&path);
	return status;
}

static void write_wish(struct buf *out, const struct options *o)
{
	struct jsonw j;
	jsonw_init(&j, out);
	jsonw_object(&j);
	if (o->repo)
		jsonw_kv_string(&j, "repo", o->repo);
	if (o->suite)
		jsonw_kv_string(&j, "suite", o->suite);
	if (o->device)
		jsonw_kv_string(&j, "device", o->device);
	if (o->runs)
		jsonw_kv_int(&j, "runs", o->runs);
	jsonw_object_end(&j);
}

int verb_calibrate(struct client *c, const struct options *o)
{
	struct buf wish;
	if (o->n_arg == 1 && strcmp(o->arg[0], "show") == 0)
		return show(c, o);
	if (o->n_arg == 1) {
		fputs("usage: flopwatch calibrate [show] [--repo R] [--suite S] [--device UUID] [--runs N]\n", stderr);
		return EXIT_USAGE;
	}
	buf_init(&wish, 4096);
	write_wish(&wish, o);
	int status = verb_ask_jobs(c, o, "/api/v1/calibrate", &wish);
	buf_fini(&wish);
	return status;
}
