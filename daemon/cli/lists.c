/* Verbs that show what the daemon knows: status, log, history, alerts, devices. */
#include <math.h>
#include <stdlib.h>

#include "cli/internal.h"
#include "lib/lib.h"
#include "model/model.h"

enum { LOG_MAX = 64 << 20, LOG_JSON_MAX = 6 * LOG_MAX };

static void add_limit(struct buf *path, int limit)
{
	if (limit)
		buf_printf(path, "%climit=%d", strchr(path->data, '?') ? '&' : '?', limit);
}

/* Which of several suites decides: "gemm, 1 of 2". */
static void suite_cell(struct table *t, const json_t *branch)
{
	const char *decides = value_text(branch, "suite");
	size_t n = json_array_size(json_object_get(branch, "suites"));
	if (n > 1)
		table_cell(t, "%s, 1 of %zu", decides, n);
	else
		table_cell(t, "%s", *decides ? decides : "-");
}

static void unfinished_cell(struct table *t, const json_t *branch)
{
	struct buf names;
	size_t i;
	json_t *name;
	buf_init(&names, 4096);
	json_array_foreach(json_object_get(branch, "unfinished"), i, name)
		buf_printf(&names, "%s%s", i ? ", " : "", json_string_value(name));
	table_cell(t, "%s", names.len ? names.data : "-");
	buf_fini(&names);
}

static void print_branches(const json_t *items)
{
	static const char *const titles[] = { "~repo", "branch", "tip", "verdict", "~judged", "~suite", "~waits for",
		"~>comparison", "~job" };
	struct table t;
	table_init(&t, 9, titles);
	size_t i;
	json_t *branch;
	json_array_foreach(items, i, branch)
	{
		const json_t *job = json_object_get(branch, "job");
		const char *verdict = value_text(branch, "verdict"), *judged = value_text(branch, "compared");
		table_cell(&t, "%s", value_text(branch, "repo"));
		table_cell(&t, "%s", value_text(branch, "display"));
		table_cell(&t, "%.10s", value_text(branch, "commit"));
		table_cell(&t, "%s", *verdict ? verdict : "-");
		table_cell(&t, "%.10s", *judged ? judged : "-");
		suite_cell(&t, branch);
		unfinished_cell(&t, branch);
		if (value_integer(branch, "comparison"))
			table_cell(&t, "%lld", value_integer(branch, "comparison"));
		else
			table_cell(&t, "-");
		if (job && value_integer(job, "id"))
			table_cell(&t, "%lld %s", value_integer(job, "id"), value_text(job, "state"));
		else
			table_cell(&t, "-");
	}
	table_print(&t, stdout);
	table_fini(&t);
}

static int show_branches(struct client *c, const struct options *o, const char *path)
{
	struct fw_err err = { 0 };
	json_t *answer = NULL;
	if (client_get_all(c, path, &answer, &err) != 0)
		return verb_fail(&err);
	if (o->json)
		verb_print_json(answer);
	else
		print_branches(json_object_get(answer, "items"));
	json_decref(answer);
	return EXIT_OK;
}

int verb_status(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	struct buf path;
	if (!o->all && checkout_check(c, o, &err) != 0)
		return verb_fail(&err);
	buf_init(&path, 4096);
	buf_puts(&path, "/api/v1/branches");
	client_query(&path, "repo", o->repo);
	if (!o->all)
		client_query(&path, "watched", "yes");
	client_query(&path, "strict", o->strict ? "yes" : NULL);
	int status = show_branches(c, o, path.data);
	buf_fini(&path);
	if (status == EXIT_OK && !o->json)
		blockers_broken(c, o->repo);
	return status;
}

/* The daemon has it as text alone. */
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
	else if (result == 0) /* what a build printed must not steer the terminal */
		result = plain_print_lines(stdout, text.data, text.len, &err);
	buf_fini(&path);
	buf_fini(&text);
	return result == 0 ? EXIT_OK : verb_fail(&err);
}

/* A number with `digits` decimals and a unit; "-" where there is none. */
static void number_cell(struct table *t, int digits, const char *unit, double v)
{
	if (isnan(v))
		table_cell(t, "-");
	else if (*unit)
		table_cell(t, "%+.*f%s", digits, v, unit);
	else
		table_cell(t, "%.*f", digits, v);
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
	bool flops = isfinite(most); /* where none are known there is no column of dashes */
	struct unit unit = unit_of_rates(most);
	snprintf(title, sizeof title, ">%s", unit.name);
	const char *const rates[] = { "~finished", "commit", "~>ms", title, ">change", "~95 % interval", "verdict",
		"~>comparison" };
	table_init(&t, flops ? 8 : 7, flops ? rates : times);
	json_array_foreach(items, i, p)
	{
		double ms = value_number(p, "median_ms"), tflops = value_number(p, "tflops"),
		       change = value_number(p, "change_pct");
		table_cell(&t, "%.19s", value_text(p, "finished_at"));
		table_cell(&t, "%.10s", value_text(p, "commit"));
		char text[UNIT_FIGURE_SIZE];
		unit_ms(ms, text);
		table_cell(&t, "%s", *text ? text : "-");
		unit_rate(unit, tflops, text);
		if (flops)
			table_cell(&t, "%s", *text ? text : "-");
		number_cell(&t, 2, " %", change);
		if (isnan(value_number(p, "ci_low_pct")))
			table_cell(&t, "-");
		else
			table_cell(&t, "%+.2f .. %+.2f", value_number(p, "ci_low_pct"), value_number(p, "ci_high_pct"));
		table_cell(&t, "%s", value_text(p, "verdict"));
		table_cell(&t, "%lld", value_integer(p, "comparison"));
	}
	table_print(&t, stdout);
	table_fini(&t);
}

