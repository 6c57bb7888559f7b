/* profile.c - requests a profile of an alert, of a comparison, or of two commits; waits for it and prints it. */
#include "cli/internal.h"

#include <math.h>

/* ---- configurations ---- */

static const char *const sides[] = { "base", "target" };

/* A value of each side. */
struct figure_column {
	const char *title, *key;
};

static const struct figure_column resources[] = { { "~>DRAM GB/s", "dram_gb_s" }, { "~>L2 hits %", "l2_hit_pct" },
	{ "~>L1 hits %", "l1_hit_pct" }, { "~>bank conflicts %", "bank_conflicts_pct" }, { "~>tensor %", "tensor_pct" } };
static const struct figure_column uses[] = { { ">allocated MB", "allocated_mb" }, { "~>DRAM MB", "dram_mb" },
	{ "~>issue %", "issue_pct" }, { "~>warp execution %", "warp_execution_pct" }, { "~>load sectors %", "load_sector_pct" },
	{ "~>store sectors %", "store_sector_pct" }, { "~>long scoreboard %", "long_scoreboard_pct" },
	{ "~>barrier %", "barrier_pct" } };

enum { RESOURCES = sizeof resources / sizeof *resources, USES = sizeof uses / sizeof *uses, FIRST = 5, SECOND = 2 };
_Static_assert(FIRST + RESOURCES < TABLE_COLUMNS_MAX && SECOND + USES <= TABLE_COLUMNS_MAX, "the tables fit");

static bool has_figure(const json_t *rows, const char *key)
{
	size_t i;
	const json_t *row;
	json_array_foreach(rows, i, row) for (int s = 0; s < 2;
					      s++) if (isfinite(value_number(json_object_get(row, sides[s]), key))) return true;
	return false;
}

/* Choose the columns that at least one side of a cell has. Returns their number. Shape: out[n]. */
static int choose_columns(const json_t *rows, const struct figure_column *of, int n, const struct figure_column **out)
{
	int found = 0;
	for (int i = 0; i < n; i++)
		if (has_figure(rows, of[i].key))
			out[found++] = &of[i];
	return found;
}

static void print_rows(const json_t *rows, FILE *out)
{
	const char *titles[TABLE_COLUMNS_MAX] = { "cell", "side", ">ms", ">TFLOP/s", ">speedup" };
	const struct figure_column *shown[RESOURCES];
	int n = choose_columns(rows, resources, RESOURCES, shown);
	struct table t;
	size_t i;
	const json_t *row;
	for (int k = 0; k < n; k++)
		titles[FIRST + k] = shown[k]->title;
	titles[FIRST + n] = "~configuration";
	table_init(&t, FIRST + n + 1, titles);
	json_array_foreach(rows, i, row) for (int s = 0; s < 2; s++)
	{
		const json_t *side = json_object_get(row, sides[s]);
		table_cell(&t, "%s", s ? "" : value_text(row, "cell"));
		table_cell(&t, "%s", sides[s]);
		table_figure(&t, value_number(side, "ms"));
		table_figure(&t, value_number(side, "tflops"));
		table_figure(&t, s ? value_number(row, "speedup") : 1);
		for (int k = 0; k < n; k++)
			table_figure(&t, value_number(side, shown[k]->key));
		table_cell(&t, "%s", value_text(side, "configuration"));
	}
	table_print(&t, out);
	table_fini(&t);
}

