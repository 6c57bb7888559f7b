/* footnotes.c - documented in internal.h. */
#include "cli/internal.h"

#include <math.h>

enum { REASONS_MAX = 4 };

static bool has_flops(const json_t *cell)
{
	const char *rate = value_rate(cell);
	return rate && strcmp(rate, "tflops") == 0;
}

/* The value that a cell shows, and its regression or improvement. */
static const char *rate_word(const json_t *cell)
{
	return has_flops(cell) ? "TFLOP/s" : value_rate(cell) ? "GB/s" : "speed";
}

static bool has_flag(const json_t *cell, const char *name)
{
	const json_t *flags = json_object_get(cell, "flags"), *flag;
	size_t i;
	json_array_foreach(flags, i, flag) if (strcmp(json_string_value(flag), name) == 0) return true;
	return false;
}

/* The phase that accounts for at least half of the cell's regression, if there are several phases. Shape: text[size], "" none. */
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

/* The judged change as a change of time: -20 % of the speed is 25 % more time. */
static double more_time_pct(const json_t *cell)
{
	return 100 * (1 / (1 + value_number(cell, "change_pct") / 100) - 1);
}

void footnotes_undecided(const json_t *cell, char *out, size_t size)
{
	const char *reason = value_text(cell, "reason");
	char text[EXPLAIN_SIZE];
	explain_undecided(
		value_number(cell, "ci_low_pct"), value_number(cell, "ci_high_pct"), value_number(cell, "threshold_pct"), text);
	snprintf(out, size, "%s", *reason ? reason : *text ? text : "its interval is unknown");
}

/* One line for a cell that the user has to check. */
static void warning(const json_t *cell, FILE *out)
{
	enum verdict verdict = value_verdict(cell);
	const char *reason = value_text(cell, "reason"), *name = value_text(cell, "cell");
	const char *failure = value_text(cell, "failure");
	const json_t *sustained_runs = json_object_get(cell, "sustained");
	const char *components = value_text(cell, "components"), *why = value_text(sustained_runs, "why");
	char host[EXPLAIN_SIZE], phase[128], lacks[400];
	worst_phase(cell, phase, sizeof phase);
	const json_t *mean = json_object_get(cell, "mean");
	bool by_mean = decider_from_name(value_text(cell, "decided_by")) == DECIDER_MEAN;
	if (by_mean)
		plain_line(out, "%s%s %s %.2f %% %s on average (threshold %.2f %%): %s; the typical call %+.2f %%%s",
			verdict == VERDICT_IMPROVEMENT ? "" : "WARNING ", name,
			verdict == VERDICT_IMPROVEMENT ? "gained" : "lost", fabs(value_number(mean, "change_pct")),
			rate_word(cell), value_number(cell, "threshold_pct"), value_text(mean, "text"),
			value_number(cell, "change_pct"),
			json_is_true(json_object_get(cell, "borderline")) ? ", borderline" : "");
	else if (has_flag(cell, "sustained") && verdict == VERDICT_IMPROVEMENT)
		plain_line(out, "%s gained %.2f %% %s once clocks stabilise under its power draw (in pairs %+.2f %%)%s%s", name,
			value_number(sustained_runs, "change_pct"), rate_word(cell), value_number(cell, "change_pct"),
			*why ? ": " : "", why);
	else if (has_flag(cell, "sustained"))
		plain_line(out, "WARNING %s lost %.2f %% %s once clocks stabilise under its power draw (in pairs %+.2f %%)%s%s",
			name, -value_number(sustained_runs, "change_pct"), rate_word(cell), value_number(cell, "change_pct"),
			*why ? ": " : "", why);
	else if (verdict == VERDICT_IMPROVEMENT)
		plain_line(out, "%s gained %.2f %% %s (threshold %.2f %%)%s", name, value_number(cell, "change_pct"),
			rate_word(cell), value_number(cell, "threshold_pct"),
			json_is_true(json_object_get(cell, "borderline")) ? ", borderline" : "");
	else if (verdict == VERDICT_REGRESSION && !has_flops(cell))
		plain_line(out, "WARNING %s takes %.2f %% more time (speed %+.2f %%, threshold %.2f %%)%s", name,
			more_time_pct(cell), value_number(cell, "change_pct"), value_number(cell, "threshold_pct"),
			json_is_true(json_object_get(cell, "borderline")) ? ", borderline" : "");
	else if (verdict == VERDICT_REGRESSION)
		plain_line(out, "WARNING %s lost %.2f %% TFLOP/s (threshold %.2f %%)%s%s%s%s", name,
			-value_number(cell, "change_pct"), value_number(cell, "threshold_pct"), phase,
			json_is_true(json_object_get(cell, "borderline")) ? ", borderline" : "", *components ? ": " : "",
			components);
	else if (verdict == VERDICT_FAILED || verdict == VERDICT_REJECTED || verdict == VERDICT_NOT_COMPARABLE)
		plain_line(out, "WARNING %s %s: %s%s%s", name, verdict_name(verdict), failure, *reason && *failure ? ": " : "",
			reason);
	else if (verdict == VERDICT_UNDECIDED) {
		footnotes_undecided(cell, lacks, sizeof lacks);
		plain_line(out, "WARNING %s undecided: %s", name, lacks);
	}
	if (has_flag(cell, "tail") && !json_is_object(mean)) /* comparison of an older version, which did not judge means */
		plain_line(out, "WARNING %s has more slow calls than its base", name);
	else if (has_flag(cell, "tail") && !by_mean)
		plain_line(out, "WARNING %s has more slow calls than its base: %s, on average %+.2f %%%s%s", name,
			value_text(mean, "text"), value_number(mean, "change_pct"), *reason ? "; " : "", reason);
	if (has_flag(cell, "call"))
		plain_line(out, "WARNING %s is %.2f %% slower from an idle stream, host time included", name,
			-value_number(json_object_get(cell, "call"), "change_pct"));
	footnotes_host_time(cell, host);
	if (*host)
		plain_line(out, "WARNING %s: %s", name, host);
}

