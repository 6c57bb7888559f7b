/* The command line's report of a comparison, with exact text for rates that round to 0, claimed traffic and undecided cells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <jansson.h>

#include "cli/internal.h"

static char *printed;

static const char *report_of(const char *cells, const char *peak)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	json_t *cells_json = json_loads(cells, 0, NULL);
	assert_non_null(cells_json);
	json_t *comparison = json_pack("{s:i, s:s, s:s, s:s, s:s, s:{s:s}, s:{s:s}, s:i, s:f, s:o}", "id", 1, "repo", "kernels",
		"suite", "ffa", "verdict", "undecided", "kind", "change", "base", "commit", "aaaa", "target", "commit", "bbbb",
		"runs", 4, "gpu_s", 1.0, "cells", cells_json);
	assert_non_null(comparison);
	if (peak)
		json_object_set_new(comparison, "environment", json_loads(peak, 0, NULL));
	report_comparison(comparison, out);
	fclose(out);
	json_decref(comparison);
	free(printed);
	printed = text;
	return text;
}

static void has(const char *text, const char *wanted)
{
	if (!strstr(text, wanted))
		fail_msg("no '%s' in:\n%s", wanted, text);
}

#define CELL(key, base, target, more)                                                                                            \
	"{\"cell\":\"" key "\",\"group\":\"dense\",\"direction\":\"forward\",\"threshold_pct\":1.5,\"runs\":4,"                  \
	"\"base\":{\"median_ms\":1.0,\"tflops\":" base "},\"target\":{\"median_ms\":1.1,\"tflops\":" target "}," more "}"

static void rates_of_a_table_have_one_unit(void **state)
{
	(void)state;
	const char *text = report_of("[" CELL("a", "0.0018", "0.0016", "\"verdict\":\"regression\",\"change_pct\":-9.1") "," CELL(
					     "b", "0.00002", "0.00002", "\"verdict\":\"unchanged\",\"change_pct\":0.1") "]",
		NULL);
	has(text, "base ms  GFLOP/s  target ms  GFLOP/s");
	has(text, "1.80");
	has(text, "0.0200");
	assert_null(strstr(text, " 0.0 "));
	has(report_of("[" CELL("a", "691.04", "688.0", "\"verdict\":\"unchanged\",\"change_pct\":0.1") "]", NULL), "TFLOP/s");
	has(printed, "691.0");
}

static void claimed_traffic_is_no_bandwidth(void **state)
{
	(void)state;
	static const char cell[] = "[" CELL("a", "600", "600",
		"\"verdict\":\"unchanged\",\"change_pct\":0.1,\"peak\":{\"base_bytes\":1e6,\"target_bytes\":1e6},"
		"\"moved\":{\"base_bytes\":3e9,\"target_bytes\":5761800000}") "]";
	const char *text = report_of(cell, "{\"peak_gb_s\":3350.0}");
	has(text, "claimed traffic in GB/s, memory in MB");
	has(text, "5238 (above memory)");
	has(text, "the memory of this device does 3350 GB/s: traffic above that is served by caches, or claimed too high");
	has(text, " 3000 ");
	text = report_of(cell, "{\"peak_gb_s\":null}"); /* an unknown peak is not printed */
	has(text, "5238");
	assert_null(strstr(text, "above"));
}

static void an_undecided_cell_names_what_is_missing(void **state)
{
	(void)state;
#define UNDECIDED(low, high, reason)                                                                                             \
	"[" CELL("a", "600", "600",                                                                                              \
		"\"verdict\":\"undecided\",\"change_pct\":-39.7,\"ci_low_pct\":" low ",\"ci_high_pct\":" high reason) "]"
	has(report_of(UNDECIDED("-51", "-25", ""), NULL),
		"a undecided: its interval lies beyond the threshold, but too few runs agree to call it a slowdown");
	has(report_of(UNDECIDED("-1.3", "0.17", ""), NULL),
		"a undecided: its interval lies inside the threshold, but the standard error is too large to call it unchanged");
	has(report_of(UNDECIDED("-3", "0.2", ""), NULL), "a undecided: its interval reaches across the threshold");
	has(report_of(UNDECIDED("-3", "0.2", ",\"reason\":\"4 of 12 runs\""), NULL), "a undecided: 4 of 12 runs");
}

#define WITH_BUDGET(key, runs, reason)                                                                                           \
	"{\"cell\":\"" key "\",\"verdict\":\"undecided\",\"change_pct\":-2,\"runs\":" runs ",\"reason\":\"" reason "\"}"

/*
 * What `flopwatch wait` prints of a comparison with these cells, and of another suite with `more` cells (NULL: none). Own: free.
 */
