/* report.c - see report.h. */
#include "cli/output/report.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/buf.h"
#include "cli/output/plain.h"
#include "cli/output/table.h"
#include "cli/output/value.h"
#include "core/suite/part.h"
#include "core/suite/peers.h"
#include "core/verdict/cost.h"
#include "family/family.h"

enum { TABLES_MAX = 32, TEXT_MAX = 64 << 10 };

/* One line that may hold foreign words. */
static void line(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void line(FILE *out, const char *format, ...)
{
	va_list args;
	struct buf text;
	buf_init(&text, TEXT_MAX);
	va_start(args, format);
	buf_vprintf(&text, format, args);
	va_end(args);
	plain_print(out, text.data);
	fputc('\n', out);
	buf_fini(&text);
}

static void ms_cell(struct table *t, double v)
{
	if (isnan(v))
		table_cell(t, "-");
	else
		table_cell(t, "%.*f", v < 0.1 ? 5 : v < 10 ? 4 : 2, v);
}

static void rate_cell(struct table *t, double v)
{
	if (isnan(v))
		table_cell(t, "-");
	else
		table_cell(t, "%.*f", v < 1 ? 4 : 1, v);
}

static void side_cells(struct table *t, const json_t *side, const char *rate)
{
	ms_cell(t, value_number(side, "median_ms"));
	if (rate)
		rate_cell(t, value_number(side, rate));
}

/* By what its family shows a cell to be fast: "tflops", "gb_s"; NULL: there is its time alone to speak of. */
static const char *rate_of(const json_t *cell)
{
	static const char *const rates[] = { "tflops", "gb_s" }, *const sides[] = { "base", "target" };
	for (int i = 0; i < 4; i++)
		if (!isnan(value_number(json_object_get(cell, sides[i % 2]), rates[i / 2])))
			return rates[i / 2];
	return NULL;
}

static bool has_flops(const json_t *cell)
{
	const char *rate = rate_of(cell);
	return rate && strcmp(rate, "tflops") == 0;
}

/* The target's speed beside each peer: "97.3 % of cudnn", with a sign where it is not from side by side. */
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

static void verdict_cell(struct table *t, enum jobkind kind, const json_t *cell)
{
	const char *failure = value_text(cell, "failure");
	const json_t *flags = json_object_get(cell, "flags"), *flag;
	char words[128] = "";
	size_t i, used = 0;
	json_array_foreach(flags, i, flag) if (used < sizeof words) used +=
		(size_t)snprintf(words + used, sizeof words - used, "%s%s", used ? ", " : " (", json_string_value(flag));
	table_cell(
		t, "%s%s%s%s%s", verdict_word(kind, value_verdict(cell)), *failure ? ": " : "", failure, words, used ? ")" : "");
}

static bool has_flag(const json_t *cell, const char *name)
{
	const json_t *flags = json_object_get(cell, "flags"), *flag;
	size_t i;
	json_array_foreach(flags, i, flag) if (strcmp(json_string_value(flag), name) == 0) return true;
	return false;
}

static bool is_in(const json_t *cell, const char *group, const char *direction)
{
	return strcmp(value_text(cell, "group"), group) == 0 && strcmp(value_text(cell, "direction"), direction) == 0;
}

static bool has_peers(const json_t *cells)
{
	size_t i;
	json_t *cell;
	json_array_foreach(cells, i, cell) if (json_array_size(json_object_get(cell, "peers"))) return true;
	return false;
}

static void group_table(const json_t *cells, enum jobkind kind, const char *group, const char *direction, FILE *out)
{
	static const char *const rates[] = { "cell", "~>base ms", "~>TFLOP/s", "~>target ms", ">TFLOP/s", ">change",
		"~95 % interval", "~>launches", "verdict", "~peer" };
	static const char *const moved[] = { "cell", "~>base ms", "~>GB/s", "~>target ms", ">GB/s", ">change", "~95 % interval",
		"~>launches", "verdict", "~peer" };
	static const char *const times[] = { "cell", "~>base ms", ">target ms", ">change", "~95 % interval", "~>launches",
		"verdict", "~peer" };
	struct table t;
	bool peers = has_peers(cells);
	const char *rate = NULL;
	size_t i;
	json_t *cell;
	json_array_foreach(cells, i, cell) rate = rate || !is_in(cell, group, direction) ? rate : rate_of(cell);
	table_init(&t, (rate ? 9 : 7) + peers, !rate ? times : strcmp(rate, "gb_s") == 0 ? moved : rates);
	json_array_foreach(cells, i, cell)
	{
		double change = value_number(cell, "change_pct"), low = value_number(cell, "ci_low_pct");
		if (!is_in(cell, group, direction))
			continue;
		table_cell(&t, "%s", value_text(cell, "cell"));
		side_cells(&t, json_object_get(cell, "base"), rate);
		side_cells(&t, json_object_get(cell, "target"), rate);
		if (isnan(change))
			table_cell(&t, "-");
		else
			table_cell(&t, "%+.2f %%", change);
		if (isnan(low))
			table_cell(&t, "-");
		else
			table_cell(&t, "%+.2f .. %+.2f", low, value_number(cell, "ci_high_pct"));
		table_cell(&t, "%lld", value_integer(cell, "launches"));
		verdict_cell(&t, kind, cell);
		if (peers)
			peer_cell(&t, cell);
	}
	fputc('\n', out);
	const struct family_group *known = family_group(group);
	line(out, "%s %s", known ? known->title : group, direction);
	table_print(&t, out);
	table_fini(&t);
}

static bool is_sparse(const json_t *cell)
{
	return json_is_object(json_object_get(cell, "sparsity"));
}

static void times_as_fast(struct table *t, const json_t *over, const char *side)
{
	double times = value_number(over, side);
	if (isnan(times))
		table_cell(t, "-");
	else
		table_cell(t, "%.2f", times);
}

/* What masks leave out, and what that is worth. A side that says what cannot be is named. */
static void sparse_table(const json_t *cells, FILE *out)
{
	static const char *const columns[] = { "cell", "target", "~>base, times as fast as dense", ">target", ">1/density" };
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
		times_as_fast(&t, over, "base");
		times_as_fast(&t, over, "target");
		times_as_fast(&t, over, "ideal");
	}
	fputc('\n', out);
	line(out, "what masks leave out");
	table_print(&t, out);
	table_fini(&t);
	json_array_foreach(cells, i, cell) for (int side = 0; side < 2; side++)
	{
		const char *name = side ? "target" : "base";
		const char *text = value_text(json_object_get(json_object_get(cell, "sparsity"), name), "contradiction");
		if (*text)
			line(out, "WARNING %s: the %s %s", value_text(cell, "cell"), name, text);
	}
}

