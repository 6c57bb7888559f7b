/* why.c - why a cell regressed, from the data of a profile. */
#include "cli/internal.h"

#include <math.h>

enum { TRIED_SHOWN = 8, STALLS_SHOWN = 5 };

/* ---- one profile --------------------------------------------------------------------------------------------------------- */

static void explains_cell(struct table *t, const json_t *cause)
{
	table_cell(t, "%.4g ms", value_number(cause, "explained_ms"));
}

static void of_cell(struct table *t, const json_t *cause)
{
	table_cell(t, "%.4g ms", value_number(cause, "of_ms"));
}

static void print_causes(const json_t *causes)
{
	static const struct column columns[] = { { ">explains", .cell = explains_cell }, { ">of", .cell = of_cell },
		{ "how sure", .key = "confidence" }, { "why", .key = "sentence" } };
	table_print_rows(causes, 4, columns, stdout);
}

static void pair_cell(struct table *t, const json_t *base, const json_t *target, const char *key)
{
	long long a = value_integer(base, key), b = value_integer(target, key);
	if (json_is_object(base) && json_is_object(target) && a != b)
		table_cell(t, "%lld > %lld", a, b);
	else
		table_cell(t, "%lld", json_is_object(target) ? b : a);
}

static void print_kernels(const json_t *kernels)
{
	static const char *const titles[] = { "kernel", ">base ms", ">target ms", ">registers", "~>local bytes", "~>shared bytes",
		"~>CTAs/SM", "same code" };
	struct table t;
	size_t i;
	json_t *kernel;
	table_init(&t, 8, titles);
	json_array_foreach(kernels, i, kernel)
	{
		const json_t *base = json_object_get(kernel, "base"), *target = json_object_get(kernel, "target"),
			     *same = json_object_get(kernel, "same_code");
		table_cell(&t, "%s", value_text(kernel, "kernel"));
		table_figure(&t, value_number(base, "ms"));
		table_figure(&t, value_number(target, "ms"));
		pair_cell(&t, base, target, "registers");
		pair_cell(&t, base, target, "local_bytes");
		pair_cell(&t, base, target, "shared_bytes");
		pair_cell(&t, base, target, "ctas_per_sm");
		table_cell(&t, "%s",
			!json_is_object(target)  ? "only in the base"
			: !json_is_object(base)  ? "only in the target"
			: !json_is_boolean(same) ? "-"
			: json_is_true(same)     ? "yes"
						 : "no");
	}
	table_print(&t, stdout);
	table_fini(&t);
}

/* Print the configurations that a provider reports to have tried before it chose: "TILE=0 1 ms". */
static void print_tried(const json_t *tried, const char *side, const char *chosen)
{
	const json_t *one, *list = json_object_get(tried, "list");
	size_t i;
	if (json_array_size(list) == 0)
		return;
	printf("the %s tried %lld configurations:", side, value_integer(tried, "of"));
	json_array_foreach(list, i, one)
	{
		const char *config = value_text(one, "config");
		double ms = value_number(one, "ms");
		if (i == TRIED_SHOWN) {
			printf(", ... %zu more in --json", json_array_size(list) - i);
			break;
		}
		fputs(i ? ", " : " ", stdout);
		plain_print(stdout, config);
		if (isfinite(ms))
			printf(" %.4g ms", ms);
		if (strcmp(config, chosen) == 0)
			fputs(" (chosen)", stdout);
	}
	putchar('\n');
}