static char *summary_of_suites(const char *cells, const char *more)
{
	char *text = NULL;
	size_t len = 0;
	struct options options = { .n_arg = 0 };
	FILE *terminal = stdout;
	json_t *comparison = json_pack("{s:i, s:i, s:s, s:s, s:{s:i, s:b, s:b}, s:o}", "id", 1, "job", 10, "verdict", "undecided",
		"kind", "compare", "rule", "runs_max", 32, "programs", 1, "confirm", 1, "cells", json_loads(cells, 0, NULL));
	json_t *list = json_pack("[O]", comparison);
	assert_non_null(list);
	if (more) {
		json_t *other = json_deep_copy(comparison);
		json_object_set_new(comparison, "suite", json_string("first"));
		json_object_set_new(other, "suite", json_string("second"));
		json_object_set_new(other, "cells", json_loads(more, 0, NULL));
		json_array_append_new(list, other);
	}
	stdout = open_memstream(&text, &len);
	summary_begin(NULL, &options, comparison, list);
	summary_end(NULL, &options, comparison, list);
	fclose(stdout);
	stdout = terminal;
	json_decref(list);
	json_decref(comparison);
	return text;
}

static char *summary_of(const char *cells)
{
	return summary_of_suites(cells, NULL);
}

/* A retry would end in the same way, so a larger budget is the advice, once. */
static void a_used_up_budget_is_reported_once(void **state)
{
	(void)state;
	char *text = summary_of("[" WITH_BUDGET("a", "22", "runs vary; the base's budget of 45 s ended first") "," WITH_BUDGET(
		"b", "20", "they vary; the base's budget of 45 s ended first") "]");
	has(text, "a: runs vary; the base's budget of 45 s ended first\n");
	assert_null(strstr(text, "b: they vary"));
	has(text, "2 cells need more time than budget_s: 45; 80 permits all their runs; the value of the base commit applies\n");
	has(text, "next: push a larger budget_s to the upstream branch, and start from there\n");
	free(text);
	text = summary_of("[" WITH_BUDGET("a", "22", "runs vary; the base's budget of 45 s ended first") "," WITH_BUDGET(
		"b", "32", "runs vary") "]");
	has(text, "1 cell needs more time than budget_s: 45; 70 permits");
	has(text, "b: runs vary\n");
	has(text, "next: flopwatch retry J10\n"); /* which may decide the other one */
	free(text);
	text = summary_of_suites("[" WITH_BUDGET("a", "22", "runs vary; the base's budget of 45 s ended first") "]",
		"[" WITH_BUDGET("b", "8", "runs vary; the base's budget of 60 s ended first") "]");
	has(text, "1 cell of first needs more time than budget_s: 45; 70 permits all their runs");
	has(text, "1 cell of second needs more time than budget_s: 60; 240 permits all their runs");
	free(text);
}

/* The commit is undecided, so users accepted its loss, else it would be a regression. */
static void an_accepted_loss_is_counted(void **state)
{
	(void)state;
	char text[FINDING_SIZE];
	json_t *comparison =
		json_pack("{s:i, s:s, s:s, s:[{s:s, s:s}, {s:s, s:s, s:f}]}", "id", 1, "verdict", "undecided", "kind", "compare",
			"cells", "cell", "a", "verdict", "undecided", "cell", "b", "verdict", "regression", "change_pct", -17.0);
	assert_non_null(comparison);
	summary_finding(comparison, text);
	has(text, " is undecided in 1 of 2 cells; 1 is slower (accepted)");
	json_decref(comparison);
}

static void medians_that_contradict_a_change_are_explained(void **state)
{
	(void)state; /* CELL: 1.0 and 1.1 ms */
	has(report_of("[" CELL("a", "600", "600", "\"verdict\":\"undecided\",\"change_pct\":9.4") "]", NULL),
		"change: the middle of paired ratios, which decides; in a the medians of each side alone differ in the other direction");
	has(report_of("[" CELL("a", "600", "600", "\"verdict\":\"undecided\",\"change_pct\":-9.4") "]", NULL),
		"change: the middle of paired ratios\n");
}

/* A flag after the verdict must not push it out of a narrow terminal. */
static void a_verdict_is_alone_in_its_column(void **state)
{
	(void)state;
	const char *text =
		report_of("[" CELL("a", "600", "580",
				  "\"verdict\":\"regression\",\"change_pct\":-3.3,\"flags\":[\"call\",\"overwhelming\"]") "]",
			NULL);
	has(text, "regression  call");
	assert_null(strstr(
		report_of("[" CELL("a", "600", "600", "\"verdict\":\"unchanged\",\"change_pct\":0.1") "]", NULL), "flags"));
}