static double of_side(const json_t *cell, const char *object, const char *key)
{
	return value_number(json_object_get(cell, object), key);
}

static void figure_cell(struct table *t, double v)
{
	if (isfinite(v))
		table_cell(t, "%.4g", v);
	else
		table_cell(t, "-");
}

/* Bytes a second are what a module says that its kernels ask for; what is taken beside the buffers is measured. */
static void memory_table(const json_t *cells, FILE *out)
{
	static const char *const columns[] = { "cell", "~>base GB/s", ">GB/s", "~>base MB", ">MB", "~>base beside", ">beside" };
	struct table t;
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
			figure_cell(&t, of_side(cell, "moved", side ? "target_bytes" : "base_bytes") /
						of_side(cell, side ? "target" : "base", "median_ms") * 1e-6);
		for (int side = 0; side < 2; side++)
			figure_cell(&t, of_side(cell, "peak", side ? "target_bytes" : "base_bytes") * 1e-6);
		for (int side = 0; side < 2; side++)
			figure_cell(&t, of_side(cell, "taken", side ? "target_bytes" : "base_bytes") * 1e-6);
	}
	fputc('\n', out);
	line(out, "GB/s as claimed, MB, MB taken beside");
	table_print(&t, out);
	table_fini(&t);
}

static void tell_lengths(const json_t *comparison, FILE *out)
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
		line(out, "long over short: %s %s, throughput at %lld over %lld: base %s, target %s", value_text(row, "title"),
			value_text(row, "direction"), (long long)value_integer(row, "longest"),
			(long long)value_integer(row, "shortest"), times[0], times[1]);
	}
}

