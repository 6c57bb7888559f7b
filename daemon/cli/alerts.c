/* alerts: lists alerts, two lines each, or answers one. */

#include "cli/internal.h"

#include <math.h>

/* ---- the list ---------------------------------------------------------------------------------------------------------- */

/* "89abcdef01", or the range of suspected commits, or that a bisect is running. */
static void culprit_text(const json_t *alert, char *out, size_t size)
{
	const json_t *culprits = json_object_get(alert, "culprits"), *first = json_array_get(culprits, 0);
	size_t n = json_array_size(culprits);
	char more[32] = "";
	if (n > 1)
		snprintf(more, sizeof more, " and %zu more", n - 1);
	if (n == 0)
		snprintf(out, size, "%s", value_integer(alert, "bisect") ? "bisecting" : "-");
	else if (value_integer(first, "commits") == 1)
		snprintf(out, size, "%.10s%s", value_text(first, "to"), more);
	else
		snprintf(out, size, "%.10s..%.10s%s", value_text(first, "from"), value_text(first, "to"), more);
}

static void culprit_cell(struct table *t, const json_t *alert)
{
	char text[80];
	culprit_text(alert, text, sizeof text);
	table_cell(t, "%s", text);
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

static void id_cell(struct table *t, const json_t *alert)
{
	table_cell(t, "A%lld", value_integer(alert, "id"));
}

static void print_table(const json_t *items)
{
	static const struct column columns[] = { { ">alert", .cell = id_cell }, { "~kind", .key = "kind" },
		{ "state", .key = "state" }, { "~repo", .text = device_or_repo }, { "branch", .text = value_branch },
		{ "~commit", .key = "target", .cut = 10 }, { "~culprit", .cell = culprit_cell },
		{ ">worst", .percent = "worst_pct", .digits = 2, .is_change = true }, { "~>cells", .cell = cells_cell },
		{ "~opened", .key = "opened_at", .cut = 19 }, { "~title", .key = "title" } };
	table_print_rows(items, 11, columns, stdout);
}

void alert_finding(const json_t *alert, char out[FINDING_SIZE])
{
	const json_t *cells = json_object_get(alert, "cells");
	const char *branch = value_branch(alert);
	struct finding f = { .subject = branch,
		.verdict = VERDICT_REGRESSION,
		.regressions = (int)json_array_size(cells),
		.worst_pct = value_number(alert, "worst_pct"),
		.least_pct = NAN,
		.why = "" };
	size_t i;
	const json_t *cell;
	json_array_foreach(cells, i, cell) f.least_pct = fmax(f.least_pct, value_number(cell, "change_pct"));
	if (*branch && f.worst_pct < 0)
		finding_text(&f, out);
	else
		snprintf(out, FINDING_SIZE, "%.200s%s%.250s", *branch ? branch : device_or_repo(alert), ": ",
			value_text(alert, "title"));
}

void alert_print_next(long long alert, enum alertstate state)
{
	if (state == ALERTSTATE_OPEN || state == ALERTSTATE_ACKNOWLEDGED)
		printf("next: push a fix, or: flopwatch alerts accept A%lld --reason ...\n", alert);
	else
		printf("next: flopwatch open A%lld\n", alert);
}

bool alert_is_missing(const json_t *alert)
{
	return alertkind_from_name(value_text(alert, "kind")) == ALERTKIND_MISSING;
}

void alert_print_step(const json_t *alert)
{
	enum alertstate state = alertstate_from_name(value_text(alert, "state"));
	long long id = value_integer(alert, "id");
	if (alert_is_missing(alert) && alertstate_is_live(state))
		printf("next: restore the cells, or accept that they were removed: flopwatch alerts accept A%lld --reason ...\n",
			id);
	else
		alert_print_next(id, state);
}

/* "open 6 h ago", or the answer: "accepted 2 d ago by local: known". */
static void print_answer(const json_t *alert)
{
	const json_t *events = json_object_get(alert, "events");
	const json_t *last = json_array_get(events, json_array_size(events) ? json_array_size(events) - 1 : 0);
	enum alertstate state = alertstate_from_name(value_text(alert, "state"));
	const char *who = value_text(last, "who"), *reason = value_text(last, "reason");
	char age[VALUE_AGE_SIZE];
	value_age(alert, state == ALERTSTATE_OPEN ? "opened_at" : "changed_at", age);
	printf("%s %s", alertstate_name(state), age);
	if (state == ALERTSTATE_OPEN)
		printf("  answer: flopwatch alerts accept A%lld --reason ...\n", value_integer(alert, "id"));
	else
		plain_line(stdout, "%s%s%s%s", *who ? " by " : "", who, *reason ? ": " : "", reason);
}

/* Print `before` and the first `n` bytes of untrusted text. */
static void print_start(const char *before, const char *text, size_t n)
{
	char part[160];
	snprintf(part, sizeof part, "%s%.*s", before, (int)(n < 120 ? n : 120), text);
	plain_print(stdout, part);
}

static void print_alert(const json_t *alert)
{
	char finding[FINDING_SIZE], culprit[80], id[24];
	char cause[VALUE_LABEL_SIZE];
	const json_t *first = json_array_get(json_object_get(alert, "culprits"), 0);
	bool is_target = strcmp(value_text(first, "to"), value_text(alert, "target")) == 0;
	const char *author = is_target ? value_text(alert, "author") : "";
	alert_finding(alert, finding);
	value_label(json_object_get(alert, "why"), "cause", cause);
	culprit_text(alert, culprit, sizeof culprit);
	snprintf(id, sizeof id, "A%lld", value_integer(alert, "id"));
	plain_line(stdout, "%-4s %s%s%s", id, finding, *cause ? ": " : "", cause);
	fputs("     ", stdout);
	plain_print(stdout, device_or_repo(alert));
	if (strcmp(culprit, "bisecting") == 0)
		fputs("  the culprit is being bisected", stdout);
	else if (strcmp(culprit, "-") != 0) {
		printf("  culprit %s", culprit);
		size_t n = strcspn(author, "<");
		if (n > 0)
			print_start(" by ", author, n - (n > 1 && author[n] && author[n - 1] == ' '));
	}
	fputs("  ", stdout);
	print_answer(alert);
}

static bool is_open(const json_t *alert)
{
	return alertstate_from_name(value_text(alert, "state")) == ALERTSTATE_OPEN;
}

/* The open alert with the largest slowdown, else the newest, as the pages order them. NULL: none is open. */
static const json_t *find_worst(const json_t *items, size_t *n_open)
{
	const json_t *worst = NULL;
	size_t i;
	json_t *alert;
	*n_open = 0;
	json_array_foreach(items, i, alert)
	{
		double pct = value_number(alert, "worst_pct"), least = value_number(worst, "worst_pct");
		if (!is_open(alert))
			continue;
		++*n_open;
		if (!worst || (!isnan(pct) && !(least <= pct)))
			worst = alert;
	}
	return worst;
}

/* "main is 4.0 % slower in 6 cells, and 2 more open alerts". An only alert has its finding in its first line. */
static void print_headline(const json_t *worst, size_t n_open, size_t n, bool is_long)
{
	char finding[FINDING_SIZE];
	if (n == 0) {
		puts("no alerts");
	} else if (!worst) {
		printf("no open alert; %zu %s answered\n", n, n == 1 ? "is" : "are");
	} else if (n > 1 || is_long) {
		alert_finding(worst, finding);
		plain_print(stdout, finding);
		if (n_open > 1)
			printf(", and %zu more open alert%s", n_open - 1, n_open == 2 ? "" : "s");
		putchar('\n');
	}
}

static void print_alerts(const json_t *items, bool is_long)
{
	size_t i, n = json_array_size(items), n_open;
	const json_t *worst = find_worst(items, &n_open);
	json_t *alert;
	print_headline(worst, n_open, n, is_long);
	if (is_long && n)
		print_table(items);
	json_array_foreach(items, i, alert) if (!is_long) print_alert(alert);
	if (worst)
		printf("next: flopwatch why A%lld\n", value_integer(worst, "id"));
	else
		puts("next: flopwatch status");
}

/* ---- live alerts -------------------------------------------------------------------------------------------------------- */

json_t *alert_live(struct client *c, const char *repo)
{
	json_t *all = json_array();
	struct buf path;
	struct fw_err err = { 0 };
	buf_init(&path, 4096);
	for (enum alertstate state = 0; state < ALERTSTATE_N && err.code == ERR_NONE; state++) {
		json_t *answer = NULL;
		if (!alertstate_is_live(state))
			continue;
		buf_clear(&path);
		buf_puts(&path, "/api/v1/alerts");
		client_query(&path, "state", alertstate_name(state));
		client_query(&path, "repo", repo);
		if (client_get_all(c, path.data, &answer, &err) == 0)
			json_array_extend(all, json_object_get(answer, "items"));
		json_decref(answer);
	}
	verb_warn_unknown("the alerts are", &err); /* lists of other objects are useful without them */
	buf_fini(&path);
	return all;
}

json_t *alert_slowest(const json_t *alerts, const char *repo, const char *branch)
{
	size_t i;
	json_t *alert, *slowest = NULL;
	json_array_foreach(alerts, i, alert)
	{
		double pct = value_number(alert, "worst_pct");
		enum alertkind kind = alertkind_from_name(value_text(alert, "kind"));
		bool is_slower = !isnan(pct) && (kind == ALERTKIND_REGRESSION || kind == ALERTKIND_DRIFT) &&
				 strcmp(value_text(alert, "repo"), repo) == 0 && strcmp(value_text(alert, "branch"), branch) == 0;
		if (is_slower && (!slowest || pct < value_number(slowest, "worst_pct")))
			slowest = alert;
	}
	return slowest;
}

/* ---- answers ------------------------------------------------------------------------------------------------------------- */

/* The current verdict on the alert's commit; "" not known. Shape: word[size]. */
static void find_word(struct client *c, const json_t *alert, char *word, size_t size)
{
	struct fw_err err = { 0 };
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
	if (*value_text(alert, "target") && client_get(c, path.data, &verdict, &err) == 0)
		snprintf(word, size, "%s", value_text(verdict, "verdict"));
	verb_warn_unknown("the verdict is", &err);
	json_decref(verdict);
	buf_fini(&path);
}

/* "; the next push is held to -75.2 % in sum/1000, and to the accepted slowdown in each of 2 other cells". */
static void print_accepted_slowdown(const json_t *alert)
{
	const json_t *cells = json_object_get(alert, "cells"), *worst = NULL, *cell;
	size_t i, n = json_array_size(cells);
	json_array_foreach(cells, i, cell)
	{
		double pct = value_number(cell, "change_pct");
		if (!isnan(pct) && (!worst || pct < value_number(worst, "change_pct")))
			worst = cell;
	}
	if (!worst)
		return;
	printf("; the next push is held to %.1f %% in ", value_number(worst, "change_pct"));
	plain_print(stdout, value_text(worst, "cell"));
	if (n == 2)
		fputs(", and to the accepted slowdown in the other cell", stdout);
	else if (n > 2)
		printf(", and to the accepted slowdown in each of %zu other cells", n - 1);
}

/* True if an accepted regression passes, but the commit does not. */
static bool is_held_back(enum verdict v)
{
	return v == VERDICT_FAILED || v == VERDICT_REJECTED || v == VERDICT_REGRESSION || v == VERDICT_UNDECIDED ||
	       v == VERDICT_NOT_COMPARABLE;
}

/* Result of the step: "A3 accepted: exact now passes; the next push is held to -75.2 % in sum/1000". */
static void print_step(struct client *c, const json_t *alert)
{
	enum alertstate state = alertstate_from_name(value_text(alert, "state"));
	const char *branch = value_branch(alert);
	char word[64];
	bool is_slowdown = alertkind_from_name(value_text(alert, "kind")) == ALERTKIND_REGRESSION;
	find_word(c, alert, word, sizeof word);
	printf("A%lld %s: ", value_integer(alert, "id"), alertstate_name(state));
	bool is_other = state == ALERTSTATE_ACCEPTED && is_slowdown && is_held_back(verdict_from_name(word));
	if (is_other)
		fputs("this slowdown passes, but ", stdout);
	plain_print(stdout, *branch ? branch : value_text(alert, "device"));
	if (state == ALERTSTATE_ACCEPTED && verdict_from_name(word) == VERDICT_ACCEPTED)
		fputs(" now passes", stdout);
	else if (state == ALERTSTATE_ACKNOWLEDGED)
		printf(" stays %s until the alert is answered", *word ? word : "as it is");
	else if (*word)
		printf(" is %s%s", word, is_other ? " by its other results" : "");
	else
		fputs(" has no verdict", stdout);
	if (state == ALERTSTATE_ACCEPTED && is_slowdown)
		print_accepted_slowdown(alert);
	else if (state == ALERTSTATE_RESOLVED)
		fputs("; a new measurement of the same slowdown opens it again", stdout);
	else if (state == ALERTSTATE_INVALID)
		fputs("; the measurement stays, and flopwatch retry JOB makes another", stdout);
	putchar('\n');
}

static int show_step(struct client *c, const struct options *o, struct fw_err *err)
{
	json_t *alert = NULL;
	int result = client_get_at(c, "/api/v1/alerts/", verb_id(o->arg[1], 'A'), "", &alert, err);
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
	bool needs_reason = strcmp(o->arg[0], "accept") == 0 || strcmp(o->arg[0], "invalidate") == 0;
	if (needs_reason && (!o->reason || !*o->reason))
		return verb_usage("flopwatch: accept and invalidate need a reason: --reason \"exact rows\"");
	struct buf request;
	buf_init(&request, 65536);
	client_write(&request, (const struct member[]){ { "reason", .text = o->reason ? o->reason : "" }, { 0 } });
	int result = request.failed ? err_set(&err, ERR_INVALID, "the reason is too long")
				    : client_post_step(c, "alerts", verb_id(o->arg[1], 'A'), o->arg[0], request.data, NULL, &err);
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
	json_t *answer = NULL;
	if (client_get_query(c, "/api/v1/alerts", query, &answer, &err) != 0)
		return verb_fail(&err);
	if (o->json)
		verb_print_json(answer);
	else
		print_alerts(json_object_get(answer, "items"), o->is_long);
	json_decref(answer);
	return EXIT_OK;
}
