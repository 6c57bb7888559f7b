/* report.c - documented in internal.h. */
#include "cli/internal.h"

#include <math.h>

static void rate_cell(struct table *t, struct unit unit, double v)
{
	char text[UNIT_FIGURE_SIZE];
	unit_rate(unit, v, text);
	table_cell_if(t, *text, "%s", text);
}

static void side_cells(struct table *t, const json_t *side, const char *rate, struct unit unit)
{
	char text[UNIT_FIGURE_SIZE];
	unit_ms(value_number(side, "median_ms"), text);
	table_cell_if(t, *text, "%s", text);
	if (rate)
		rate_cell(t, unit, value_number(side, rate));
}

/* The target's speed relative to each peer: "97.3 % of cudnn", with a "~" if they were not measured together. */
static void peer_cell(struct table *t, const json_t *cell)
{
	char text[256] = "";
	size_t i, used = 0;
	json_t *peer;
	json_array_foreach(json_object_get(cell, "peers"), i, peer)
	{
		double pct = value_number(peer, "target_pct");
		if (!isnan(pct) && used < sizeof text)
			used += (size_t)snprintf(text + used, sizeof text - used, "%s%s%.1f %% of %s", used ? ", " : "",
				strcmp(value_text(peer, "basis"), "scaled") == 0 ? "~" : "", pct, value_text(peer, "provider"));
	}
	table_cell(t, "%s", text);
}

/* Verdicts are not truncated on a narrow terminal: flags are in a separate column, which is dropped first. */
static void verdict_cell(struct table *t, enum jobkind kind, const json_t *cell)
{
	const char *failure = value_text(cell, "failure");
	table_cell(t, "%s%s%s", verdict_label(kind, value_verdict(cell)), *failure ? ": " : "", failure);
}

void report_flags(const json_t *cell, char *out, size_t size)
{
	const json_t *flags = json_object_get(cell, "flags"), *flag;
	size_t i, used = 0;
	out[0] = '\0';
	json_array_foreach(flags, i, flag)
	{
		const char *word = json_string_value(flag);
		if (used < size && strcmp(word, "overwhelming") != 0) /* this flag is not a caution for the reader */
			used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "", word);
	}
}

static void flags_cell(struct table *t, const json_t *cell)
{
	char words[128];
	report_flags(cell, words, sizeof words);
	table_cell(t, "%s", words);
}

static bool is_in(const json_t *cell, const char *group, const char *direction)
{
	return strcmp(value_text(cell, "group"), group) == 0 && strcmp(value_text(cell, "direction"), direction) == 0;
}

/* Whether a list of any cell has elements. */
static bool any_has(const json_t *cells, const char *list)
{
	size_t i;
	json_t *cell;
	json_array_foreach(cells, i, cell) if (json_array_size(json_object_get(cell, list))) return true;
	return false;
}

/* TFLOP/s or a smaller unit for a whole table; bytes stay in GB/s. */
static struct unit unit_of(const json_t *cells, const char *rate, const char *group, const char *direction)
{
	double most = NAN;
	size_t i;
	json_t *cell;
	if (rate && strcmp(rate, "gb_s") == 0)
		return (struct unit){ "GB/s", 1 };
	json_array_foreach(cells, i, cell) if (is_in(cell, group, direction)) most =
		unit_max(most, unit_max(value_number(json_object_get(cell, "base"), "tflops"),
				       value_number(json_object_get(cell, "target"), "tflops")));
	return unit_of_rates(most);
}

static void group_table(const json_t *cells, enum jobkind kind, const char *group, const char *direction, FILE *out)
{
	struct table t;
	bool peers = any_has(cells, "peers"), flags = any_has(cells, "flags");
	const char *rate = NULL;
	size_t i;
	json_t *cell;
	json_array_foreach(cells, i, cell) rate = rate || !is_in(cell, group, direction) ? rate : value_rate(cell);
	struct unit unit = unit_of(cells, rate, group, direction);
	char base[16], target[16];
	snprintf(base, sizeof base, "~>%s", unit.name);
	snprintf(target, sizeof target, ">%s", unit.name);
	const char *titles[TABLE_COLUMNS_MAX] = { "cell", "~>base ms" };
	int n = 2;
	if (rate)
		titles[n++] = base;
	titles[n++] = rate ? "~>target ms" : ">target ms";
	if (rate)
		titles[n++] = target;
	titles[n++] = ">change";
	titles[n++] = "~95 % interval";
	titles[n++] = "~>runs";
	titles[n++] = "verdict";
	if (flags)
		titles[n++] = "~flags";
	if (peers)
		titles[n++] = "~peer";
	table_init(&t, n, titles);
	json_array_foreach(cells, i, cell)
	{
		double change = value_number(cell, "change_pct"), low = value_number(cell, "ci_low_pct");
		if (!is_in(cell, group, direction))
			continue;
		table_cell(&t, "%s", value_text(cell, "cell"));
		side_cells(&t, json_object_get(cell, "base"), rate, unit);
		side_cells(&t, json_object_get(cell, "target"), rate, unit);
		table_cell_if(&t, !isnan(change), "%+.2f %%", change);
		table_cell_if(&t, !isnan(low), "%+.2f .. %+.2f", low, value_number(cell, "ci_high_pct"));
		table_cell(&t, "%lld", value_integer(cell, "runs"));
		verdict_cell(&t, kind, cell);
		if (flags)
			flags_cell(&t, cell);
		if (peers)
			peer_cell(&t, cell);
	}
	fputc('\n', out);
	const struct family_group *known = family_group(group);
	plain_line(out, "%s %s", known ? known->title : group, direction);
	table_print(&t, out);
	table_fini(&t);
}