/* One table for each group and direction that there is, in the order of the suite. */
static void tables(const json_t *cells, enum jobkind kind, FILE *out)
{
	const json_t *first[TABLES_MAX];
	int n = 0;
	size_t i;
	json_t *cell;
	json_array_foreach(cells, i, cell)
	{
		bool is_new = n < TABLES_MAX;
		for (int k = 0; k < n; k++)
			is_new = is_new && !is_in(cell, value_text(first[k], "group"), value_text(first[k], "direction"));
		if (is_new)
			first[n++] = cell;
	}
	for (int k = 0; k < n; k++)
		group_table(cells, kind, value_text(first[k], "group"), value_text(first[k], "direction"), out);
}

/* The phase that explains at least half of what the cell lost, when there are several. Shape: text[size], "" none. */
static void worst_phase(const json_t *cell, char *text, size_t size)
{
	const json_t *phases = json_object_get(cell, "phases"), *worst = NULL;
	double cell_ms = value_number(json_object_get(cell, "target"), "median_ms") -
			 value_number(json_object_get(cell, "base"), "median_ms");
	double most_ms = cell_ms / 2;
	size_t i;
	json_t *phase;
	json_array_foreach(phases, i, phase)
	{
		double lost_ms = value_number(phase, "target_ms") - value_number(phase, "base_ms");
		if (cell_ms > 0 && lost_ms > most_ms) {
			most_ms = lost_ms;
			worst = phase;
		}
	}
	text[0] = '\0';
	if (worst && json_array_size(phases) > 1)
		snprintf(text, size, ", most of it in %s (%+.2f %%)", value_text(worst, "phase"),
			value_number(worst, "change_pct"));
}

/* The judged change as one of time: -20 % of the speed is 25 % more time. */
static double more_time_pct(const json_t *cell)
{
	return 100 * (1 / (1 + value_number(cell, "change_pct") / 100) - 1);
}

/* One line for a cell that a person has to look at. */
static void warning(const json_t *cell, FILE *out)
{
	enum verdict verdict = value_verdict(cell);
	const char *reason = value_text(cell, "reason"), *name = value_text(cell, "cell");
	const char *failure = value_text(cell, "failure");
	const json_t *bursts = json_object_get(cell, "sustained");
	const char *parts = value_text(cell, "parts"), *why = value_text(bursts, "why");
	char phase[128];
	worst_phase(cell, phase, sizeof phase);
	const json_t *mean = json_object_get(cell, "mean");
	bool by_mean = decider_from_name(value_text(cell, "decided_by")) == DECIDER_MEAN;
	if (by_mean)
		line(out, "%s%s %s %.2f %% TFLOP/s on average (threshold %.2f %%): %s; the typical call %+.2f %%%s",
			verdict == VERDICT_IMPROVEMENT ? "" : "WARNING ", name,
			verdict == VERDICT_IMPROVEMENT ? "gained" : "lost", fabs(value_number(mean, "change_pct")),
			value_number(cell, "threshold_pct"), value_text(mean, "text"), value_number(cell, "change_pct"),
			json_is_true(json_object_get(cell, "borderline")) ? ", borderline" : "");
	else if (has_flag(cell, "sustained") && verdict == VERDICT_IMPROVEMENT)
		line(out, "%s gained %.2f %% TFLOP/s once clocks settle under its power draw (in pairs %+.2f %%)%s%s", name,
			value_number(bursts, "change_pct"), value_number(cell, "change_pct"), *why ? ": " : "", why);
	else if (has_flag(cell, "sustained"))
		line(out, "WARNING %s lost %.2f %% TFLOP/s once clocks settle under its power draw (in pairs %+.2f %%)%s%s", name,
			-value_number(bursts, "change_pct"), value_number(cell, "change_pct"), *why ? ": " : "", why);
	else if (verdict == VERDICT_REGRESSION && !has_flops(cell))
		line(out, "WARNING %s takes %.2f %% more time (speed %+.2f %%, threshold %.2f %%)%s", name, more_time_pct(cell),
			value_number(cell, "change_pct"), value_number(cell, "threshold_pct"),
			json_is_true(json_object_get(cell, "borderline")) ? ", borderline" : "");
	else if (verdict == VERDICT_REGRESSION)
		line(out, "WARNING %s lost %.2f %% TFLOP/s (threshold %.2f %%)%s%s%s%s", name, -value_number(cell, "change_pct"),
			value_number(cell, "threshold_pct"), phase,
			json_is_true(json_object_get(cell, "borderline")) ? ", borderline" : "", *parts ? ": " : "", parts);
	else if (verdict == VERDICT_FAILED || verdict == VERDICT_REJECTED || verdict == VERDICT_NOT_COMPARABLE)
		line(out, "WARNING %s %s: %s%s%s", name, verdict_name(verdict), failure, *reason && *failure ? ": " : "", reason);
	else if (verdict == VERDICT_UNDECIDED)
		line(out, "WARNING %s undecided: %s", name, *reason ? reason : "the interval did not clear the threshold");
	if (has_flag(cell, "tail") && !json_is_object(mean)) /* of a comparison before means were judged */
		line(out, "WARNING %s has more slow calls than its base", name);
	else if (has_flag(cell, "tail") && !by_mean)
		line(out, "WARNING %s has more slow calls than its base: %s, on average %+.2f %%%s%s", name,
			value_text(mean, "text"), value_number(mean, "change_pct"), *reason ? "; " : "", reason);
	if (has_flag(cell, "call"))
		line(out, "WARNING %s: a call from an idle stream, host time included, lost %.2f %%", name,
			-value_number(json_object_get(cell, "call"), "change_pct"));
	if (has_flag(cell, "enqueue"))
		line(out, "WARNING %s: enqueue takes the host %.1f us instead of %.1f us", name,
			value_number(json_object_get(cell, "enqueue"), "target_us"),
			value_number(json_object_get(cell, "enqueue"), "base_us"));
}

