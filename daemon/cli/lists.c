/* Verbs that list the daemon's data: history, devices, notifications. */
#include <ctype.h>
#include <math.h>
#include <time.h>

#include "cli/internal.h"

/* Whether points are of different branches, which then have a column. */
static bool has_branches(const json_t *items)
{
	const char *first = value_text(json_array_get(items, 0), "branch");
	size_t i;
	json_t *p;
	json_array_foreach(items, i, p)
	{
		if (strcmp(value_text(p, "branch"), first) != 0)
			return true;
	}
	return false;
}

static void print_points(const json_t *items)
{
	struct table t;
	size_t i;
	json_t *p;
	double most = NAN;
	char title[16];
	json_array_foreach(items, i, p) most = unit_max(most, value_number(p, "tflops"));
	bool flops = isfinite(most), branches = has_branches(items); /* no column whose values are all unknown or equal */
	struct unit unit = unit_of_rates(most);
	snprintf(title, sizeof title, ">%s", unit.name);
	const char *titles[9];
	int n = 0;
	titles[n++] = "~finished";
	if (branches)
		titles[n++] = "~branch";
	titles[n++] = "commit";
	titles[n++] = flops ? "~>ms" : ">ms";
	if (flops)
		titles[n++] = title;
	titles[n++] = ">change";
	titles[n++] = "~95 % interval";
	titles[n++] = "verdict";
	titles[n++] = "~>comparison";
	table_init(&t, n, titles);
	json_array_foreach(items, i, p)
	{
		double ms = value_number(p, "median_ms"), tflops = value_number(p, "tflops"),
		       change = value_number(p, "change_pct"), low = value_number(p, "ci_low_pct");
		table_cell(&t, "%.19s", value_text(p, "finished_at"));
		if (branches)
			table_cell_if(&t, *value_branch(p), "%s", value_branch(p));
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
		table_cell(&t, "C%lld", value_integer(p, "comparison"));
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
		fputs(isnan(paired) && isnan(unpaired) ? ": by an unknown amount" : ": ", stdout);
		if (!isnan(paired))
			printf("%+.2f %%%s", paired, isnan(unpaired) ? "" : ", ");
		if (!isnan(unpaired))
			printf("%+.1f %% unpaired", unpaired);
		putchar('\n');
	}
}

/* "CELL: 22 points, flat; last 264.1 TFLOP/s". */
static void print_finding(const json_t *answer)
{
	const json_t *items = json_object_get(answer, "items"), *newest = json_array_get(items, 0);
	size_t n = json_array_size(items), i, lost = 0, gained = 0;
	double tflops = value_number(newest, "tflops"), most = NAN;
	char last[UNIT_FIGURE_SIZE];
	json_t *p;
	json_array_foreach(items, i, p)
	{
		lost += value_verdict(p) == VERDICT_REGRESSION;
		gained += value_verdict(p) == VERDICT_IMPROVEMENT;
		most = unit_max(most, value_number(p, "tflops"));
	}
	printf("%zu point%s: ", n, n == 1 ? "" : "s");
	if (lost)
		printf("%zu regression%s%s", lost, lost == 1 ? "" : "s", gained ? ", " : "");
	if (gained)
		printf("%zu improvement%s", gained, gained == 1 ? "" : "s");
	if (!lost && !gained)
		fputs("no change beyond the threshold", stdout);
	struct unit unit = unit_of_rates(most); /* as in the table */
	unit_rate(unit, tflops, last);
	if (*last)
		printf("; newest %s %s", last, unit.name);
	putchar('\n');
}

static void print_history(const json_t *answer)
{
	print_finding(answer);
	print_points(json_object_get(answer, "items"));
	print_environments(json_object_get(answer, "environments"));
	const json_t *newest = json_array_get(json_object_get(answer, "items"), 0);
	if (newest)
		printf("next: flopwatch open C%lld\n", value_integer(newest, "comparison"));
}

enum { NEAR_CELLS = 3, NEAR_SIZE = 200 };

