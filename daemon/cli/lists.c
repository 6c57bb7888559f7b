/* Verbs that list the daemon's data: status, log, history, alerts, devices, notifications. */
#include <math.h>
#include <stdlib.h>

#include "cli/internal.h"
#include "lib/lib.h"
#include "model/model.h"

enum { LOG_MAX = 64 << 20, LOG_JSON_MAX = 6 * LOG_MAX };

/* The suite that decides, of several: "gemm, 1 of 2". */
static void suite_cell(struct table *t, const json_t *branch)
{
	const char *decides = value_text(branch, "suite");
	size_t n = json_array_size(json_object_get(branch, "suites"));
	if (n > 1)
		table_cell(t, "%s, 1 of %zu", decides, n);
	else
		table_cell_if(t, *decides, "%s", decides);
}

static void unfinished_cell(struct table *t, const json_t *branch)
{
	struct buf names;
	size_t i;
	json_t *name;
	buf_init(&names, 4096);
	json_array_foreach(json_object_get(branch, "unfinished"), i, name)
		buf_printf(&names, "%s%s", i ? ", " : "", json_string_value(name));
	table_cell_if(t, names.len, "%s", names.data);
	buf_fini(&names);
}

static void verdict_cell(struct table *t, const json_t *branch)
{
	const char *verdict = value_text(branch, "verdict");
	table_cell_if(t, *verdict, "%s", verdict);
}

static void judged_cell(struct table *t, const json_t *branch)
{
	const char *judged = value_text(branch, "compared");
	table_cell_if(t, *judged, "%.10s", judged);
}

static void comparison_cell(struct table *t, const json_t *branch)
{
	long long comparison = value_integer(branch, "comparison");
	table_cell_if(t, comparison, "%lld", comparison);
}

static void job_cell(struct table *t, const json_t *branch)
{
	const json_t *job = json_object_get(branch, "job");
	long long id = value_integer(job, "id");
	table_cell_if(t, id, "%lld %s", id, value_text(job, "state"));
}

int verb_status(struct client *c, const struct options *o)
{
	static const struct column columns[] = { { "~repo", .key = "repo" }, { "branch", .key = "display" },
		{ "tip", .key = "commit", .cut = 10 }, { "verdict", .cell = verdict_cell }, { "~judged", .cell = judged_cell },
		{ "~suite", .cell = suite_cell }, { "~waits for", .cell = unfinished_cell },
		{ "~>comparison", .cell = comparison_cell }, { "~job", .cell = job_cell } };
	struct fw_err err = { 0 };
	json_t *answer = NULL;
	struct buf path;
	if (!o->all && checkout_check(c, o, &err) != 0)
		return verb_fail(&err);
	buf_init(&path, 4096);
	buf_puts(&path, "/api/v1/branches");
	client_query(&path, "repo", o->repo);
	if (!o->all)
		client_query(&path, "watched", "yes");
	client_query(&path, "strict", o->strict ? "yes" : NULL);
	int result = client_get_all(c, path.data, &answer, &err);
	buf_fini(&path);
	if (result != 0)
		return verb_fail(&err);
	if (o->json) {
		verb_print_json(answer);
	} else {
		table_print_rows(json_object_get(answer, "items"), 9, columns, stdout);
		blockers_broken(c, o->repo);
	}
	json_decref(answer);
	return EXIT_OK;
}

/* The daemon sends it only as text. */
static void print_log_json(const char *job, const struct buf *text)
{
	struct buf out;
	struct jsonw j;
	buf_init(&out, LOG_JSON_MAX);
	jsonw_init(&j, &out);
	jsonw_object(&j);
	jsonw_kv_int(&j, "job", strtoll(job, NULL, 10));
	jsonw_key(&j, "log");
	jsonw_bytes(&j, text->data, text->len);
	jsonw_object_end(&j);
	puts(out.data);
	buf_fini(&out);
}