/* Beside time: a line a kind, with the cell where it grew most. */
static void warn_of_costs(const json_t *comparison, FILE *out)
{
	size_t i;
	const json_t *cost;
	json_array_foreach(json_object_get(comparison, "costs"), i, cost)
	{
		const json_t *cells = json_object_get(cost, "cells"), *most = json_array_get(cells, 0);
		char text[320];
		cost_text(value_text(cost, "what"), json_array_size(cells), value_number(most, "base"),
			value_number(most, "target"), text, sizeof text);
		line(out, "WARNING beside its time %s, in %s", text, value_text(most, "cell"));
	}
}

/* Cells whose equal builds scatter: the largest scatter, where it was measured, and how to go on. */
static void tell_blindness(const json_t *comparison, FILE *out)
{
	const json_t *environment = json_object_get(comparison, "environment"), *most = NULL, *cell;
	size_t i;
	int n = 0;
	json_array_foreach(json_object_get(comparison, "cells"), i, cell)
	{
		const json_t *blind = json_object_get(cell, "blind");
		if (!json_is_object(blind))
			continue;
		n++;
		if (!most || value_number(blind, "below_pct") > value_number(most, "below_pct"))
			most = blind;
	}
	if (!most)
		return;
	line(out, "WARNING %d cell%s blind on %s: %s", n, n == 1 ? " is" : "s are", value_text(environment, "name"),
		value_text(most, "why"));
	line(out,
		"flopwatch calibrate --repo %s --device %s measures the scatter again; flopwatch calibrate forget --repo %s "
		"begins anew",
		value_text(comparison, "repo"), value_text(environment, "device"), value_text(comparison, "repo"));
}

/* Rows of which there was nothing to compare. */
static void tell_absences(const json_t *cells, FILE *out)
{
	static const struct {
		enum verdict verdict;
		const char *text;
	} said[] = { { VERDICT_REMOVED, "removed" }, { VERDICT_ADDED, "added" },
		{ VERDICT_UNSUPPORTED, "done by neither side" } };
	char text[160] = "";
	size_t i, used = 0;
	json_t *cell;
	for (int k = 0; k < 3; k++) {
		int n = 0;
		json_array_foreach(cells, i, cell) n += value_verdict(cell) == said[k].verdict;
		if (n)
			used += (size_t)snprintf(text + used, sizeof text - used, "%s%d %s", used ? ", " : "", n, said[k].text);
	}
	if (used)
		line(out, "not compared: %s", text);
}