/* Where the warps of a kernel stall most, on both sides. */
static void print_stalls(const json_t *code)
{
	static const char *const titles[] = { "side", ">offset", ">% of samples", "most wait for", "instruction" };
	const char *name = *value_text(code, "target") ? value_text(code, "target") : value_text(code, "base");
	struct table t;
	table_init(&t, 5, titles);
	for (int side = 0; side < 2; side++) {
		const json_t *stalls = json_object_get(code, side ? "target_stalls" : "base_stalls");
		double samples = value_number(stalls, "samples");
		size_t i;
		json_t *line;
		json_array_foreach(json_object_get(stalls, "lines"), i, line)
		{
			if (i == STALLS_SHOWN || !(samples > 0))
				break;
			const char *reason = json_string_value(json_array_get(line, 2)),
				   *text = json_string_value(json_array_get(line, 4));
			table_cell(&t, "%s", side ? "target" : "base");
			table_cell(&t, "%04llx", (unsigned long long)json_integer_value(json_array_get(line, 0)));
			table_cell(&t, "%.1f", 100 * (double)json_integer_value(json_array_get(line, 1)) / samples);
			table_cell_if(&t, reason, "%s", reason);
			table_cell_if(&t, text && *text, "%s", text);
		}
	}
	plain_line(stdout, "where warps wait in %s", name);
	table_print(&t, stdout);
	table_fini(&t);
}

static void print_code(const json_t *codes)
{
	size_t i;
	json_t *code;
	json_array_foreach(codes, i, code)
	{
		if (json_is_object(json_object_get(code, "base_stalls")) ||
			json_is_object(json_object_get(code, "target_stalls")))
			print_stalls(code);
	}
}

/* `once`: a reason that was printed for all cells; `answer`: the printed one of the profile. */
static void print_cell(const json_t *cell, const char *once, const char *answer)
{
	const char *state = value_text(cell, "state"), *why = value_text(cell, "why"), *path = value_text(cell, "path");
	double base = value_number(cell, "base_ms"), target = value_number(cell, "target_ms");
	putchar('\n');
	plain_print(stdout, value_text(cell, "cell"));
	if (isfinite(base) && isfinite(target))
		printf("  %.4g ms > %.4g ms", base, target);
	if (strcmp(state, "done") == 0)
		printf("  read by %s", path);
	else
		printf("  %s", state);
	bool is_known = *why && strcmp(why, once) == 0;
	if (*why && strcmp(state, "done") == 0 && !is_known) {
		fputs(": ", stdout);
		plain_print(stdout, why);
	}
	putchar('\n');
	if ((!is_known || strcmp(state, "done") == 0) && strcmp(value_text(cell, "answer"), answer) != 0)
		plain_line(stdout, "why: %s", value_text(cell, "answer"));
	print_tried(json_object_get(cell, "base_tried"), "base", value_text(cell, "base_config"));
	print_tried(json_object_get(cell, "target_tried"), "target", value_text(cell, "target_config"));
	if (json_array_size(json_object_get(cell, "causes")))
		print_causes(json_object_get(cell, "causes"));
	if (json_array_size(json_object_get(cell, "kernels")))
		print_kernels(json_object_get(cell, "kernels"));
	print_code(json_object_get(cell, "code"));
}

static void print_diagnostics(const json_t *diagnostics)
{
	size_t i;
	json_t *row;
	json_array_foreach(diagnostics, i, row)
	{
		const char *code = value_text(row, "code"), *kernel = value_text(row, "kernel");
		plain_line(stdout, "ptxas, %s%s%s%s%s%s%s", value_text(row, "change"), *code ? ": (" : ": ", code,
			*code ? ") " : "", value_text(row, "what"), *kernel ? " in " : "", kernel);
	}
}

/* The reason that all cells have in common, such as missing counters; "": none. Own: the profile. */
static const char *common_reason(const json_t *cells)
{
	const char *first = value_text(json_array_get(cells, 0), "why");
	size_t i;
	json_t *cell;
	json_array_foreach(cells, i, cell) if (strcmp(value_text(cell, "why"), first) != 0) return "";
	return json_array_size(cells) > 1 ? first : "";
}

