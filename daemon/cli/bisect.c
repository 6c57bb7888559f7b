/* bisect: ask for a search between two commits, follow it, print who did it. */

#include "cli/internal.h"
#include "lib/lib.h"

enum { RESTART_POLLS = 80 };

static int request(struct client *c, const struct options *o, const char *repo, json_t **out, struct fw_err *err)
{
	struct buf body;
	struct jsonw j;
	buf_init(&body, 65536);
	jsonw_init(&j, &body);
	jsonw_object(&j);
	jsonw_kv_string(&j, "repo", repo);
	jsonw_kv_string(&j, "good", o->arg[0]);
	jsonw_kv_string(&j, "bad", o->arg[1]);
	if (o->n_arg == 3)
		jsonw_kv_string(&j, "cells", o->arg[2]);
	if (o->suite)
		jsonw_kv_string(&j, "suite", o->suite);
	if (o->device)
		jsonw_kv_string(&j, "device", o->device);
	jsonw_object_end(&j);
	int result = client_post(c, "/api/v1/bisects", body.data, out, err);
	buf_fini(&body);
	return result;
}

static bool has_ended(const json_t *bisect)
{
	const char *state = value_text(bisect, "state");
	return strcmp(state, "listing") != 0 && strcmp(state, "measuring") != 0;
}

/* One line about where it is. */
static void describe(const json_t *bisect, char *text, size_t size)
{
	long long job = value_integer(bisect, "job");
	if (!job)
		snprintf(text, size, "%s", value_text(bisect, "state"));
	else if (!*value_text(bisect, "goal"))
		snprintf(text, size, "%lld commits: measuring both ends, job %lld", value_integer(bisect, "commits"), job);
	else
		snprintf(text, size, "%lld commits: job %lld, the %lld. measurement", value_integer(bisect, "commits"), job,
			value_integer(bisect, "jobs"));
}

/* Wait until it has ended. Own: *out is the caller's. Err: ERR_TIMEOUT. */
static int follow(struct client *c, const struct options *o, long long id, json_t **out, struct fw_err *err)
{
	int64_t end_ns = follow_deadline(o);
	struct follow_said said = follow_begin(o);
	char path[64], text[256], what[32];
	snprintf(path, sizeof path, "/api/v1/bisects/%lld", id);
	snprintf(what, sizeof what, "bisect %lld", id);
	for (int failures = 0;;) {
		json_t *bisect = NULL;
		int got = client_get(c, path, &bisect, err);
		if (got != 0 && (err->code != ERR_IO || ++failures > RESTART_POLLS))
			return -1;
		if (got == 0) {
			failures = 0;
			describe(bisect, text, sizeof text);
			follow_print(&said, what, text);
			if (has_ended(bisect)) {
				follow_end(&said);
				*out = bisect;
				return 0;
			}
		}
		err_clear(err); /* a daemon that restarts goes on with its searches */
		json_decref(bisect);
		if (clock_mono_ns() > end_ns)
			return err_set(err, ERR_TIMEOUT, "bisect %lld has not ended after %d s; it goes on", id, o->timeout_s);
		follow_pause();
	}
}

#define PROBABILITY_SHOWN 0.9999 /* more digits are none that a few runs can tell */

static void print_culprits(const json_t *culprits)
{
	static const char *const titles[] = { "culprit", ">commits", ">change", ">cells", ">comparison", "proof", ">probability",
		"subject" };
	struct table t;
	size_t i;
	json_t *culprit;
	table_init(&t, 8, titles);
	json_array_foreach(culprits, i, culprit)
	{
		long long commits = value_integer(culprit, "commits"), comparison = value_integer(culprit, "comparison");
		const json_t *change = json_object_get(culprit, "change_pct"),
			     *probability = json_object_get(culprit, "probability");
		if (commits == 1)
			table_cell(&t, "%.12s", value_text(culprit, "to"));
		else
			table_cell(&t, "%.12s..%.12s", value_text(culprit, "from"), value_text(culprit, "to"));
		table_cell(&t, "%lld", commits);
		if (json_is_number(change))
			table_cell(&t, "%+.1f %%", json_number_value(change));
		else
			table_cell(&t, "-");
		table_cell(&t, "%zu", json_array_size(json_object_get(culprit, "cells")));
		if (comparison)
			table_cell(&t, "%lld", comparison);
		else
			table_cell(&t, "-");
		table_cell(&t, "%s", json_is_true(json_object_get(culprit, "confirmed")) ? "measured" : "deduced");
		if (json_is_number(probability) && json_number_value(probability) > PROBABILITY_SHOWN)
			table_cell(&t, ">%.4f", PROBABILITY_SHOWN);
		else if (json_is_number(probability))
			table_cell(&t, "%.4f", json_number_value(probability));
		else
			table_cell(&t, "-");
		table_cell(&t, "%s", value_text(culprit, "subject"));
	}
	table_print(&t, stdout);
	table_fini(&t);
}

static int print_result(const struct options *o, const json_t *bisect, struct fw_err *err)
{
	const json_t *culprits = json_object_get(bisect, "culprits");
	const char *state = value_text(bisect, "state");
	if (o->json) {
		verb_print_json(bisect);
	} else if (strcmp(state, "done") == 0) {
		printf("bisect %lld  %s  %.12s..%.12s  %lld commits, %lld measurements: ", value_integer(bisect, "id"),
			value_text(bisect, "repo"), value_text(bisect, "good"), value_text(bisect, "bad"),
			value_integer(bisect, "commits"), value_integer(bisect, "jobs"));
		plain_print(stdout, value_text(bisect, "state_why"));
		putchar('\n');
		if (json_array_size(culprits))
			print_culprits(culprits);
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
	status = -1;
	if (request(c, o, repo, &requested, &err) == 0 && follow(c, o, value_integer(requested, "id"), &bisect, &err) == 0)
		status = print_result(o, bisect, &err);
	json_decref(requested);
	json_decref(bisect);
	return status < 0 ? verb_fail(&err) : status;
}