/* A change beside medians whose quotient reads otherwise wants a word. */
static void explain_changes(const json_t *cells, FILE *out)
{
	size_t i;
	json_t *cell;
	json_array_foreach(cells, i, cell)
	{
		double base_ms = value_number(json_object_get(cell, "base"), "median_ms"),
		       target_ms = value_number(json_object_get(cell, "target"), "median_ms"),
		       apart = 100 * (base_ms / target_ms - 1) - value_number(cell, "change_pct");
		if (isfinite(apart) && fabs(apart) >= 0.005) {
			line(out, "change: the middle of paired ratios");
			return;
		}
	}
}

/* Whether two cells ran alike: equal providers and configurations on both sides. */
static bool ran_alike(const json_t *a, const json_t *b)
{
	static const char *const sides[] = { "base", "target" }, *const keys[] = { "provider", "configuration" };
	for (int i = 0; i < 4; i++) {
		const json_t *x = json_object_get(a, sides[i / 2]), *y = json_object_get(b, sides[i / 2]);
		if (strcmp(value_text(x, keys[i % 2]), value_text(y, keys[i % 2])) != 0)
			return false;
	}
	return true;
}

/* How kernels ran, each way once; a change names both sides. */
static void configurations(const json_t *cells, FILE *out)
{
	size_t i, k;
	json_t *cell, *other;
	json_array_foreach(cells, i, cell)
	{
		const json_t *base = json_object_get(cell, "base"), *target = json_object_get(cell, "target");
		const char *was = value_text(base, "configuration"), *is = value_text(target, "configuration");
		bool apart = strcmp(value_text(base, "provider"), value_text(target, "provider")) != 0, told = false;
		size_t alike = 0;
		json_array_foreach(cells, k, other)
		{
			bool same = ran_alike(cell, other);
			told = told || (same && k < i);
			alike += same;
		}
		if (told || !*is)
			continue;
		if (!*was || (!apart && strcmp(was, is) == 0))
			line(out, "configuration: %s in %zu cell%s", is, alike, alike == 1 ? "" : "s");
		else
			line(out, "configuration: %s%s%s -> %s%s%s in %zu cell%s, first %s",
				apart ? value_text(base, "provider") : "", apart ? " " : "", was,
				apart ? value_text(target, "provider") : "", apart ? " " : "", is, alike, alike == 1 ? "" : "s",
				value_text(cell, "cell"));
	}
}

/* What is worth a warning although nobody is called: beside a peer being slower is not. */
static bool is_trouble(const json_t *cell)
{
	enum verdict verdict = value_verdict(cell);
	return verdict == VERDICT_FAILED || verdict == VERDICT_REJECTED || verdict == VERDICT_NOT_COMPARABLE;
}

/* What there is to do about cells without a clear answer, which is longer than a line. */
static void tell_remedies(const json_t *cells, FILE *out)
{
	bool undecided = false, rejected = false;
	size_t i;
	json_t *cell;
	json_array_foreach(cells, i, cell)
	{
		undecided = undecided || value_verdict(cell) == VERDICT_UNDECIDED;
		rejected = rejected || value_verdict(cell) == VERDICT_REJECTED;
	}
	if (undecided)
		line(out, "what decides an undecided cell: see doc/troubleshooting.md#undecided");
	if (rejected)
		line(out, "why times are rejected: see doc/troubleshooting.md#rejected");
}

/* Why nothing was timed. Cells of modules have masks, programs of their own have files. */
static const char *identity(const char *identical_by, const json_t *cells)
{
	bool module = *value_text(json_array_get(cells, 0), "mask");
	return !*identical_by                      ? ""
	       : strcmp(identical_by, "tree") == 0 ? "same code by tree"
	       : module                            ? "same code by module"
						   : "the same files, run in the same way";
}