/* The sentence about what the profile explains; without an alert and a comparison, its two commits. Returns the alert's state. */
static enum alertstate print_finding(struct client *c, const json_t *profile)
{
	enum alertstate state = ALERTSTATE_OPEN;
	long long alert = value_integer(profile, "alert"), comparison = value_integer(profile, "comparison");
	struct fw_err err = { 0 };
	json_t *one = NULL;
	char path[64], text[FINDING_SIZE] = "";
	snprintf(path, sizeof path, alert ? "/api/v1/alerts/%lld" : "/api/v1/comparisons/%lld", alert ? alert : comparison);
	if ((alert || comparison) && client_get(c, path, &one, &err) == 0 && alert)
		alert_finding(one, text);
	else if (one)
		summary_finding(one, text);
	if (*text)
		plain_line(stdout, "%s", text);
	else
		plain_line(stdout, "%.12s against %.12s", value_text(profile, "target"), value_text(profile, "base"));
	if (alert && one)
		state = alertstate_from_name(value_text(one, "state"));
	verb_warn_unknown("the finding is", &err);
	json_decref(one);
	return state;
}

static void print_next(const json_t *profile, enum alertstate state)
{
	long long alert = value_integer(profile, "alert"), comparison = value_integer(profile, "comparison");
	if (alert)
		alert_print_next(alert, state);
	else if (comparison)
		printf("next: flopwatch reproduce C%lld\n", comparison);
	else
		printf("next: flopwatch log J%lld\n", value_integer(profile, "job"));
}

int why_print(struct client *c, const struct options *o, const json_t *profile, const char *cell)
{
	const json_t *cells = json_object_get(profile, "cells");
	const char *state = value_text(profile, "state");
	bool is_done = strcmp(state, "done") == 0;
	size_t i;
	int shown = 0;
	json_t *row;
	if (o->json) {
		verb_print_json(profile);
		return is_done ? EXIT_OK : EXIT_UNDECIDED;
	}
	enum alertstate answer = print_finding(c, profile);
	plain_line(stdout, "why: %s", value_text(profile, "answer"));
	if (o->is_long)
		plain_line(stdout, "profile %lld  %s  %.12s against %.12s", value_integer(profile, "id"),
			value_text(profile, "repo"), value_text(profile, "target"), value_text(profile, "base"));
	const char *once = common_reason(cells);
	if (*once)
		plain_line(stdout, "all cells: %s", once);
	print_diagnostics(json_object_get(profile, "diagnostics"));
	json_array_foreach(cells, i, row) if (!cell || strcmp(cell, value_text(row, "cell")) == 0)
	{
		print_cell(row, once, value_text(profile, "answer"));
		shown++;
	}
	if (shown || !cell)
		print_next(profile, answer);
	if (!is_done)
		return EXIT_UNDECIDED;
	if (!shown && cell) {
		plain_line(stderr, "flopwatch: profile %lld has no cell %s", value_integer(profile, "id"), cell);
		return EXIT_NOT_FOUND;
	}
	return EXIT_OK;
}

/* ---- comparisons without a profile ---------------------------------------------------------------------------------------- */

static bool has_tried(const json_t *row)
{
	const json_t *tried = json_object_get(row, "tried");
	return json_array_size(json_object_get(json_object_get(tried, "base"), "list")) > 0 ||
	       json_array_size(json_object_get(json_object_get(tried, "target"), "list")) > 0;
}

static void print_tried_of(const json_t *row, const char *side)
{
	const json_t *tried = json_object_get(json_object_get(row, "tried"), side);
	print_tried(tried, side, value_text(json_object_get(row, side), "configuration"));
}

/*
 * Print the sentences about the kernels that a program reports, and the configurations that providers tried. Returns the number of
 * cells.
 */
static int print_choices(const json_t *comparison, const char *cell)
{
	const json_t *row, *cause;
	size_t i, k;
	int shown = 0;
	json_array_foreach(json_object_get(comparison, "cells"), i, row)
	{
		const json_t *causes = json_object_get(json_object_get(row, "kernels"), "causes");
		bool is_requested = !cell || strcmp(cell, value_text(row, "cell")) == 0;
		if (!is_requested || (json_array_size(causes) == 0 && !has_tried(row)))
			continue;
		shown++;
		plain_line(stdout, "%s", value_text(row, "cell"));
		json_array_foreach(causes, k, cause) plain_line(
			stdout, "why, as the program reports: %s", json_string_value(cause) ? json_string_value(cause) : "");
		print_tried_of(row, "base");
		print_tried_of(row, "target");
	}
	return shown;
}