int verb_log(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	struct buf path, text;
	buf_init(&path, 256);
	buf_init(&text, LOG_MAX);
	buf_puts(&path, "/api/v1/jobs/");
	client_argument(&path, o->arg[0]);
	buf_puts(&path, "/log");
	int result = client_get_raw(c, path.data, &text, &err);
	if (result == 0 && o->json)
		print_log_json(o->arg[0], &text);
	else if (result == 0) /* output of a build must not control the terminal */
		result = plain_print_lines(stdout, text.data, text.len, &err);
	buf_fini(&path);
	buf_fini(&text);
	return result == 0 ? EXIT_OK : verb_fail(&err);
}

static void print_points(const json_t *items)
{
	static const char *const times[] = { "~finished", "commit", ">ms", ">change", "~95 % interval", "verdict",
		"~>comparison" };
	struct table t;
	size_t i;
	json_t *p;
	double most = NAN;
	char title[16];
	json_array_foreach(items, i, p) most = unit_more(most, value_number(p, "tflops"));
	bool flops = isfinite(most); /* no column if all values are unknown */
	struct unit unit = unit_of_rates(most);
	snprintf(title, sizeof title, ">%s", unit.name);
	const char *const rates[] = { "~finished", "commit", "~>ms", title, ">change", "~95 % interval", "verdict",
		"~>comparison" };
	table_init(&t, flops ? 8 : 7, flops ? rates : times);
	json_array_foreach(items, i, p)
	{
		double ms = value_number(p, "median_ms"), tflops = value_number(p, "tflops"),
		       change = value_number(p, "change_pct"), low = value_number(p, "ci_low_pct");
		table_cell(&t, "%.19s", value_text(p, "finished_at"));
		table_cell(&t, "%.10s", value_text(p, "commit"));
		char text[UNIT_FIGURE_SIZE];
		unit_ms(ms, text);
		table_cell_if(&t, *text, "%s", text);
		unit_rate(unit, tflops, text);
		if (flops)
			table_cell_if(&t, *text, "%s", text);
		table_cell_if(&t, !isnan(change), "%+.2f %%", change);
		table_cell_if(&t, !isnan(low), "%+.2f .. %+.2f", low, value_number(p, "ci_high_pct"));
		table_cell(&t, "%s", value_text(p, "verdict"));
		table_cell(&t, "%lld", value_integer(p, "comparison"));
	}
	table_print(&t, stdout);
	table_fini(&t);
}

/* "2026-11-23T12:00:00 gcc 12.2.0 to 12.3.0: -4.10 %, -3.9 % unpaired": a change of the environment. */
static void print_environments(const json_t *list)
{
	size_t i, k;
	json_t *change, *one;
	json_array_foreach(list, i, change)
	{
		double paired = value_number(json_object_get(change, "paired"), "change_pct");
		double unpaired = value_number(json_object_get(change, "unpaired"), "change_pct");
		printf("environment  %.19s  ", value_text(change, "seen_at"));
		json_array_foreach(json_object_get(change, "changed"), k, one)
		{
			const char *from = value_text(one, "from"), *to = value_text(one, "to");
			printf("%s%s %s to %s", k ? ", " : "", value_text(one, "what"), *from ? from : "none", *to ? to : "none");
		}
		fputs(isnan(paired) && isnan(unpaired) ? ": not known by how much" : ": ", stdout);
		if (!isnan(paired))
			printf("%+.2f %%%s", paired, isnan(unpaired) ? "" : ", ");
		if (!isnan(unpaired))
			printf("%+.1f %% unpaired", unpaired);
		putchar('\n');
	}
}

static void print_history(const json_t *answer)
{
	print_points(json_object_get(answer, "items"));
	print_environments(json_object_get(answer, "environments"));
}

int verb_history(struct client *c, const struct options *o)
{
	char repo[256];
	int status = checkout_repo(c, o, NULL, repo, sizeof repo);
	if (status != EXIT_OK)
		return status;
	const struct member query[] = { { "cell", .text = o->arg[0] }, { "repo", .text = repo }, { "branch", .text = o->branch },
		{ "device", .text = o->device }, { "limit", .number = o->limit }, { 0 } };
	return verb_show(c, o, "/api/v1/history", query, print_history, NULL);
}