/* What a person wanted run, so that nobody takes the figures for a commit's own. */
static void pins(const json_t *comparison, FILE *out)
{
	static const char *const sides[] = { "base", "target" };
	for (int i = 0; i < 2; i++) {
		const char *pinned = value_text(json_object_get(comparison, sides[i]), "pinned");
		if (*pinned)
			line(out, "pinned: the %s runs %s, which is no commit's verdict", sides[i], pinned);
	}
}

/* What built them, where that is what they differ in. */
static void toolchains(const json_t *comparison, FILE *out)
{
	line(out, "environment: the base is built by %s", value_text(json_object_get(comparison, "base"), "toolchain"));
	line(out, "environment: the target is built by %s, which is no commit's verdict",
		value_text(json_object_get(comparison, "target"), "toolchain"));
}

static void tell_part(const json_t *comparison, FILE *out)
{
	const json_t *part = json_object_get(comparison, "part");
	char text[240];
	if (!json_is_object(part))
		return;
	part_text(&(struct part_words){ (int)value_integer(part, "number"), (int)value_integer(part, "of"),
			  (int)json_array_size(json_object_get(comparison, "cells")), (int)value_integer(part, "suite_cells"),
			  (int)value_integer(part, "nights"), (int)value_integer(part, "measured") },
		text, sizeof text);
	line(out, "%s", text);
}

void report_comparison(const json_t *comparison, FILE *out)
{
	const json_t *cells = json_object_get(comparison, "cells");
	const char *identical = value_text(comparison, "identical_by"), *isolation = value_text(comparison, "isolation");
	double gpu_s = value_number(comparison, "gpu_s");
	size_t i;
	json_t *cell;
	enum jobkind kind = jobkind_from_name(value_text(comparison, "kind"));
	bool beside_peer = jobkind_is_beside(kind);
	const char *peer = value_text(json_object_get(comparison, "base"), "provider");
	line(out, "comparison %lld  %s  %s  %.12s..%.12s  %s: %s%s%s", value_integer(comparison, "id"),
		value_text(comparison, "repo"), value_text(comparison, "suite"),
		value_text(json_object_get(comparison, "base"), "commit"),
		value_text(json_object_get(comparison, "target"), "commit"), beside_peer ? "beside" : "verdict",
		!beside_peer                                            ? value_text(comparison, "verdict")
		: *peer                                                 ? peer
		: kind == JOBKIND_PINNED || kind == JOBKIND_ENVIRONMENT ? "the base"
									: "the default provider",
		*identical ? ", " : "", identity(identical, cells));
	pins(comparison, out);
	tell_part(comparison, out);
	if (kind == JOBKIND_ENVIRONMENT)
		toolchains(comparison, out);
	if (!*identical) {
		tables(cells, kind, out);
		sparse_table(cells, out);
		memory_table(cells, out);
		tell_lengths(comparison, out);
	}
	fputc('\n', out);
	if (kind == JOBKIND_SELFCHECK)
		line(out, "a commit beside itself: no other was compared with it; flopwatch log %lld says why",
			value_integer(comparison, "job"));
	line(out, "%lld launches, device held %.1f s%s%s", value_integer(comparison, "launches"), isnan(gpu_s) ? 0 : gpu_s,
		*isolation ? ", isolation " : "", isolation);
	explain_changes(cells, out);
	configurations(cells, out);
	bool build = false, kernels = false;
	json_array_foreach(cells, i, cell)
	{
		kernels = kernels || *value_text(cell, "mask");
		if (!beside_peer || is_trouble(cell))
			warning(cell, out);
		build = build || strcmp(value_text(cell, "failure"), "build") == 0;
	}
	if (!beside_peer)
		tell_blindness(comparison, out);
	tell_absences(cells, out);
	warn_of_costs(comparison, out);
	if (!beside_peer && kind != JOBKIND_IMPORT)
		tell_remedies(cells, out);
	if (build)
		line(out, "flopwatch log %lld shows what the build printed", value_integer(comparison, "job"));
	if (kernels && !beside_peer && value_verdict(comparison) == VERDICT_REGRESSION)
		line(out, "flopwatch closer %lld looks closer", value_integer(comparison, "id"));
}