/* The reason of the cell that grew most, as the runner's records of both sides show it. */
static void print_cost_reason(const json_t *cells)
{
	const char *why = value_text(json_array_get(cells, 0), "why");
	plain_line(stdout, "why: %s",
		*why ? why : "not known, because provider, configuration and the kernels that the device shows do not differ");
}

/* The values of an alert of kind cost, which needs no profile, and the reason of each other cell that has another one. */
static void print_costs(const json_t *alert, const char *only)
{
	const json_t *cell, *cells = json_object_get(alert, "cells");
	char finding[FINDING_SIZE];
	size_t i;
	alert_finding(alert, finding);
	plain_line(stdout, "%s", finding);
	print_cost_reason(cells);
	json_array_foreach(cells, i, cell)
	{
		const char *key = value_text(cell, "cell"), *why = value_text(cell, "why");
		bool is_other = *why && strcmp(why, value_text(json_array_get(cells, 0), "why")) != 0;
		char values[COST_VALUES_SIZE];
		cost_values(value_text(alert, "cost"), value_number(cell, "target"), " instead of ", value_number(cell, "base"),
			values, sizeof values);
		if (!only || strcmp(only, key) == 0)
			plain_line(stdout, "%s: %s%s%s", key, values, is_other ? ": " : "", is_other ? why : "");
	}
	printf("next: flopwatch open C%lld\n", value_integer(alert, "comparison"));
}

/* Unmeasured cells have no profile. */
static void print_missing(const json_t *alert, const json_t *comparison)
{
	const char *base = value_text(json_object_get(comparison, "base"), "commit"), *target = value_text(alert, "target");
	char finding[FINDING_SIZE];
	bool has_diff = *base && strcmp(base, target) != 0;
	alert_finding(alert, finding);
	plain_line(stdout, "%s", finding);
	plain_line(stdout,
		"why: commit %.12s no longer measures these cells, because the suite, a filter, the manifest or the program has "
		"changed%s%.12s%s%.12s",
		target, has_diff ? "; see git diff " : "", has_diff ? base : "", has_diff ? " " : "", has_diff ? target : "");
	alert_print_step(alert);
}

/* Print the finding, and why its cause is not known. Returns false, and prints nothing, if a profile can be requested. */
static bool print_unprofiled(const json_t *alert, const json_t *comparison)
{
	char finding[FINDING_SIZE], why[SUMMARY_WHY_SIZE];
	if (!summary_unprofiled(comparison, why))
		return false;
	if (alert)
		alert_finding(alert, finding);
	else
		summary_finding(comparison, finding);
	plain_line(stdout, "%s", finding);
	plain_line(stdout, "why: %s", why);
	if (alert)
		alert_print_next(value_integer(alert, "id"), alertstate_from_name(value_text(alert, "state")));
	else
		printf("next: flopwatch open C%lld\n", value_integer(comparison, "id"));
	return true;
}

/* Print the cause that is known without a profile. Returns 1; 0 none is known; -1. */
static int print_without_profile(struct client *c, const char *of, const char *id, const char *cell, struct fw_err *err)
{
	char path[96];
	json_t *alert = NULL, *comparison = NULL;
	long long number = strtoll(id, NULL, 10);
	int result = 0;
	if (strcmp(of, "alert") == 0) {
		snprintf(path, sizeof path, "/api/v1/alerts/%s", id);
		result = client_get(c, path, &alert, err);
		number = value_integer(alert, "comparison");
	}
	if (result == 0 && alertkind_from_name(value_text(alert, "kind")) == ALERTKIND_COST) {
		print_costs(alert, cell);
		json_decref(alert);
		return 1;
	}
	snprintf(path, sizeof path, "/api/v1/comparisons/%lld", number);
	if (result == 0 && number > 0)
		result = client_get(c, path, &comparison, err);
	if (result == 0 && alert && alert_is_missing(alert)) {
		print_missing(alert, comparison);
		result = 1;
	} else if (result == 0) {
		result = print_choices(comparison, cell) > 0 || print_unprofiled(alert, comparison);
	}
	json_decref(alert);
	json_decref(comparison);
	return result;
}

