/* Verbs that list the daemon's data: history, devices, notifications. */
#include <math.h>
#include <stdlib.h>

#include "cli/internal.h"
#include "lib/lib.h"
#include "model/model.h"

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
		fputs(isnan(paired) && isnan(unpaired) ? ": not known by how much" : ": ", stdout);
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
	double tflops = value_number(newest, "tflops");
	char last[UNIT_FIGURE_SIZE];
	json_t *p;
	json_array_foreach(items, i, p)
	{
		lost += value_verdict(p) == VERDICT_REGRESSION;
		gained += value_verdict(p) == VERDICT_IMPROVEMENT;
	}
	printf("%zu point%s: ", n, n == 1 ? "" : "s");
	if (lost)
		printf("%zu regression%s%s", lost, lost == 1 ? "" : "s", gained ? ", " : "");
	if (gained)
		printf("%zu improvement%s", gained, gained == 1 ? "" : "s");
	if (!lost && !gained)
		fputs("no change beyond the threshold", stdout);
	struct unit unit = unit_of_rates(tflops);
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