/* Memory, and the use of warps and sectors, in a second table: one table is too wide for a terminal. */
static void print_uses(const json_t *rows, FILE *out)
{
	const char *titles[TABLE_COLUMNS_MAX] = { "cell", "side" };
	const struct figure_column *shown[USES];
	int n = choose_columns(rows, uses, USES, shown);
	struct table t;
	size_t i;
	const json_t *row;
	for (int k = 0; k < n; k++)
		titles[SECOND + k] = shown[k]->title;
	if (n == 0)
		return;
	fputc('\n', out);
	table_init(&t, SECOND + n, titles);
	json_array_foreach(rows, i, row) for (int s = 0; s < 2; s++)
	{
		table_cell(&t, "%s", s ? "" : value_text(row, "cell"));
		table_cell(&t, "%s", sides[s]);
		for (int k = 0; k < n; k++)
			table_figure(&t, value_number(json_object_get(row, sides[s]), shown[k]->key));
	}
	table_print(&t, out);
	table_fini(&t);
	if (!has_figure(rows, "issue_pct"))
		plain_line(out, "warps, sectors and stalls were not counted");
	else if (!has_figure(rows, "load_sector_pct") && !has_figure(rows, "long_scoreboard_pct"))
		plain_line(out, "sectors and stalls were not counted");
}

static void print_lengths(const json_t *rows, FILE *out)
{
	size_t i;
	const json_t *row;
	json_array_foreach(rows, i, row)
	{
		double base = value_number(row, "base"), target = value_number(row, "target");
		fprintf(out, "long over short: %s %s, TFLOP/s at %lld over %lld: base %.2f, target %.2f\n",
			value_text(row, "title"), value_text(row, "direction"), value_integer(row, "longest"),
			value_integer(row, "shortest"), base, target);
	}
}

/* Counters of each sparse cell next to those of its dense case: what skipping left. */
static void print_beside(const json_t *rows, FILE *out)
{
	static const struct figure_column figures[] = { { ">DRAM MB", "dram_mb" }, { ">dense", "dense_dram_mb" },
		{ ">L2 MB", "l2_mb" }, { ">dense", "dense_l2_mb" }, { ">issue %", "issue_pct" }, { ">dense", "dense_issue_pct" },
		{ ">stalled Mcycles", "stalled_mcycles" }, { ">dense", "dense_stalled_mcycles" } };
	enum { FIGURES = sizeof figures / sizeof *figures };
	const char *titles[SECOND + FIGURES] = { "beside its dense case", "side" };
	struct table t;
	size_t i;
	const json_t *row;
	if (json_array_size(rows) == 0)
		return;
	for (int k = 0; k < FIGURES; k++)
		titles[SECOND + k] = figures[k].title;
	table_init(&t, SECOND + FIGURES, titles);
	json_array_foreach(rows, i, row) for (int s = 0; s < 2; s++)
	{
		table_cell(&t, "%s", s ? "" : value_text(row, "cell"));
		table_cell(&t, "%s", sides[s]);
		for (int k = 0; k < FIGURES; k++)
			table_figure(&t, value_number(json_object_get(row, sides[s]), figures[k].key));
	}
	table_print(&t, out);
	table_fini(&t);
	fputc('\n', out);
}

/* Print each reason once, with the number of its cells. */
static void print_reasons(const json_t *cells, FILE *out)
{
	size_t i, k;
	const json_t *cell, *other;
	json_array_foreach(cells, i, cell)
	{
		const char *why = value_text(cell, "why");
		size_t alike = 0;
		bool reported = false;
		json_array_foreach(cells, k, other)
		{
			bool same = strcmp(value_text(other, "why"), why) == 0;
			reported = reported || (same && k < i);
			alike += same;
		}
		if (!*why || reported)
			continue;
		plain_line(out, "%zu cell%s: %s", alike, alike == 1 ? "" : "s", why);
	}
}

/* Print a finished profile (GET /api/v1/profiles/{id}) as a table of configurations. */
static void configurations_print(const json_t *profile, FILE *out)
{
	fprintf(out, "profile %lld  %s  %s ", value_integer(profile, "id"), value_text(profile, "repo"),
		value_text(profile, "suite"));
	for (int s = 0; s < 2; s++) {
		char key[32];
		snprintf(key, sizeof key, "%s_provider", sides[s]);
		fprintf(out, " %s %.12s", sides[s], value_text(profile, sides[s]));
		if (*value_text(profile, key))
			fputs(" by ", out), plain_print(out, value_text(profile, key));
	}
	fputs("\n\n", out);
	print_rows(json_object_get(profile, "configurations"), out);
	print_uses(json_object_get(profile, "configurations"), out);
	fputc('\n', out);
	print_beside(json_object_get(profile, "beside_dense"), out);
	print_lengths(json_object_get(profile, "long_over_short"), out);
	print_reasons(json_object_get(profile, "cells"), out);
	fprintf(out, "next: flopwatch why C%lld\n", value_integer(profile, "comparison"));
}