void footnotes_host_time(const json_t *cell, char *out)
{
	const json_t *enqueue = json_object_get(cell, "enqueue");
	out[0] = '\0';
	if (has_flag(cell, "enqueue"))
		explain_host_time(value_number(enqueue, "base_us"), value_number(enqueue, "target_us"), out);
}

/* Programs whose calls take the host longer than the device: a line with the first one. */
static void print_host_bound(const json_t *cells, FILE *out)
{
	char text[EXPLAIN_SIZE], first[EXPLAIN_SIZE] = "";
	const char *name = "";
	size_t i, n = 0;
	json_t *cell;
	json_array_foreach(cells, i, cell)
	{
		if (series_from_name(value_text(cell, "series")) != SERIES_PROCESS)
			continue;
		explain_host_bound(value_number(json_object_get(cell, "enqueue"), "target_us"),
			value_number(json_object_get(cell, "target"), "median_ms"), text);
		if (*text && n++ == 0) {
			memcpy(first, text, sizeof first);
			name = value_text(cell, "cell");
		}
	}
	if (n == 1)
		plain_line(out, "%s: %s", name, first);
	else if (n > 1)
		plain_line(out, "%s: %s; so %s %zu other cell%s", name, first, n == 2 ? "is" : "are", n - 1, n == 2 ? "" : "s");
}

/* Costs other than time: a line per kind, with the cell with the largest increase. */
static void warn_of_costs(const json_t *comparison, FILE *out)
{
	size_t i;
	const json_t *cost;
	json_array_foreach(json_object_get(comparison, "costs"), i, cost)
	{
		const json_t *cell, *most = NULL;
		size_t k, n = 0;
		char text[320];
		json_array_foreach(json_object_get(cost, "cells"), k, cell)
		{
			if (json_is_true(json_object_get(cell, "accepted"))) /* users answered it */
				continue;
			most = most ? most : cell;
			n++;
		}
		if (n == 0)
			continue;
		cost_text(
			value_text(cost, "what"), n, value_number(most, "base"), value_number(most, "target"), text, sizeof text);
		const char *why = value_text(most, "why");
		plain_line(out, "WARNING besides time: %s, in %s%s%s", text, value_text(most, "cell"), *why ? ": " : "", why);
	}
}

