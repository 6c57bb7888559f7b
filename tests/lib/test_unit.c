/* Rates and times in the form shown to people: no value rounds to 0, and a table has one unit. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "lib/lib.h"

static void rate_is(double most, double tflops, const char *want, const char *unit_name)
{
	struct unit unit = unit_of_rates(most);
	char text[UNIT_FIGURE_SIZE];
	unit_rate(unit, tflops, text);
	assert_string_equal(text, want);
	assert_string_equal(unit.name, unit_name);
}

static void a_table_has_the_unit_of_its_largest_rate(void **state)
{
	(void)state;
	rate_is(691.04, 691.04, "691.0", "TFLOP/s");
	rate_is(691.04, 2.6449, "2.64", "TFLOP/s");
	rate_is(691.04, 0.0005, "0.000500", "TFLOP/s");
	rate_is(0.0018, 0.0018, "1.80", "GFLOP/s");
	rate_is(0.9996, 0.9996, "1.000", "TFLOP/s"); /* as it is written */
	rate_is(0.4, 0.4, "400.0", "GFLOP/s");
	rate_is(3e-5, 3e-5, "30.0", "MFLOP/s");
	rate_is(2e-8, 2e-8, "20.0", "kFLOP/s");
	rate_is(1e-13, 1e-13, "0.000100", "kFLOP/s");
	rate_is(NAN, NAN, "", "TFLOP/s");
	rate_is(0, 0, "0.0", "TFLOP/s");
	assert_true(unit_max(NAN, 2) == 2 && unit_max(3, 2) == 3 && isnan(unit_max(NAN, NAN)));
}

static void time_is(double ms, const char *want)
{
	char text[UNIT_FIGURE_SIZE];
	unit_ms(ms, text);
	assert_string_equal(text, want);
}

static void a_time_is_never_written_as_0(void **state)
{
	(void)state;
	time_is(123.456, "123.46");
	time_is(1.71, "1.7100");
	time_is(0.01342, "0.01342");
	time_is(0.0000001234, "0.0000001234");
	time_is(INFINITY, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_has_the_unit_of_its_largest_rate),
		cmocka_unit_test(a_time_is_never_written_as_0),
	};
	return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}