/* "89abcdef01", or the number of suspected commits, or that a bisect is running. */
static void culprit_cell(struct table *t, const json_t *alert)
{
	const json_t *culprits = json_object_get(alert, "culprits"), *first = json_array_get(culprits, 0);
	size_t n = json_array_size(culprits);
	char more[32] = "";
	if (n > 1)
		snprintf(more, sizeof more, " and %zu more", n - 1);
	if (n == 0)
		table_cell(t, "%s", value_integer(alert, "bisect") ? "searching" : "-");
	else if (value_integer(first, "commits") == 1)
		table_cell(t, "%.10s%s", value_text(first, "to"), more);
	else
		table_cell(t, "%.10s..%.10s%s", value_text(first, "from"), value_text(first, "to"), more);
}

static const char *device_or_repo(const json_t *alert)
{
	const char *device = value_text(alert, "device");
	return *device ? device : value_text(alert, "repo");
}

static void cells_cell(struct table *t, const json_t *alert)
{
	table_cell(t, "%zu", json_array_size(json_object_get(alert, "cells")));
}

static void print_alerts(const json_t *answer)
{
	static const struct column columns[] = { { ">alert", .integer = "id" }, { "~kind", .key = "kind" },
		{ "state", .key = "state" }, { "~repo", .text = device_or_repo }, { "branch", .text = value_branch },
		{ "~commit", .key = "target", .cut = 10 }, { "~culprit", .cell = culprit_cell },
		{ ">worst", .percent = "worst_pct", .digits = 2, .is_change = true }, { "~>cells", .cell = cells_cell },
		{ "~opened", .key = "opened_at", .cut = 19 }, { "~title", .key = "title" } };
	table_print_rows(json_object_get(answer, "items"), 11, columns, stdout);
}

/* The current verdict on the alert's commit; "" not known. Shape: word[size]. */
static void find_word(struct client *c, const json_t *alert, char *word, size_t size)
{
	struct fw_err ignored = { 0 };
	json_t *verdict = NULL;
	struct buf path;
	word[0] = '\0';
	buf_init(&path, 1 << 16);
	buf_puts(&path, "/api/v1/commits/");
	client_argument(&path, value_text(alert, "target"));
	buf_puts(&path, "/verdict");
	client_query(&path, "repo", value_text(alert, "repo"));
	if (*value_text(alert, "branch"))
		client_query(&path, "branch", value_text(alert, "branch"));
	if (*value_text(alert, "target") && client_get(c, path.data, &verdict, &ignored) == 0)
		snprintf(word, size, "%s", value_text(verdict, "verdict"));
	json_decref(verdict);
	buf_fini(&path);
}

/* Result of the step: "A3 accepted: exact now passes; the next push is held to -75.15 %". */
static void print_step(struct client *c, const json_t *alert)
{
	enum alertstate state = alertstate_from_name(value_text(alert, "state"));
	const char *branch = value_branch(alert);
	char word[64];
	double worst = value_number(alert, "worst_pct");
	find_word(c, alert, word, sizeof word);
	printf("A%lld %s: ", value_integer(alert, "id"), alertstate_name(state));
	plain_print(stdout, *branch ? branch : value_text(alert, "device"));
	if (state == ALERTSTATE_ACCEPTED && verdict_from_name(word) == VERDICT_ACCEPTED)
		fputs(" now passes", stdout);
	else if (state == ALERTSTATE_ACKNOWLEDGED)
		printf(" stays %s until the alert is answered", *word ? word : "as it is");
	else if (*word)
		printf(" is %s", word);
	else
		fputs(" has no verdict", stdout);
	if (state == ALERTSTATE_ACCEPTED && alertkind_from_name(value_text(alert, "kind")) == ALERTKIND_REGRESSION &&
		!isnan(worst))
		printf("; the next push is held to %.4g %%", worst);
	else if (state == ALERTSTATE_RESOLVED)
		fputs("; a new measurement of the same loss opens it again", stdout);
	else if (state == ALERTSTATE_INVALID)
		fputs("; the measurement stays, and flopwatch retry JOB makes another", stdout);
	putchar('\n');
}