/* Underpowered cells, and the largest slowdown that they may hide. */
static void print_noise(const json_t *comparison, FILE *out)
{
	const json_t *most = NULL, *cell;
	size_t i;
	int n = 0;
	json_array_foreach(json_object_get(comparison, "cells"), i, cell)
	{
		const json_t *underpowered = json_object_get(cell, "underpowered");
		if (!json_is_object(underpowered))
			continue;
		n++;
		if (!most || value_number(underpowered, "below_pct") > value_number(most, "below_pct"))
			most = underpowered;
	}
	if (most)
		plain_line(out, "note: noisy machine; slowdowns below %.1f %% may be missed in %d cell%s",
			value_number(most, "below_pct"), n, n == 1 ? "" : "s");
}

/* Print the measured noise, and the commands that measure it again. */
static void print_noise_measured(const json_t *comparison, FILE *out)
{
	const json_t *environment = json_object_get(comparison, "environment"), *cell;
	size_t i;
	json_array_foreach(json_object_get(comparison, "cells"), i, cell)
	{
		const json_t *underpowered = json_object_get(cell, "underpowered");
		if (!json_is_object(underpowered))
			continue;
		plain_line(out, "%s: %s, on %s", value_text(cell, "cell"), value_text(underpowered, "why"),
			value_text(environment, "name"));
		plain_line(out,
			"flopwatch calibrate --repo %s --device %s measures the noise again; flopwatch calibrate forget --repo %s "
			"deletes it",
			value_text(comparison, "repo"), value_text(environment, "device"), value_text(comparison, "repo"));
		return;
	}
}

/* Why a side does not compute cells: each reason once, with the first cell that has it. */
static void print_reasons(const json_t *cells, FILE *out)
{
	const char *reported[REASONS_MAX];
	size_t i;
	int n = 0;
	json_t *cell;
	json_array_foreach(cells, i, cell)
	{
		enum verdict verdict = value_verdict(cell);
		const char *reason = value_text(cell, "reason");
		bool is_new =
			*reason && (verdict == VERDICT_REMOVED || verdict == VERDICT_ADDED || verdict == VERDICT_UNSUPPORTED);
		for (int k = 0; k < n; k++)
			is_new = is_new && strcmp(reported[k], reason) != 0;
		if (!is_new)
			continue;
		if (n == REASONS_MAX) {
			plain_line(out, "  and further reasons: --json has each cell's");
			return;
		}
		reported[n++] = reason;
		plain_line(out, "  %s: %s", value_text(cell, "cell"), reason);
	}
}

/* Rows without anything to compare. */
static void print_absences(const json_t *cells, FILE *out)
{
	static const struct {
		enum verdict verdict;
		const char *text;
	} omitted[] = { { VERDICT_REMOVED, "removed" }, { VERDICT_ADDED, "added" },
		{ VERDICT_UNSUPPORTED, "supported by neither side" } };
	char text[160] = "";
	size_t i, used = 0;
	json_t *cell;
	for (int k = 0; k < 3; k++) {
		int n = 0;
		json_array_foreach(cells, i, cell) n += value_verdict(cell) == omitted[k].verdict;
		if (n)
			used += (size_t)snprintf(
				text + used, sizeof text - used, "%s%d %s", used ? ", " : "", n, omitted[k].text);
	}
	if (used)
		plain_line(out, "not compared: %s", text);
	print_reasons(cells, out);
}

/* Explain a change that differs from the quotient of the displayed medians, and name a cell in which they contradict it. */
static void explain_changes(const json_t *cells, FILE *out)
{
	size_t i;
	json_t *cell;
	json_array_foreach(cells, i, cell)
	{
		double base_ms = value_number(json_object_get(cell, "base"), "median_ms"),
		       target_ms = value_number(json_object_get(cell, "target"), "median_ms"),
		       change_pct = value_number(cell, "change_pct");
		if (fabs(change_pct) >= 0.005 && change_pct * (base_ms - target_ms) < 0) {
			plain_line(out,
				"change: the middle of paired ratios, which decides; in %s the medians of each side alone differ in the "
				"other direction, because the machine became faster or slower between the runs",
				value_text(cell, "cell"));
			return;
		}
	}
	json_array_foreach(cells, i, cell)
	{
		double base_ms = value_number(json_object_get(cell, "base"), "median_ms"),
		       target_ms = value_number(json_object_get(cell, "target"), "median_ms"),
		       separate = 100 * (base_ms / target_ms - 1) - value_number(cell, "change_pct");
		if (isfinite(separate) && fabs(separate) >= 0.005) {
			plain_line(out, "change: the middle of paired ratios");
			return;
		}
	}
}

