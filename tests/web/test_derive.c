/* Derived values of pages, against values worked out by hand or published. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "web/html/html.h"

static void assert_near(double got, double wanted)
{
	if (!(fabs(got - wanted) <= 1e-6 * (fabs(wanted) + 1)))
		fail_msg("%.12g instead of %.12g", got, wanted);
}

static void test_changes(void **state)
{
	(void)state;
	assert_near(derive_change_pct(2, 4), -50);
	assert_near(derive_change_pct(4, 2), 100);
	assert_true(isnan(derive_change_pct(NAN, 2)));
	assert_true(isnan(derive_change_pct(2, 0)));
	/* doubling and halving cancel */
	assert_near(derive_geomean_pct((double[]){ 100, -50, NAN }, 3), 0);
	assert_near(derive_geomean_pct((double[]){ -10 }, 1), -10);
	assert_true(isnan(derive_geomean_pct((double[]){ NAN }, 1)));
	assert_true(isnan(derive_geomean_pct(NULL, 0)));
}

static void test_line(void **state)
{
	(void)state;
	double a, b;
	assert_int_equal(derive_line((double[]){ 10, 20, 50 }, (double[]){ 1.5, 2.5, 5.5 }, 3, &a, &b), 0);
	assert_near(a, 0.5);
	assert_near(b, 0.1);
	assert_int_equal(derive_line((double[]){ 10, 10 }, (double[]){ 1, 2 }, 2, &a, &b), -1);
	assert_int_equal(derive_line((double[]){ 10 }, (double[]){ 1 }, 1, &a, &b), -1);
}

static void test_runs(void **state)
{
	(void)state;
	/* 4 runs, 3.5 standard errors are twice the distance: four times the runs */
	assert_int_equal(derive_runs(0.022, 0.004, 0.015, 3.5, 4, 100), 16);
	assert_int_equal(derive_runs(0.0151, 0.004, 0.015, 3.5, 4, 100), 0);
	assert_int_equal(derive_runs(0.015, 0.004, 0.015, 3.5, 4, 100), 0);
	assert_int_equal(derive_runs(0.1, 0.001, 0.015, 3.5, 4, 100), 5);
	assert_int_equal(derive_runs(NAN, NAN, 0.015, 3.5, 4, 100), 0);
}

static void test_chips(void **state)
{
	(void)state;
	/* data sheets: H100 SXM 989.4 TFLOP/s at 1830 MHz with 132 SMs, A100 312 at 1410 MHz with 108 */
	assert_true(fabs(derive_peak_tflops(derive_chip("NVIDIA H100 80GB HBM3"), 132, 1830) - 989.4) < 0.1);
	assert_true(fabs(derive_peak_tflops(derive_chip("NVIDIA A100-SXM4-80GB"), 108, 1410) - 311.9) < 0.1);
	assert_true(isnan(derive_peak_tflops(derive_chip("AMD EPYC"), 2, 2000)));
	assert_true(isnan(derive_peak_tflops(derive_chip("NVIDIA H200"), 132, NAN)));
	const struct chip *hopper = derive_chip("NVIDIA H200");
	assert_int_equal(derive_blocks_per_sm(hopper, 384, 168, 200000), 1); /* shared memory */
	assert_int_equal(derive_blocks_per_sm(hopper, 128, 255, 0), 2);      /* registers: 65536 / (8192 x 4) */
	assert_int_equal(derive_blocks_per_sm(hopper, 1024, 32, 0), 2);      /* threads */
	assert_int_equal(derive_blocks_per_sm(hopper, 32, 16, 0), 32);       /* blocks */
	assert_int_equal(derive_blocks_per_sm(hopper, 512, 255, 0), 0);      /* does not fit at all: 0 */
	assert_int_equal(derive_blocks_per_sm(NULL, 128, 64, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_line),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_chips),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