/* Letters and digits alone, in lower case, so that parse_hex is near BM_ParseHex. Shape: out[NEAR_SIZE]. */
static void fold(const char *text, char *out)
{
	size_t n = 0;
	for (; *text && n + 1 < NEAR_SIZE; text++)
		if (isalnum((unsigned char)*text))
			out[n++] = (char)tolower((unsigned char)*text);
	out[n] = '\0';
}

/* Name the cells of the repository whose keys contain the requested one, are contained in it, or differ by a few letters. */
static void add_near_cells(struct client *c, const char *repo, const char *wanted, struct fw_err *err)
{
	const struct member query[] = { { "repo", .text = repo }, { 0 } };
	struct fw_err ignored = { 0 };
	json_t *answer = NULL, *row;
	char near[NEAR_CELLS * 124] = "", a[NEAR_SIZE], b[NEAR_SIZE];
	size_t i, used = 0;
	int n = 0;
	fold(wanted, a);
	if (!*a || client_get_query(c, "/api/v1/cells", query, &answer, &ignored) != 0)
		return;
	json_array_foreach(json_object_get(answer, "items"), i, row)
	{
		const char *key = value_text(row, "cell");
		fold(key, b);
		bool is_near = strstr(b, a) || (*b && strstr(a, b)) || similar_distance(a, b) <= 3;
		if (is_near && n < NEAR_CELLS && used < sizeof near)
			used += (size_t)snprintf(near + used, sizeof near - used, "%s%.120s", n++ ? ", " : "", key);
	}
	if (n) {
		err_clear(err);
		err_set(err, ERR_NOT_FOUND, "repository %s has no cell %.200s; near it: %s", repo, wanted, near);
	}
	json_decref(answer);
}

int verb_history(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	json_t *answer = NULL;
	char repo[256];
	int status = checkout_repo(c, o, NULL, repo, sizeof repo);
	if (status != EXIT_OK)
		return status;
	const struct member query[] = { { "cell", .text = o->arg[0] }, { "repo", .text = repo }, { "branch", .text = o->branch },
		{ "device", .text = o->device }, { "limit", .number = o->limit }, { 0 } };
	if (client_get_query(c, "/api/v1/history", query, &answer, &err) != 0) {
		if (err.code == ERR_NOT_FOUND && !o->branch && !o->device)
			add_near_cells(c, repo, o->arg[0], &err);
		return verb_fail(&err);
	}
	if (o->json)
		verb_print_json(answer);
	else
		print_history(answer);
	json_decref(answer);
	return EXIT_OK;
}

/* Why the device gets no jobs, or only some. */
static void device_why_cell(struct table *t, const json_t *d)
{
	const char *why = value_text(d, "state_why"), *odd = value_text(d, "outlier");
	if (*odd)
		table_cell(t, "outlier of its class: %s%s%s", odd, *why ? "; " : "", why);
	else
		table_cell(t, "%s", why);
}

/* "1 of 2 devices is ready". */
static void print_readiness(const json_t *items)
{
	size_t n = json_array_size(items), i, ready = 0;
	json_t *device;
	json_array_foreach(items, i, device) ready += devicestate_from_name(value_text(device, "state")) == DEVICESTATE_OK;
	printf("%zu of %zu device%s %s ready\n", ready, n, n == 1 ? "" : "s", ready == 1 ? "is" : "are");
}

