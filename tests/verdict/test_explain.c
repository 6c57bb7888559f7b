/* Sentences about the components of a change, and about the level that sustained runs reach. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "verdict/verdict.h"

static void components_of_a_change(void **state)
{
	char text[EXPLAIN_SIZE];

	(void)state;
	explain_components(-7.1, 0.8, text);
	assert_string_equal(text, "the code -7.10 %, a clock 0.80 % higher gives some back");
	explain_components(-0.2, -2, text);
	assert_string_equal(text, "the code -0.20 %, a clock 2.00 % lower adds to it");
	explain_components(5, -1.5, text);
	assert_string_equal(text, "the code +5.00 %, a clock 1.50 % lower takes some of it");
	explain_components(5, 1.5, text);
	assert_string_equal(text, "the code +5.00 %, a clock 1.50 % higher adds to it");
}

static void what_sustained_runs_settle_at(void **state)
{
	const struct sustained_level base = { 3.4, 1620, 2.346 }, hungry = { 3.9, 1420, 2.695 }, lazy = { 3.4, 1740, 1.7 },
				     same = { 3.4, 1622, 2.346 }, underpowered = { 3.4, NAN, 0 }, unmetered = { 3.9, 1420, NAN };
	char text[EXPLAIN_SIZE];

	(void)state;
	explain_sustained_runs(&base, &hungry, text);
	assert_string_equal(text, "the clock stabilises at 1420 MHz instead of 1620, at equal power (691 W)");
	explain_sustained_runs(&base, &lazy, text);
	assert_string_equal(text, "the clock stabilises at 1740 MHz instead of 1620, at 500 W instead of 690");
	explain_sustained_runs(&base, &unmetered, text);
	assert_string_equal(text, "the clock stabilises at 1420 MHz instead of 1620");
	explain_sustained_runs(&base, &same, text);
	assert_string_equal(text, "");
	explain_sustained_runs(&base, &underpowered, text);
	assert_string_equal(text, "");
}

static void what_underpowered_cells_remember(void **state)
{
	char text[EXPLAIN_SIZE];

	(void)state;
	explain_underpowered(6.2, 20, 9.31, text);
	assert_string_equal(text,
		"runs of equal builds vary by 6.20 % here, as 20 of them showed, so a slowdown below 9.3 % has to be clear");
	explain_underpowered(NAN, NAN, 27.9, text);
	assert_string_equal(text, "runs of equal builds vary so much here that a slowdown below 27.9 % has to be clear");
}

static void where_the_host_is_slower(void **state)
{
	char text[EXPLAIN_SIZE];

	(void)state;
	explain_host_time(311, 361, text);
	assert_string_equal(text, "host time of a call: 311 us to 361 us (+16 %)");
	explain_host_time(7.3, 11.7, text);
	assert_string_equal(text, "host time of a call: 7.3 us to 12 us (+60 %)");
	explain_host_time(NAN, 361, text);
	assert_string_equal(text, "");
	explain_host_bound(361, 0.042, text);
	assert_string_equal(text, "host-bound: host 361 us, device 42 us");
	explain_host_bound(41, 0.042, text);
	assert_string_equal(text, "");
	explain_host_bound(NAN, 0.042, text);
	assert_string_equal(text, "");
}

static void undecided(double low_pct, double high_pct, double threshold_pct, const char *wanted)
{
	char text[EXPLAIN_SIZE] = "before";

	explain_undecided(low_pct, high_pct, threshold_pct, text);
	if (!*wanted)
		assert_string_equal(text, "");
	assert_non_null(strstr(text, wanted));
}

static void why_a_cell_is_undecided(void **state)
{
	(void)state;
	undecided(-3, -1.6, 1.5, "beyond the threshold, but too few runs agree to call it a slowdown");
	undecided(1.6, 3, 1.5, "beyond the threshold, but too few runs agree to call it a gain");
	undecided(-1.4, 1.4, 1.5, "inside the threshold, but the standard error is too large");
	undecided(-1.6, 1.4, 1.5, "reaches across the threshold");
	undecided(-1.4, 1.6, 1.5, "reaches across the threshold");
	undecided(-3, -1.4, 1.5, "reaches across the threshold");
	undecided(NAN, 1, 1.5, "");
	undecided(1, INFINITY, 1.5, "");
	undecided(-1, 1, 0, "");
	undecided(-1, 1, NAN, "");
}

static void what_a_push_of_the_manifest_changes(void **state)
{
	(void)state;
	assert_non_null(strstr(
		explain_manifest(1, ".flopwatch.yaml"), "budget_s and other settings of the base; its own apply from the next"));
	assert_string_equal(explain_manifest(2, ".flopwatch.yaml"), "");
	assert_string_equal(explain_manifest(1, "bench/.flopwatch.yaml"), "");
	assert_string_equal(explain_manifest(0, ""), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(why_a_cell_is_undecided),
		cmocka_unit_test(components_of_a_change),
		cmocka_unit_test(what_sustained_runs_settle_at),
		cmocka_unit_test(what_underpowered_cells_remember),
		cmocka_unit_test(where_the_host_is_slower),
		cmocka_unit_test(what_a_push_of_the_manifest_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