/* The phases of each cell of a table, below it. A phase that a side does not have is a dash. */
static void phase_table(const json_t *cells, const char *group, const char *direction, FILE *out)
{
	static const char *const columns[] = { "phases of", "phase", "~>base ms", "~>target ms", ">change", "~95 % interval" };
	struct table t;
	int n = 0;
	size_t i, k;
	json_t *cell, *phase;
	table_init(&t, 6, columns);
	json_array_foreach(cells, i, cell)
	{
		if (!is_in(cell, group, direction))
			continue;
		json_array_foreach(json_object_get(cell, "phases"), k, phase)
		{
			double change = value_number(phase, "change_pct"), low = value_number(phase, "ci_low_pct");
			n++;
			table_cell(&t, "%s", k ? "" : value_text(cell, "cell"));
			table_cell(&t, "%s", value_text(phase, "phase"));
			table_figure(&t, value_number(phase, "base_ms"));
			table_figure(&t, value_number(phase, "target_ms"));
			table_cell_if(&t, !isnan(change), "%+.2f %%", change);
			table_cell_if(&t, !isnan(low), "%+.2f .. %+.2f", low, value_number(phase, "ci_high_pct"));
		}
	}
	if (n) {
		fputc('\n', out);
		table_print(&t, out);
	}
	table_fini(&t);
}

static bool is_sparse(const json_t *cell)
{
	return json_is_object(json_object_get(cell, "sparsity"));
}

/* Share of the work that masks skip, and the resulting speedup. A side with an impossible claim is named. */
static void sparse_table(const json_t *cells, FILE *out)
{
	static const char *const columns[] = { "cell", "target", "~>base, times as fast as dense", ">target", ">1/density" },
				 *const keys[] = { "base", "target", "ideal" };
	struct table t;
	bool any = false;
	size_t i;
	json_t *cell;
	json_array_foreach(cells, i, cell) any = any || is_sparse(cell);
	if (!any)
		return;
	table_init(&t, 5, columns);
	json_array_foreach(cells, i, cell)
	{
		const json_t *over = json_object_get(cell, "over_baseline");
		if (!is_sparse(cell))
			continue;
		table_cell(&t, "%s", value_text(cell, "cell"));
		table_cell(&t, "%s", value_text(json_object_get(json_object_get(cell, "sparsity"), "target"), "text"));
		for (int k = 0; k < 3; k++)
			table_cell_if(&t, !isnan(value_number(over, keys[k])), "%.2f", value_number(over, keys[k]));
	}
	fputc('\n', out);
	plain_line(out, "speedup of masks");
	table_print(&t, out);
	table_fini(&t);
	json_array_foreach(cells, i, cell) for (int side = 0; side < 2; side++)
	{
		const char *name = side ? "target" : "base";
		const char *text = value_text(json_object_get(json_object_get(cell, "sparsity"), name), "contradiction");
		if (*text)
			plain_line(out, "WARNING %s: the %s %s", value_text(cell, "cell"), name, text);
	}
}

static double of_side(const json_t *cell, const char *object, const char *key)
{
	return value_number(json_object_get(cell, object), key);
}

/* Claimed traffic is what the module's kernels request, so it may exceed the memory bandwidth; this is marked. */
static bool claimed_cell(struct table *t, double gb_s, double peak_gb_s)
{
	table_cell_if(t, isfinite(gb_s), gb_s > peak_gb_s ? "%.4g (above memory)" : "%.4g", gb_s);
	return gb_s > peak_gb_s;
}

