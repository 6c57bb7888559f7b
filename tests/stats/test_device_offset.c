/* Devices of a class compared: which one is slower than the others. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stats/stats.h"

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)

static void of_many_the_median_is_the_class(void **state)
{
	(void)state;
	const double ln_ms[3][4] = { { 1.00, 1.01, 1.06, 1.00 }, { 2.00, 2.01, 2.06, 2.00 }, { 3.0, 3.01, 3.06, 3.00 } };
	double off[4];
	device_offset_find(ln_ms[0], 3, 4, off);
	NEAR(off[0], -0.005);
	NEAR(off[2], 0.055);
}

/* With two devices there is no majority: the slower one is reported. */
static void of_two_the_slower_one_is_separate(void **state)
{
	(void)state;
	const double ln_ms[2][2] = { { 1.06, 1.0 }, { 2.06, 2.0 } };
	double off[2];
	device_offset_find(ln_ms[0], 2, 2, off);
	NEAR(off[0], 0.06);
	NEAR(off[1], 0);
}

static void one_outlier_cell_decides_nothing(void **state)
{
	(void)state;
	const double ln_ms[3][2] = { { 1.5, 1.0 }, { 2.0, 2.0 }, { 3.0, 3.0 } };
	double off[2];
	device_offset_find(ln_ms[0], 3, 2, off);
	NEAR(off[0], 0);
}

static void cells_of_a_single_device_decide_nothing(void **state)
{
	(void)state;
	const double ln_ms[2][3] = { { 1.5, NAN, NAN }, { NAN, 2.0, 2.0 } };
	double off[3];
	device_offset_find(ln_ms[0], 2, 3, off);
	assert_true(isnan(off[0]));
	NEAR(off[1], 0);
	device_offset_find(NULL, 0, 3, off);
	assert_true(isnan(off[2]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_many_the_median_is_the_class),
		cmocka_unit_test(of_two_the_slower_one_is_separate),
		cmocka_unit_test(one_outlier_cell_decides_nothing),
		cmocka_unit_test(cells_of_a_single_device_decide_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