/* ---- the verb ------------------------------------------------------------------------------------------------------------ */

/* The most useful profile: the newest with an explanation, else the newest. */
static const json_t *choose(const json_t *list)
{
	const json_t *items = json_object_get(list, "items");
	size_t i;
	json_t *row;
	json_array_foreach(items, i, row) if (*value_text(row, "sentence")) return row;
	return json_array_get(items, 0);
}

const char *why_object(const char *kind, const char *number, const char **id)
{
	bool has_c = verb_id(number, 'C') != number;
	const char *of = *kind ? kind : has_c ? "comparison" : "alert";
	*id = verb_id(number, strcmp(of, "alert") == 0 ? 'A' : 'C');
	return verb_is_number(*id) ? of : NULL;
}

enum { COMMIT_MIN = 7, OBJECT_ID_SIZE = 24 };

/* Find the evidence for a branch or commit: its live alert, else the comparison that decides its verdict. */
struct subject {
	char of[16], id[OBJECT_ID_SIZE];
};

static void set_subject(struct subject *s, const json_t *alert, long long comparison)
{
	snprintf(s->of, sizeof s->of, "%s", alert ? "alert" : "comparison");
	snprintf(s->id, sizeof s->id, "%lld", alert ? value_integer(alert, "id") : comparison);
}

/* The comparison that decides a verdict; without one the newest of a list. 0: none. */
static long long newest_of(const json_t *row, const json_t *comparisons)
{
	long long id = value_integer(row, "comparison"), newest = 0;
	size_t i;
	json_t *one;
	json_array_foreach(comparisons, i, one) newest = value_integer(one, "id") > newest ? value_integer(one, "id") : newest;
	return id ? id : newest;
}

/* Find the subject of a branch. Returns 1; 0 there is no such branch; -1. */
static int find_branch(struct client *c, const char *repo, const char *name, struct subject *s, struct fw_err *err)
{
	json_t *answer = NULL;
	int result = client_get_branches(c, repo, name, &answer, err);
	const json_t *row = json_array_get(json_object_get(answer, "items"), 0);
	if (result == 0 && row) {
		json_t *alerts = alert_live(c, repo);
		set_subject(s, alert_slowest(alerts, repo, value_text(row, "name")), newest_of(row, NULL));
		json_decref(alerts);
		result = 1;
	}
	json_decref(answer);
	return result;
}

/* The whole hash of the only commit of `repo` in a list. Err: ERR_CONFLICT several. Own: the list; "" none. */
static const char *only_commit(const json_t *commits, const char *repo, const char *prefix, struct fw_err *err)
{
	const char *whole = "";
	size_t i;
	json_t *row;
	json_array_foreach(commits, i, row)
	{
		if (strcmp(value_text(row, "repo"), repo) != 0)
			continue;
		if (*whole)
			err_set(err, ERR_CONFLICT, "several commits begin with %s; write more digits", prefix);
		whole = value_text(row, "sha");
	}
	return whole;
}