static int show_step(struct client *c, const struct options *o, struct fw_err *err)
{
	json_t *alert = NULL;
	int result = client_get_at(c, "/api/v1/alerts/", o->arg[1], "", &alert, err);
	if (result == 0 && o->json)
		verb_print_json(alert);
	else if (result == 0)
		print_step(c, alert);
	json_decref(alert);
	return result;
}

static int change_alert(struct client *c, const struct options *o)
{
	static const char *const steps[] = { "acknowledge", "accept", "resolve", "invalidate" };
	struct fw_err err = { 0 };
	bool known = false;
	for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
		known |= strcmp(o->arg[0], steps[i]) == 0;
	if (!known || o->n_arg != 2)
		return verb_usage("usage: flopwatch alerts acknowledge|accept|resolve|invalidate ID [--reason TEXT]");
	struct buf request;
	buf_init(&request, 65536);
	client_write(&request, (const struct member[]){ { "reason", .text = o->reason ? o->reason : "" }, { 0 } });
	int result = request.failed ? err_set(&err, ERR_INVALID, "the reason is too long")
				    : client_post_step(c, "alerts", o->arg[1], o->arg[0], request.data, NULL, &err);
	buf_fini(&request);
	if (result == 0)
		result = show_step(c, o, &err);
	return result == 0 ? EXIT_OK : verb_fail(&err);
}

int verb_alerts(struct client *c, const struct options *o)
{
	if (o->n_arg > 0)
		return change_alert(c, o);
	struct fw_err err = { 0 };
	const struct member query[] = { { "state", .text = o->state }, { "repo", .text = o->repo },
		{ "limit", .number = o->limit }, { 0 } };
	if (!o->all && checkout_check(c, o, &err) != 0)
		return verb_fail(&err);
	return verb_show(c, o, "/api/v1/alerts", query, print_alerts, NULL);
}

/* Why the device gets no jobs, or only some. */
static void device_why_cell(struct table *t, const json_t *d)
{
	const char *why = value_text(d, "state_why"), *odd = value_text(d, "stands_out");
	if (*odd)
		table_cell(t, "outlier of its class: %s%s%s", odd, *why ? "; " : "", why);
	else
		table_cell(t, "%s", why);
}

static void print_devices(const json_t *answer)
{
	static const struct column columns[] = { { "device", .key = "uuid" }, { "kind", .key = "kind" },
		{ "~name", .key = "name" }, { "state", .key = "state" }, { "~class", .integer = "class" },
		{ "~driver", .key = "driver" }, { "~why", .cell = device_why_cell } };
	table_print_rows(json_object_get(answer, "items"), 7, columns, stdout);
}

int verb_devices(struct client *c, const struct options *o)
{
	return verb_show(c, o, "/api/v1/devices", &(struct member){ 0 }, print_devices, NULL);
}

/* ---- notifications ------------------------------------------------------------------------------------------------------- */

static void attempts_cell(struct table *t, const json_t *notification)
{
	table_cell(t, "%zu", json_array_size(json_object_get(notification, "log")));
}

static void print_notifications(const json_t *answer)
{
	static const struct column columns[] = { { ">notification", .integer = "id" }, { "kind", .key = "kind" },
		{ "to", .key = "target" }, { "state", .key = "state" }, { ">attempts", .cell = attempts_cell },
		{ "~written", .key = "created_at", .cut = 19 }, { "~last error", .key = "last_error" } };
	table_print_rows(json_object_get(answer, "items"), 7, columns, stdout);
}

int verb_notifications(struct client *c, const struct options *o)
{
	const struct member query[] = { { "limit", .number = o->limit ? o->limit : 50 }, { "state", .text = o->state }, { 0 } };
	return verb_show(c, o, "/api/v1/notifications", query, print_notifications, NULL);
}

int verb_redeliver(struct client *c, const struct options *o)
{
	return verb_step(c, "notifications", o->arg[0], "redeliver");
}