/* ---- profile ---- */

static int find_upstream(struct client *c, const char *repo, char *out, size_t size, struct fw_err *err)
{
	json_t *list = NULL, *row;
	size_t i;
	out[0] = '\0';
	int result = client_get(c, "/api/v1/repos", &list, err);
	json_array_foreach(json_object_get(list, "items"), i, row) if (strcmp(value_text(row, "name"), repo) == 0)
		snprintf(out, size, "%s", value_text(row, "upstream"));
	json_decref(list);
	if (result == 0 && !out[0])
		result = err_set(err, ERR_NOT_FOUND, "the daemon reports no upstream branch of %s; name two commits", repo);
	return result;
}

static int request_times(struct client *c, const struct options *o, const char *repo, const char *base, const char *target,
	json_t **job, struct fw_err *err)
{
	const struct member request[] = { { "repo", .text = repo }, { "base", .text = base }, { "target", .text = target },
		{ "suite", .text = o->suite }, { "cells", .text = o->cells }, { "device", .text = o->device },
		{ "base_provider", .text = o->base_provider }, { "target_provider", .text = o->target_provider },
		{ "base_config", .text = o->base_config }, { "target_config", .text = o->target_config },
		{ "quick", .is_set = true }, { 0 } };
	return client_post_members(c, "/api/v1/jobs", request, job, err);
}

/*
 * Compare both sides on every cell of --suite, one run per cell, in a comparison without a verdict. Without sides both are the
 * upstream branch.
 */
static int time_suite(struct client *c, const struct options *o, const char *repo, long long *comparison, struct fw_err *err)
{
	char upstream[256] = "", path[64];
	json_t *job = NULL, *verdict = NULL;
	int result = 0;
	if (o->n_arg == 0)
		result = find_upstream(c, repo, upstream, sizeof upstream, err);
	const char *base = o->n_arg ? o->arg[0] : upstream, *target = o->n_arg ? o->arg[1] : upstream;
	if (result == 0)
		result = request_times(c, o, repo, base, target, &job, err);
	snprintf(path, sizeof path, "/api/v1/jobs/%lld/verdict", value_integer(job, "id"));
	if (result == 0)
		result = follow_verdict(c, o, path, follow_deadline(o), &verdict, err);
	const json_t *suite = json_array_get(json_object_get(verdict, "suites"), 0);
	*comparison = value_integer(suite, "comparison");
	if (result == 0 && !*comparison)
		result = err_set(err, ERR_INVALID, "suite %s was not timed: J%lld is %s: %s", o->suite,
			value_integer(suite, "job"), value_text(suite, "state"), value_text(suite, "state_why"));
	json_decref(job);
	json_decref(verdict);
	return result;
}

/* Every cell of a comparison that was made for the profile. */
static int request_suite(struct client *c, const struct options *o, const char *repo, json_t **out, struct fw_err *err)
{
	long long comparison;
	if (time_suite(c, o, repo, &comparison, err) != 0)
		return -1;
	const struct member request[] = { { "comparison", .number = comparison }, { "cells", .text = o->cells },
		{ "every_cell", .is_set = true }, { 0 } };
	return client_post_members(c, "/api/v1/profiles", request, out, err);
}

/* of`: number of an alert or a comparison; NULL: two commits of a repository. */
static int request(struct client *c, const struct options *o, const char *repo, const char *of, const char *id, json_t **out,
	struct fw_err *err)
{
	long number = id ? strtol(id, NULL, 10) : 0;
	const struct member one[] = { { of, .number = number, .is_zero = number == 0 }, { "cells", .text = o->cells }, { 0 } };
	const struct member commits[] = { { "repo", .text = repo }, { "base", .text = o->arg[0] },
		{ "target", .text = o->arg[1] }, { "device", .text = o->device }, { "cells", .text = o->cells },
		{ "base_provider", .text = o->base_provider }, { "target_provider", .text = o->target_provider },
		{ "base_config", .text = o->base_config }, { "target_config", .text = o->target_config }, { 0 } };
	return client_post_members(c, "/api/v1/profiles", of ? one : commits, out, err);
}