/* The pairs of this cell are not slower. */
static void a_slower_call_is_reported_alone(void **state)
{
	(void)state;
	static const char cell[] = "[" CELL("a", "600", "600",
		"\"verdict\":\"unchanged\",\"change_pct\":0.1,\"flags\":[\"call\"],\"call\":{\"change_pct\":-4.25}") "]";
	has(report_of(cell, NULL), "WARNING a is 4.25 % slower from an idle stream, host time included\n");
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	json_t *comparison = json_pack("{s:s, s:o}", "kind", "change", "cells", json_loads(cell, 0, NULL));
	footnotes_notes(comparison, out);
	fclose(out);
	json_decref(comparison);
	has(text, "note: 1 cell is slower from an idle stream, host time included\n");
	free(text);
}

static void no_table_is_left_out(void **state)
{
	enum { TABLES = 40 };
	(void)state;
	char *cells = NULL, head[32];
	size_t len;
	FILE *out = open_memstream(&cells, &len);
	for (int i = 0; i < TABLES; i++)
		fprintf(out,
			"%s{\"cell\":\"c%d\",\"group\":\"g%d\",\"direction\":\"forward\",\"verdict\":\"unchanged\",\"base\":{\"median_ms\":1.0},"
			"\"target\":{\"median_ms\":1.0}}",
			i ? "," : "[", i, i);
	fputs("]", out);
	fclose(out);
	const char *text = report_of(cells, NULL);
	free(cells);
	for (int i = 0; i < TABLES; i++) {
		snprintf(head, sizeof head, "\ng%d forward\n", i);
		has(text, head);
	}
}

/* A commit that adds a benchmark has no base: the finding names it, and one line gives the reason. */
static void a_new_benchmark_is_named_once(void **state)
{
	(void)state;
	static const char why[] = "benchmark rows is new: its base 1234567890ab does not have it";
	char finding[FINDING_SIZE];
	json_t *comparison = json_pack("{s:s, s:s, s:s, s:s, s:s, s:b, s:s, s:{s:s, s:s}, s:[{s:s, s:s}]}", "kind", "selfcheck",
		"base_how", "self", "suite", "rows", "verdict", "unchanged", "repo", "kernels", "new", 1, "alone", why, "target",
		"name", "topic", "commit", "bbbb", "cells", "cell", "a", "verdict", "unchanged");
	assert_non_null(comparison);
	summary_finding(comparison, finding);
	assert_string_equal(finding, "topic adds benchmark rows, which does not differ from itself in 1 of 1 cell");
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	report_notes(comparison, false, out);
	fclose(out);
	assert_string_equal(
		text, "benchmark rows is new: its base 1234567890ab does not have it; it is compared from the next commit on\n");
	free(text);
	json_decref(comparison);
}

static void a_push_of_the_manifest_alone_is_explained(void **state)
{
	(void)state;
	static const char *const bodies[] = { "{\"changed_files\":{\"number\":1,\"paths\":[\".flopwatch.yaml\"]},\"cells\":[]}",
		"{\"changed_files\":{\"number\":2,\"paths\":[\".flopwatch.yaml\",\"a.c\"]},\"cells\":[]}",
		"{\"changed_files\":{\"number\":1,\"paths\":[\"a.c\"]},\"cells\":[]}", "{\"changed_files\":null,\"cells\":[]}" };
	for (int i = 0; i < 4; i++) {
		json_t *comparison = json_loads(bodies[i], 0, NULL);
		char *text = NULL;
		size_t len = 0;
		FILE *out = open_memstream(&text, &len);
		assert_non_null(comparison);
		report_notes(comparison, false, out);
		fclose(out);
		if (i == 0)
			has(text,
				"only .flopwatch.yaml differs: its build, command and reader apply to this commit, but threshold_pct");
		else
			assert_null(strstr(text, ".flopwatch.yaml"));
		free(text);
		json_decref(comparison);
	}
}

static int finish(void **state)
{
	(void)state;
	free(printed);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_of_a_table_have_one_unit),
		cmocka_unit_test(claimed_traffic_is_no_bandwidth),
		cmocka_unit_test(an_undecided_cell_names_what_is_missing),
		cmocka_unit_test(a_used_up_budget_is_reported_once),
		cmocka_unit_test(an_accepted_loss_is_counted),
		cmocka_unit_test(medians_that_contradict_a_change_are_explained),
		cmocka_unit_test(a_verdict_is_alone_in_its_column),
		cmocka_unit_test(a_slower_call_is_reported_alone),
		cmocka_unit_test(no_table_is_left_out),
		cmocka_unit_test(a_new_benchmark_is_named_once),
		cmocka_unit_test(a_push_of_the_manifest_alone_is_explained),
	};
	return cmocka_run_group_tests_name("reports", tests, NULL, finish);
}
