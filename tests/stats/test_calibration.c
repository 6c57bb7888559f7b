/* Pooled noise computed by hand, what is learned from it, and cells that are underpowered at their threshold. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "stats/stats.h"

static void near(double value, double wanted, double error)
{
	if (!(fabs(value - wanted) <= error))
		fail_msg("%.12g is not %.12g +- %g", value, wanted, error);
}

/* A comparison of `n` runs that alternate between `spread` above and below their mean. Shape: n even. */
static void add(struct calibration *c, int n, double mean, double spread, double q)
{
	struct run_estimate e[12];

	for (int i = 0; i < n; i++)
		e[i] = (struct run_estimate){ .set = 1, .n = 16, .d = mean + (i % 2 ? spread : -spread), .q = q };
	calibration_add(c, e, n);
}

static void pooled_by_hand(void **state)
{
	struct calibration c = { 0 };

	(void)state;
	add(&c, 1, 0, 0.1, 0);
	assert_int_equal(c.runs, 0);
	add(&c, 6, 0.01, 0.003, 1e-6); /* levels differ between comparisons: only the noise around them counts */
	add(&c, 6, -0.01, 0.003, 3e-6);
	assert_int_equal(c.runs, 12);
	assert_int_equal(c.freedom, 10);
	near(c.squares, 12 * 9e-6, 1e-12);
	near(c.variance, 6 * 1e-6 + 6 * 3e-6, 1e-15); /* of the pairs inside runs */
	near(calibration_noise(&c), sqrt(12 * 9e-6 / 10), 1e-9);
}

/* Comparisons of six runs each, newest first, with the given noise. Shape: spread[n]. */
static struct calibration remembered(const double *spread, int n)
{
	struct calibration part[32] = { 0 };

	for (int i = 0; i < n; i++)
		add(&part[i], 6, 0, spread[i], 0);
	return calibration_pool(part, n);
}

static void the_newest_comparisons_count(void **state)
{
	const double quiet = 0.002, noisy = 0.25, one = sqrt(6.0 / 5); /* of a spread */
	double spread[32] = { 0 };

	(void)state;
	struct calibration c = remembered(spread, 0);
	assert_true(c.runs == 0 && c.freedom == 0);
	for (int i = 0; i < 32; i++)
		spread[i] = quiet;
	c = remembered(spread, 32);
	assert_int_equal(c.freedom, 40); /* eight of them: older ones are left out */
	assert_int_equal(c.runs, 48);
	near(calibration_noise(&c), one * quiet, 1e-9);
	/* a first calibration with concurrent work, and quiet ones after it: the second of them ends it */
	spread[0] = noisy;
	c = remembered(spread, 1);
	near(calibration_noise(&c), one * noisy, 1e-9);
	spread[0] = quiet;
	spread[1] = noisy;
	c = remembered(spread, 2);
	assert_true(calibration_noise(&c) > 0.1);
	spread[1] = quiet;
	spread[2] = noisy;
	c = remembered(spread, 3);
	near(calibration_noise(&c), one * quiet, 1e-9);
	assert_int_equal(c.freedom, 10);
	/* noise that doubles is not the variation between hours */
	spread[2] = 2 * quiet;
	c = remembered(spread, 3);
	near(calibration_noise(&c), one * quiet * sqrt((1 + 1 + 4) / 3.0), 1e-9);
	/* increased noise of a machine is accepted at once */
	spread[0] = spread[1] = noisy;
	spread[2] = quiet;
	c = remembered(spread, 3);
	near(calibration_noise(&c), one * noisy * sqrt(2 / 3.0), 1e-5);
}

static void what_is_learned(void **state)
{
	struct calibration c = { 0 };
	double tau0 = -1, nu0 = -1;

	(void)state;
	assert_false(calibration_learned(&c, &tau0, &nu0));
	add(&c, 4, 0, 0.001, 0);
	assert_false(calibration_learned(&c, &tau0, &nu0)); /* three degrees of freedom are few */
	c = (struct calibration){ 0 };
	add(&c, 6, 0, 0.0040, 1e-6);
	assert_true(calibration_learned(&c, &tau0, &nu0));
	near(tau0, sqrt(6 * 0.004 * 0.004 / 5), 1e-9); /* all of it, including what pairs explain */
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

static void underpowered_cells(void **state)
{
	struct calibration c = { 0 };
	struct rule r;
	double mde;

	(void)state;
	rule_default(&r, 20);
	assert_true(calibration_has_power(&c, &r, stats_theta(1.5), &mde));
	near(mde, 100 * (1 - exp(-(stats_theta(1.5) + 3.5 * 0.0025 / sqrt(12)))), 1e-9);
	add(&c, 12, 0, 0.002, 0);
	assert_true(calibration_has_power(&c, &r, stats_theta(1.5), &mde));
	assert_true(mde > 1.5 && mde < 2);
	/* the same cell cannot detect a regression of 0.1 % */
	assert_false(calibration_has_power(&c, &r, stats_theta(0.1), &mde));
	c = (struct calibration){ 0 };
	add(&c, 12, 0, 0.02, 0);
	assert_false(calibration_has_power(&c, &r, stats_theta(1.5), &mde));
	assert_true(mde > 3);
	assert_true(calibration_has_power(&c, &r, stats_theta(30), &mde) == (0.02 / sqrt(12) < r.se_max));
	/* two runs are no ground to call a cell underpowered */
	c = (struct calibration){ 0 };
	add(&c, 2, 0, 0.02, 0);
	assert_true(calibration_has_power(&c, &r, stats_theta(1.5), &mde));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pooled_by_hand),
		cmocka_unit_test(the_newest_comparisons_count),
		cmocka_unit_test(what_is_learned),
		cmocka_unit_test(underpowered_cells),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