/* Whether two cells have equal providers and configurations on both sides. */
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

/* The configurations of kernels, each once; a change names both sides. */
static void configurations(const json_t *cells, FILE *out)
{
	size_t i, k;
	json_t *cell, *other;
	json_array_foreach(cells, i, cell)
	{
		const json_t *base = json_object_get(cell, "base"), *target = json_object_get(cell, "target");
		const char *was = value_text(base, "configuration"), *is = value_text(target, "configuration");
		bool separate = strcmp(value_text(base, "provider"), value_text(target, "provider")) != 0, reported = false;
		size_t alike = 0;
		json_array_foreach(cells, k, other)
		{
			bool same = ran_alike(cell, other);
			reported = reported || (same && k < i);
			alike += same;
		}
		if (reported || !*is)
			continue;
		if (!*was || (!separate && strcmp(was, is) == 0))
			plain_line(out, "configuration: %s in %zu cell%s", is, alike, alike == 1 ? "" : "s");
		else
			plain_line(out, "configuration: %s%s%s -> %s%s%s in %zu cell%s, first %s",
				separate ? value_text(base, "provider") : "", separate ? " " : "", was,
				separate ? value_text(target, "provider") : "", separate ? " " : "", is, alike,
				alike == 1 ? "" : "s", value_text(cell, "cell"));
	}
}

/* Results that are worth a warning although they open no alert. Slower than a peer is not one. */
static bool is_blockers(const json_t *cell)
{
	enum verdict verdict = value_verdict(cell);
	return verdict == VERDICT_FAILED || verdict == VERDICT_REJECTED || verdict == VERDICT_NOT_COMPARABLE;
}

/* Print advice about cells without a clear result that does not fit on their line. */
static void print_remedies(const json_t *cells, FILE *out)
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
		plain_line(out, "for undecided cells see doc/troubleshooting.md#undecided");
	if (rejected)
		plain_line(out, "why times are rejected: see doc/troubleshooting.md#rejected");
}

void footnotes_notes(const json_t *comparison, FILE *out)
{
	const json_t *cells = json_object_get(comparison, "cells"), *cell;
	size_t i;
	int n = 0;
	if (!jobkind_is_side_by_side(jobkind_from_name(value_text(comparison, "kind"))))
		print_noise(comparison, out);
	json_array_foreach(cells, i, cell) n += has_flag(cell, "call");
	if (n)
		plain_line(out, "note: %d cell%s slower from an idle stream, host time included", n, n == 1 ? " is" : "s are");
	print_absences(cells, out);
	warn_of_costs(comparison, out);
}

void footnotes_print(const json_t *comparison, FILE *out)
{
	const json_t *cells = json_object_get(comparison, "cells");
	enum jobkind kind = jobkind_from_name(value_text(comparison, "kind"));
	bool is_with_peer = jobkind_is_side_by_side(kind);
	size_t i;
	json_t *cell;
	explain_changes(cells, out);
	configurations(cells, out);
	bool build = false, kernels = false;
	json_array_foreach(cells, i, cell)
	{
		kernels = kernels || !value_is_program(cell);
		if (!is_with_peer || is_blockers(cell))
			warning(cell, out);
		build = build || strcmp(value_text(cell, "failure"), "build") == 0;
	}
	if (!is_with_peer) {
		print_noise(comparison, out);
		print_noise_measured(comparison, out);
	}
	print_absences(cells, out);
	print_host_bound(cells, out);
	warn_of_costs(comparison, out);
	if (!is_with_peer && kind != JOBKIND_IMPORT)
		print_remedies(cells, out);
	if (build)
		plain_line(out, "flopwatch log J%lld prints the build log", value_integer(comparison, "job"));
	if (kernels && !is_with_peer && value_verdict(comparison) == VERDICT_REGRESSION)
		plain_line(out, "flopwatch reproduce C%lld prints commands that rerun its worst cell",
			value_integer(comparison, "id"));
}
