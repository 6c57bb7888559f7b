/* Pooled scatter worked out by hand, what of it is learned, and cells that cannot see their threshold. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "core/calibration.h"

static void near(double value, double wanted, double error)
{
	if (!(fabs(value - wanted) <= error))
		fail_msg("%.12g is not %.12g +- %g", value, wanted, error);
}

/* A comparison of `n` launches that lie `spread` above and below their mean in turn. Shape: n even. */
static void add(struct calibration *c, int n, double mean, double spread, double q)
{
	struct launch_estimate e[12];

	for (int i = 0; i < n; i++)
		e[i] = (struct launch_estimate){ .set = 1, .n = 16, .d = mean + (i % 2 ? spread : -spread), .q = q };
	calibration_add(c, e, n);
}

static void pooled_by_hand(void **state)
{
	struct calibration c = { 0 };

	(void)state;
	near(calibration_tau(&c), 0, 0);
	add(&c, 1, 0, 0.1, 0);
	assert_int_equal(c.launches, 0);
	add(&c, 6, 0.01, 0.003, 1e-6); /* levels differ between comparisons: only the scatter around them counts */
	add(&c, 6, -0.01, 0.003, 3e-6);
	assert_int_equal(c.launches, 12);
	assert_int_equal(c.freedom, 10);
	near(c.squares, 12 * 9e-6, 1e-12);
	near(calibration_tau(&c), sqrt(12 * 9e-6 / 10 - 2e-6), 1e-9);
	/* less than what the launches' own variance explains is none */
	c.variance = 1;
	near(calibration_tau(&c), 0, 0);
}

static void what_is_learned(void **state)
{
	struct calibration c = { 0 };
	double tau0 = -1, nu0 = -1;

	(void)state;
	assert_false(calibration_learned(&c, &tau0, &nu0));
	add(&c, 4, 0, 0.001, 0);
	assert_false(calibration_learned(&c, &tau0, &nu0)); /* three degrees of freedom are little */
	c = (struct calibration){ 0 };
	add(&c, 6, 0, 0.0040, 1e-6);
	assert_true(calibration_learned(&c, &tau0, &nu0));
	near(tau0, sqrt(6 * 0.004 * 0.004 / 5), 1e-9); /* the whole of it, what pairs explain too */
	near(nu0, 5, 0);
	add(&c, 6, 0, 0.0040, 1e-6);
	add(&c, 12, 0, 0.0040, 1e-6);
	assert_true(calibration_learned(&c, &tau0, &nu0));
	near(nu0, 20, 0); /* of 21: a device changes */
	c = (struct calibration){ 0 };
	add(&c, 12, 0, 0.000001, 0);
	assert_true(calibration_learned(&c, &tau0, &nu0));
	near(tau0, 0.0001, 0);
}

static void blind_cells(void **state)
{
	struct calibration c = { 0 };
	struct rule r;
	double mde;

	(void)state;
	rule_default(&r, 20);
	assert_true(calibration_sees(&c, &r, stats_theta(1.5), &mde));
	near(mde, 100 * (1 - exp(-(stats_theta(1.5) + 3.5 * 0.0025 / sqrt(12)))), 1e-9);
	add(&c, 12, 0, 0.002, 0);
	assert_true(calibration_sees(&c, &r, stats_theta(1.5), &mde));
	assert_true(mde > 1.5 && mde < 2);
	/* the same cell cannot see a loss of 0.1 % */
	assert_false(calibration_sees(&c, &r, stats_theta(0.1), &mde));
	c = (struct calibration){ 0 };
	add(&c, 12, 0, 0.02, 0);
	assert_false(calibration_sees(&c, &r, stats_theta(1.5), &mde));
	assert_true(mde > 3);
	assert_true(calibration_sees(&c, &r, stats_theta(30), &mde) == (0.02 / sqrt(12) < r.se_max));
	/* two launches are no ground to call a cell blind */
	c = (struct calibration){ 0 };
	add(&c, 2, 0, 0.02, 0);
	assert_true(calibration_sees(&c, &r, stats_theta(1.5), &mde));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pooled_by_hand),
		cmocka_unit_test(what_is_learned),
		cmocka_unit_test(blind_cells),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