/* Memory allocated in addition to the buffers is measured. `peak_gb_s`: of the device's memory; NAN unknown. */
static void memory_table(const json_t *cells, double peak_gb_s, FILE *out)
{
	static const char *const columns[] = { "cell", "~>base claimed", ">claimed", "~>base MB", ">MB", "~>base further",
		">further" };
	struct table t;
	int above = 0;
	bool any = false;
	size_t i;
	json_t *cell;
	json_array_foreach(cells, i, cell) any = any || json_is_object(json_object_get(cell, "peak"));
	if (!any)
		return;
	table_init(&t, 7, columns);
	json_array_foreach(cells, i, cell)
	{
		table_cell(&t, "%s", value_text(cell, "cell"));
		for (int side = 0; side < 2; side++)
			above += claimed_cell(&t,
				of_side(cell, "moved", side ? "target_bytes" : "base_bytes") /
					of_side(cell, side ? "target" : "base", "median_ms") * 1e-6,
				peak_gb_s);
		for (int side = 0; side < 2; side++)
			table_figure(&t, of_side(cell, "peak", side ? "target_bytes" : "base_bytes") * 1e-6);
		for (int side = 0; side < 2; side++)
			table_figure(&t, of_side(cell, "taken", side ? "target_bytes" : "base_bytes") * 1e-6);
	}
	fputc('\n', out);
	plain_line(out, "claimed traffic in GB/s, memory in MB");
	table_print(&t, out);
	table_fini(&t);
	if (above)
		plain_line(out,
			"the memory of this device does %.0f GB/s: traffic above that is served by caches, or claimed too high",
			peak_gb_s);
}

static void print_lengths(const json_t *comparison, FILE *out)
{
	size_t i;
	const json_t *row;
	json_array_foreach(json_object_get(comparison, "long_over_short"), i, row)
	{
		char times[2][16] = { "-", "-" };
		double over[2] = { value_number(row, "base"), value_number(row, "target") };
		for (int side = 0; side < 2; side++)
			if (!isnan(over[side]))
				snprintf(times[side], sizeof times[side], "%.2f", over[side]);
		plain_line(out, "long over short: %s %s, throughput at %lld over %lld: base %s, target %s",
			value_text(row, "title"), value_text(row, "direction"), (long long)value_integer(row, "longest"),
			(long long)value_integer(row, "shortest"), times[0], times[1]);
	}
}

/* Whether no earlier cell belongs to the same table. */
static bool is_first_in(const json_t *cells, size_t n)
{
	const json_t *cell = json_array_get(cells, n);
	for (size_t i = 0; i < n; i++)
		if (is_in(json_array_get(cells, i), value_text(cell, "group"), value_text(cell, "direction")))
			return false;
	return true;
}

/* One table for each group and direction, in the order of the suite, each followed by that of its phases. */
static void tables(const json_t *cells, enum jobkind kind, FILE *out)
{
	size_t i;
	json_t *cell;
	json_array_foreach(cells, i, cell)
	{
		const char *group = value_text(cell, "group"), *direction = value_text(cell, "direction");
		if (!is_first_in(cells, i))
			continue;
		group_table(cells, kind, group, direction, out);
		phase_table(cells, group, direction, out);
	}
}

/* Why nothing was timed. Cells of modules have masks, cells of benchmarks have files. */
static const char *identity(const char *identical_by, const json_t *cells)
{
	bool module = !value_is_program(json_array_get(cells, 0));
	const char *reason = value_text(json_array_get(cells, 0), "reason");
	return !*identical_by                      ? ""
	       : *reason                           ? reason
	       : strcmp(identical_by, "tree") == 0 ? "same code by tree"
	       : module                            ? "same code by module"
						   : "the same files, run in the same way";
}

/* Choices that the user made for this run, so that its results are not mistaken for the commit's. */
static void print_pins(const json_t *comparison, FILE *out)
{
	static const char *const sides[] = { "base", "target" };
	for (int i = 0; i < 2; i++) {
		const char *pinned = value_text(json_object_get(comparison, sides[i]), "pinned");
		if (*pinned)
			plain_line(out, "pinned: the %s runs %s, so the result is not a commit's verdict", sides[i], pinned);
	}
}

/* The compilers of both sides, if they differ. */
static void print_toolchains(const json_t *comparison, FILE *out)
{
	plain_line(out, "environment: the base is built by %s", value_text(json_object_get(comparison, "base"), "toolchain"));
	plain_line(out, "environment: the target is built by %s, so the result is not a commit's verdict",
		value_text(json_object_get(comparison, "target"), "toolchain"));
}

static void print_shard(const json_t *comparison, FILE *out)
{
	const json_t *shard = json_object_get(comparison, "shard");
	char text[240];
	if (!json_is_object(shard))
		return;
	shard_describe(
		&(struct shard_counts){ (int)value_integer(shard, "number"), (int)value_integer(shard, "of"),
			(int)json_array_size(json_object_get(comparison, "cells")), (int)value_integer(shard, "suite_cells"),
			(int)value_integer(shard, "nights"), (int)value_integer(shard, "measured") },
		text, sizeof text);
	plain_line(out, "%s", text);
}