static bool describe(const json_t *profile, char *text, size_t size)
{
	static const char *const open[] = { "queued", "assigned", "building", "checking", "measuring" };
	snprintf(text, size, "%s", value_text(profile, "state"));
	for (size_t i = 0; i < sizeof open / sizeof open[0]; i++)
		if (strcmp(text, open[i]) == 0)
			return true;
	return false;
}

/* Profile programs of the working tree. Returns the exit status; -1: --suite names none of them. */
static int profile_programs(const struct options *o)
{
	struct tree *t = mem_alloc_zero(1, sizeof *t);
	struct fw_err err = { 0 };
	int status = -1;
	if (tree_open(t, ".", &err) == 0 && programs_match(t, o->suite)) {
		err_clear(&err);
		status = programs_profile(t, o, &err) == 0 ? EXIT_OK : verb_fail_here(&err);
	}
	tree_free(t);
	free(t);
	return status;
}

static bool is_unsupported(const json_t *profile)
{
	const json_t *cells = json_object_get(profile, "cells"), *cell;
	size_t i;
	json_array_foreach(cells, i, cell)
	{
		if (strcmp(value_text(cell, "state"), "unsupported") != 0)
			return false;
	}
	return json_array_size(cells) > 0;
}

int verb_profile(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	json_t *requested = NULL, *profile = NULL;
	const char *of = NULL, *id = NULL;
	char repo[256] = "";
	int status = o->n_arg == 0 && o->suite && !o->repo ? profile_programs(o) : -1;
	if (status >= 0)
		return status;
	if (o->launches || o->warmup)
		return verb_usage(
			"flopwatch: profile takes --launches and --warmup only with --suite of a benchmark of this checkout");
	if (o->artefacts && (!o->suite || o->repo || o->n_arg == 1))
		return verb_usage(
			"flopwatch: profile takes --artefacts only with --suite, for this checkout or for two of its commits");
	if (o->artefacts)
		return artefacts_profile(o);
	status = EXIT_OK;
	if (o->n_arg == 0 && !o->suite)
		return verb_usage("flopwatch: profile takes two commits, an alert or a comparison, or a --suite");
	bool is_named = o->n_arg == 2 && (strcmp(o->arg[0], "alert") == 0 || strcmp(o->arg[0], "comparison") == 0);
	if (o->n_arg == 1 || is_named)
		of = why_object(is_named ? o->arg[0] : "", o->arg[o->n_arg - 1], &id);
	if (o->n_arg == 1 && !of)
		return verb_usage("flopwatch: profile takes two commits, A3 (an alert) or C32 (a comparison)");
	if (!of)
		status = checkout_repo(c, o, o->n_arg ? o->arg[1] : NULL, repo, sizeof repo);
	if (status != EXIT_OK)
		return status;
	status = -1;
	bool is_suite = !of && o->suite;
	if ((is_suite ? request_suite(c, o, repo, &requested, &err) : request(c, o, repo, of, id, &requested, &err)) == 0 &&
		follow_one(c, o, "profile", value_integer(requested, "id"), describe, &profile, &err) == 0) {
		bool is_table = is_suite && !o->json && strcmp(value_text(profile, "state"), "done") == 0;
		status = EXIT_OK;
		if (is_table)
			configurations_print(profile, stdout);
		else
			status = why_print(c, o, profile, NULL);
		if (status == EXIT_UNDECIDED || is_unsupported(profile)) /* it ended without a result */
			status = EXIT_ERROR;
	}
	json_decref(requested);
	json_decref(profile);
	return status < 0 ? verb_fail(&err) : status;
}