static void print_devices(const json_t *answer)
{
	static const struct column columns[] = { { "device", .key = "uuid" }, { "kind", .key = "kind" },
		{ "~name", .key = "name" }, { "state", .key = "state" }, { "~class", .integer = "class" },
		{ "~driver", .key = "driver" }, { "~why", .cell = device_why_cell } };
	const json_t *items = json_object_get(answer, "items");
	print_readiness(items);
	table_print_rows(items, 7, columns, stdout);
	puts(json_array_size(items) ? "next: flopwatch jobs" : "next: list workers in flopwatchd.yml, then: flopwatch doctor");
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
	if (json_array_size(json_object_get(answer, "items")) == 0) {
		puts("no notification; receivers are listed under webhooks in flopwatchd.yml, and flopwatch notify test NAME tries one");
		return;
	}
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

static void print_audit(const json_t *answer)
{
	static const struct column columns[] = { { "time", .key = "at", .cut = 19 }, { "who", .key = "who" },
		{ ">status", .integer = "status" }, { "path", .key = "path" } };
	const json_t *items = json_object_get(answer, "items");
	size_t n = json_array_size(items);
	printf("%zu newest request%s that may have changed something\n", n, n == 1 ? "" : "s");
	if (n)
		table_print_rows(items, 4, columns, stdout);
}

int verb_audit(struct client *c, const struct options *o)
{
	const struct member query[] = { { "limit", .number = o->limit ? o->limit : 50 }, { 0 } };
	return verb_show(c, o, "/api/v1/audit", query, print_audit, NULL);
}

int verb_redeliver(struct client *c, const struct options *o)
{
	return verb_step(c, "notifications", o->arg[0], "redeliver");
}

/* Find a notification among the newest ones. Own: the caller releases *out. */
static int find_notification(struct client *c, json_int_t id, json_t **out, struct fw_err *err)
{
	json_t *answer = NULL, *row;
	size_t i;
	if (client_get_query(
		    c, "/api/v1/notifications", (const struct member[]){ { "limit", .number = 200 }, { 0 } }, &answer, err) != 0)
		return -1;
	json_array_foreach(json_object_get(answer, "items"), i, row)
	{
		if (json_integer_value(json_object_get(row, "id")) == id)
			*out = json_incref(row);
	}
	json_decref(answer);
	return *out ? 0 : err_set(err, ERR_NOT_FOUND, "notification %lld is no longer among the newest ones", (long long)id);
}

static int print_test(const struct options *o, const json_t *row)
{
	const json_t *tries = json_object_get(row, "log"), *last = json_array_get(tries, json_array_size(tries) - 1);
	const char *error = json_string_value(json_object_get(last, "error"));
	const char *state = json_string_value(json_object_get(row, "state"));
	bool is_waiting = state && strcmp(state, "waiting") == 0;
	if (o->json)
		verb_print_json(row);
	else if (!error)
		printf("%s received the test message after %.1f s\n", o->arg[1],
			(double)json_integer_value(json_object_get(last, "duration_ms")) / 1000);
	else
		plain_line(stderr, "flopwatch: %s did not receive the test message: %s; the daemon %s", o->arg[1], error,
			is_waiting ? "repeats it for an hour" : "does not repeat it");
	return error ? EXIT_ERROR : EXIT_OK;
}

int verb_notify(struct client *c, const struct options *o)
{
	enum { WAIT_S = 60, POLL_MS = 200 };
	struct fw_err err = { 0 };
	json_t *answer = NULL, *row = NULL;
	if (strcmp(o->arg[0], "test") != 0)
		return verb_usage("usage: flopwatch notify test NAME");
	if (client_post_step(c, "receivers", o->arg[1], "test", "", &answer, &err) != 0)
		return verb_fail(&err);
	json_int_t id = json_integer_value(json_object_get(answer, "id"));
	json_decref(answer);
	for (int64_t began = clock_mono_ns(); clock_mono_ns() - began < (int64_t)WAIT_S * 1000000000;) {
		if (find_notification(c, id, &row, &err) != 0)
			return verb_fail(&err);
		if (json_array_size(json_object_get(row, "log")) > 0) {
			int status = print_test(o, row);
			json_decref(row);
			return status;
		}
		json_decref(row);
		row = NULL;
		(void)nanosleep(&(struct timespec){ .tv_nsec = (long)POLL_MS * 1000000 }, NULL);
	}
	err_set(&err, ERR_TIMEOUT, "%s has no answer after %d s; flopwatch notifications shows whether it arrives", o->arg[1],
		WAIT_S);
	return verb_fail(&err);
}