static void print_selfcheck(const json_t *comparison, FILE *out)
{
	if (strcmp(value_text(comparison, "base_how"), "given") == 0) {
		plain_line(out, "both sides are one commit: every change is noise of this machine");
		return;
	}
	const char *why = value_text(comparison, "alone");
	if (json_is_true(json_object_get(comparison, "new")))
		plain_line(out, "%s; it is compared from the next commit on", why);
	else if (*why)
		plain_line(out, "no base: the commit is compared with itself to learn the noise; %s", why);
	else
		plain_line(out,
			"no base: the commit is compared with itself to learn the noise; flopwatch log J%lld gives the reason",
			value_integer(comparison, "job"));
}

/* Conditions that a result depends on and that are not the commits. */
static void print_conditions(const json_t *comparison, FILE *out)
{
	print_pins(comparison, out);
	print_shard(comparison, out);
	if (jobkind_from_name(value_text(comparison, "kind")) == JOBKIND_ENVIRONMENT)
		print_toolchains(comparison, out);
}

/* Name changed settings, so that the user can relate the result to them. */
static void print_manifest(const json_t *comparison, FILE *out)
{
	const json_t *changed = json_object_get(comparison, "changed_files");
	const char *first = json_string_value(json_array_get(json_object_get(changed, "paths"), 0));
	const char *text = explain_manifest((int)value_integer(changed, "number"), first ? first : "");
	if (*text)
		plain_line(out, "%s", text);
}

bool report_is_base_known(const json_t *comparisons, size_t at)
{
	const json_t *one = json_array_get(comparisons, at), *other;
	for (size_t i = 0; i < at; i++) {
		other = json_array_get(comparisons, i);
		if (strcmp(value_text(other, "kind"), value_text(one, "kind")) == 0 &&
			strcmp(value_text(other, "base_how"), value_text(one, "base_how")) == 0 &&
			strcmp(value_text(other, "alone"), value_text(one, "alone")) == 0)
			return true;
	}
	return false;
}

void report_notes(const json_t *comparison, bool is_base_known, FILE *out)
{
	const char *identical = value_text(comparison, "identical_by");
	print_conditions(comparison, out);
	print_manifest(comparison, out);
	if (*identical)
		plain_line(out, "%s: nothing was timed", identity(identical, json_object_get(comparison, "cells")));
	if (jobkind_from_name(value_text(comparison, "kind")) == JOBKIND_SELFCHECK && !is_base_known)
		print_selfcheck(comparison, out);
	footnotes_notes(comparison, out);
}

void report_comparison(const json_t *comparison, FILE *out)
{
	const json_t *cells = json_object_get(comparison, "cells");
	const char *identical = value_text(comparison, "identical_by"), *isolation = value_text(comparison, "isolation");
	double gpu_s = value_number(comparison, "gpu_s");
	enum jobkind kind = jobkind_from_name(value_text(comparison, "kind"));
	bool is_with_peer = jobkind_is_side_by_side(kind);
	const char *peer = value_text(json_object_get(comparison, "base"), "provider");
	const char *branch = value_text(comparison, "branch");
	plain_line(out, "C%lld  %s  %s%s%s  %.12s..%.12s  %s: %s%s%s", value_integer(comparison, "id"),
		value_text(comparison, "repo"), branch, *branch ? "  " : "", value_text(comparison, "suite"),
		value_text(json_object_get(comparison, "base"), "commit"),
		value_text(json_object_get(comparison, "target"), "commit"), is_with_peer ? "result" : "verdict",
		!is_with_peer                                           ? value_text(comparison, "verdict")
		: *peer                                                 ? peer
		: kind == JOBKIND_CONFIG || kind == JOBKIND_ENVIRONMENT ? "the base"
									: "the default provider",
		*identical ? ", " : "", identity(identical, cells));
	print_conditions(comparison, out);
	if (!*identical) {
		tables(cells, kind, out);
		sparse_table(cells, out);
		memory_table(cells, value_number(json_object_get(comparison, "environment"), "peak_gb_s"), out);
		print_lengths(comparison, out);
	}
	fputc('\n', out);
	if (kind == JOBKIND_SELFCHECK)
		print_selfcheck(comparison, out);
	long long runs = value_integer(comparison, "runs");
	plain_line(out, "%lld run%s, device held %.1f s%s%s", runs, runs == 1 ? "" : "s", isnan(gpu_s) ? 0 : gpu_s,
		*isolation ? ", isolation " : "", isolation);
	footnotes_print(comparison, out);
}