/* Find the subject of a commit. Returns 1; 0 there is no such commit; -1. */
static int find_commit(struct client *c, const char *repo, const char *sha, struct subject *s, struct fw_err *err)
{
	json_t *answer = NULL, *verdict = NULL, *alert, *found = NULL;
	size_t i;
	if (!oid_is_prefix(sha, COMMIT_MIN))
		return 0;
	int result = client_get_at(c, "/api/v1/commits/", sha, "", &answer, err);
	const char *whole = result == 0 ? only_commit(json_object_get(answer, "commits"), repo, sha, err) : "";
	if (err->code == ERR_NONE && *whole) {
		struct buf path;
		buf_init(&path, 1 << 16);
		buf_printf(&path, "/api/v1/commits/%s/verdict", whole);
		client_query(&path, "repo", repo);
		result = client_get(c, path.data, &verdict, err);
		buf_fini(&path);
	}
	if (err->code == ERR_NONE && *whole) {
		json_t *alerts = alert_live(c, repo);
		json_array_foreach(alerts, i, alert)
		{
			if (!found && strcmp(value_text(alert, "target"), whole) == 0)
				found = alert;
		}
		set_subject(s, found, newest_of(verdict, json_object_get(answer, "comparisons")));
		json_decref(alerts);
		result = 1;
	} else if (err->code == ERR_NONE || err->code == ERR_NOT_FOUND) {
		err_clear(err);
		result = 0;
	} else {
		result = -1;
	}
	json_decref(verdict);
	json_decref(answer);
	return result;
}

/* EXIT_OK, else a line was printed. */
static int find_subject(struct client *c, const struct options *o, struct subject *s)
{
	struct fw_err err = { 0 };
	char repo[256];
	const char *what = o->arg[0];
	int status = checkout_repo(c, o, what, repo, sizeof repo);
	if (status != EXIT_OK)
		return status;
	int found = find_branch(c, repo, what, s, &err);
	if (found == 0)
		found = find_commit(c, repo, what, s, &err);
	if (found == 0)
		(void)err_set(&err, ERR_NOT_FOUND,
			"%s is neither a branch nor a measured commit of repository %s; why also takes A3 (an alert) or C32 (a "
			"comparison)",
			what, repo);
	else if (found > 0 && strcmp(s->id, "0") == 0)
		(void)err_set(&err, ERR_NOT_FOUND, "%s has no comparison yet; flopwatch log %s has its newest job", what, what);
	return err.code == ERR_NONE ? EXIT_OK : verb_fail_of_name(&err);
}

int verb_why(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	char path[96];
	struct subject subject;
	json_t *list = NULL, *profile = NULL;
	bool is_named = o->n_arg > 1 && (strcmp(o->arg[0], "alert") == 0 || strcmp(o->arg[0], "comparison") == 0);
	const char *id, *of = why_object(is_named ? o->arg[0] : "", o->arg[is_named], &id),
			*cell = o->n_arg > 1 + is_named ? o->arg[1 + is_named] : NULL;
	if ((!of && is_named) || o->n_arg > 2 + is_named)
		return verb_usage(
			"flopwatch: why takes a branch, a commit, A3 (an alert) or C32 (a comparison); then perhaps a cell");
	if (!of) {
		int status = find_subject(c, o, &subject);
		if (status != EXIT_OK)
			return status;
		of = subject.of;
		id = subject.id;
	}
	snprintf(path, sizeof path, "/api/v1/profiles?%s=%s", of, id);
	int result = client_get(c, path, &list, &err);
	const json_t *row = result == 0 ? choose(list) : NULL;
	int known = result == 0 && !row && !o->json ? print_without_profile(c, of, id, cell, &err) : 0;
	if (known == 1) {
		json_decref(list);
		return EXIT_OK;
	}
	if (known < 0)
		result = -1;
	if (result == 0 && !row)
		result = err_set(
			&err, ERR_NOT_FOUND, "no profile yet; write: flopwatch profile %c%s", of[0] == 'a' ? 'A' : 'C', id);
	if (result == 0) {
		snprintf(path, sizeof path, "/api/v1/profiles/%lld", value_integer(row, "id"));
		result = client_get(c, path, &profile, &err);
	}
	int status = result == 0 ? why_print(c, o, profile, cell) : verb_fail(&err);
	json_decref(list);
	json_decref(profile);
	return status;
}
