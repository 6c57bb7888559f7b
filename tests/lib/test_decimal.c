/* Decimals: for every number that decimal.c writes, printf writes the same. */
/* Left to `make check`: takes seconds, only computes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/lib.h"
#include "model/model.h"

static int written;

static void same_as_printf(double v)
{
	char ours[DECIMAL_MAX + 1], theirs[400];
	for (int n = 0; n <= 9; n++) {
		size_t len = decimal_fixed(ours, v, n);
		ours[len] = '\0';
		snprintf(theirs, sizeof theirs, "%.*f", n, v);
		if (len)
			assert_string_equal(ours, theirs);
		written += len > 0;
		len = decimal_general(ours, v, n);
		ours[len] = '\0';
		snprintf(theirs, sizeof theirs, "%.*g", n, v);
		if (len)
			assert_string_equal(ours, theirs);
		written += len > 0;
	}
}

static void test_known(void **state)
{
	static const double values[] = { 0, -0.0, 1, -1, 0.5, 1.5, 2.5, 0.05, 0.005, 0.125, 9.5, 9.995, 99.99999, 999999.5, 0.1,
		0.3, 1e-4, 9.9999999e-5, 0.00099999999999, 1e6, 1e7, 9999999.5, 123456789, 999999999.6, 3.18, 691.5167,
		-0.4946747, 0.001, 1e15, 1e16, 1e300, 1e-300, 5e-324, INFINITY, -INFINITY, NAN };
	(void)state;
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
		same_as_printf(values[i]);
}

static void test_many(void **state)
{
	(void)state;
	written = 0;
	const int n = 100000;
	for (int i = 0; i < n; i++) {
		uint64_t bits = inputs_mix((uint64_t)i);
		double unit = (double)(bits >> 11) * 0x1p-53;
		same_as_printf((bits & 1 ? -1 : 1) * unit * pow(10, (double)(bits % 13) - 5));
		same_as_printf(round(unit * 1e6) / 1e4);  /* few digits: ends are frequent */
		same_as_printf(round(unit * 1e6) / 1024); /* and here middles, exact ones */
	}
	assert_true(written > n * 30); /* usually not left to printf */
}

static void test_left_to_printf(void **state)
{
	char out[DECIMAL_MAX];
	(void)state;
	assert_int_equal(decimal_fixed(out, NAN, 2), 0);
	assert_int_equal(decimal_fixed(out, 1e18, 2), 0);
	assert_int_equal(decimal_general(out, 1e9, 9), 0);
	assert_int_equal(decimal_general(out, 1e-5, 9), 0);
	assert_int_equal(decimal_general(out, -INFINITY, 9), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_known), cmocka_unit_test(test_many),
		cmocka_unit_test(test_left_to_printf) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