/* "2026-11-23T12:00:00  gcc 12.2.0 to 12.3.0: -4.10 %, -3.9 % unpaired": where what is around the device changed. */
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
	struct buf path;
	char repo[256];
	int status = checkout_repo(c, o, NULL, repo, sizeof repo);
	if (status != EXIT_OK)
		return status;
	buf_init(&path, 8192);
	buf_puts(&path, "/api/v1/history");
	client_query(&path, "cell", o->arg[0]);
	client_query(&path, "repo", repo);
	client_query(&path, "branch", o->branch);
	client_query(&path, "device", o->device);
	add_limit(&path, o->limit);
	status = verb_show_whole(c, o, &path, print_history);
	buf_fini(&path);
	return status;
}

/* "89abcdef01", or how many commits are suspected, or that it is being searched. */
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

static void print_alerts(const json_t *items)
{
	static const char *const titles[] = { ">alert", "~kind", "state", "~repo", "branch", "~commit", "~culprit", ">worst",
		"~>cells", "~opened", "~title" };
	struct table t;
	table_init(&t, 11, titles);
	size_t i;
	json_t *a;
	json_array_foreach(items, i, a)
	{
		const json_t *worst = json_object_get(a, "worst_pct");
		const char *device = value_text(a, "device");
		table_cell(&t, "%lld", value_integer(a, "id"));
		table_cell(&t, "%s", value_text(a, "kind"));
		table_cell(&t, "%s", value_text(a, "state"));
		table_cell(&t, "%s", *device ? device : value_text(a, "repo"));
		table_cell(&t, "%s", value_branch(a));
		table_cell(&t, "%.10s", value_text(a, "target"));
		culprit_cell(&t, a);
		if (json_is_number(worst))
			table_cell(&t, "%+.2f %%", json_number_value(worst));
		else
			table_cell(&t, "-");
		table_cell(&t, "%zu", json_array_size(json_object_get(a, "cells")));
		table_cell(&t, "%.19s", value_text(a, "opened_at"));
		table_cell(&t, "%s", value_text(a, "title"));
	}
	table_print(&t, stdout);
	table_fini(&t);
}

/* The word on the alert's commit, as it is now; "" not known. Shape: word[size]. */
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

/* What the step changed: "A3 accepted: exact now passes; the next push is held to -75.15 %". */
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
	struct buf path;
	json_t *alert = NULL;
	buf_init(&path, 4096);
	buf_puts(&path, "/api/v1/alerts/");
	client_argument(&path, o->arg[1]);
	int result = client_get(c, path.data, &alert, err);
	buf_fini(&path);
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
	if (!known || o->n_arg != 2) {
		fputs("usage: flopwatch alerts acknowledge|accept|resolve|invalidate ID [--reason TEXT]\n", stderr);
		return EXIT_USAGE;
	}
	struct buf request;
	struct jsonw j;
	buf_init(&request, 65536);
	jsonw_init(&j, &request);
	jsonw_object(&j);
	jsonw_kv_string(&j, "reason", o->reason ? o->reason : "");
	jsonw_object_end(&j);
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
	struct buf path;
	if (!o->all && checkout_check(c, o, &err) != 0)
		return verb_fail(&err);
	buf_init(&path, 4096);
	buf_puts(&path, "/api/v1/alerts");
	client_query(&path, "state", o->state);
	client_query(&path, "repo", o->repo);
	add_limit(&path, o->limit);
	int status = verb_show(c, o, &path, print_alerts, NULL);
	buf_fini(&path);
	return status;
}

/* Why it gets no jobs, or not any. */
static void device_why_cell(struct table *t, const json_t *d)
{
	const char *why = value_text(d, "state_why"), *odd = value_text(d, "stands_out");
	if (*odd)
		table_cell(t, "outlier of its class: %s%s%s", odd, *why ? "; " : "", why);
	else
		table_cell(t, "%s", why);
}

static void print_devices(const json_t *items)
{
	static const char *const titles[] = { "device", "kind", "~name", "state", "~class", "~driver", "~why" };
	struct table t;
	table_init(&t, 7, titles);
	size_t i;
	json_t *d;
	json_array_foreach(items, i, d)
	{
		table_cell(&t, "%s", value_text(d, "uuid"));
		table_cell(&t, "%s", value_text(d, "kind"));
		table_cell(&t, "%s", value_text(d, "name"));
		table_cell(&t, "%s", value_text(d, "state"));
		table_cell(&t, "%lld", value_integer(d, "class"));
		table_cell(&t, "%s", value_text(d, "driver"));
		device_why_cell(&t, d);
	}
	table_print(&t, stdout);
	table_fini(&t);
}

int verb_devices(struct client *c, const struct options *o)
{
	struct buf path;
	buf_init(&path, 256);
	buf_puts(&path, "/api/v1/devices");
	int status = verb_show(c, o, &path, print_devices, NULL);
	buf_fini(&path);
	return status;
}
