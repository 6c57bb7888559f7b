/* Intervals of a sum of Student's t and a mixture of normals, compared with tables and with a numeric convolution. */
#include "near.h"

#include <math.h>

#include "stats/stats.h"

/* P(t + x < at) by integrating over t with Simpson's rule in a variable that reaches its tails. */
static double probability_below(double at, double scale, double degrees, const struct normal_component *component, int n)
{
	enum { STEPS = 40000 };
	double sum = 0, far = 12;

	for (int i = 0; i <= STEPS; i++) {
		double v = -far + 2 * far * i / STEPS, t = scale * sinh(v), weight = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2;
		double p = 0;

		for (int k = 0; k < n; k++)
			p += component[k].weight * 0.5 * erfc(-(at - t - component[k].mean) / sqrt(2 * component[k].variance));
		sum += weight * p * stats_t_density(t, scale, degrees) * scale * cosh(v);
	}
	return sum * 2 * far / STEPS / 3;
}

static void ends_leave_2_5_percent(double scale, double degrees, const struct normal_component *component, int n)
{
	double low, high;

	interval_95(scale, degrees, component, n, &low, &high);
	near(probability_below(low, scale, degrees, component, n), 0.025, 2e-5);
	near(probability_below(high, scale, degrees, component, n), 0.975, 2e-5);
}

/* Only one of the two: bounds that are in every table. */
static void one_component_alone(void **state)
{
	static const double degrees[] = { 1, 2, 3, 4.5, 8, 30, 200 };
	const struct normal_component none = { 1, 0.5, 0 }, normal = { 1, -1, 4 };
	double low, high;

	(void)state;
	for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++) {
		interval_95(0.01, degrees[i], &none, 1, &low, &high);
		near(low, 0.5 - 0.01 * stats_t95(degrees[i]), 2e-5);
		near(high, 0.5 + 0.01 * stats_t95(degrees[i]), 2e-5);
	}
	interval_95(0, 3, &normal, 1, &low, &high);
	near(low, -1 - 2 * 1.959964, 1e-3);
	near(high, -1 + 2 * 1.959964, 1e-3);
	interval_95(0, 3, &none, 1, &low, &high);
	assert_true(low == 0.5 && high == 0.5);
}

/* Components as in comparisons: as wide as the t, far narrower, far wider, far away, and with a weight of zero. */
static void sums_by_brute_force(void **state)
{
	static const struct normal_component mixtures[][2] = {
		{ { 0.92, 0, 1e-6 }, { 0.08, 0, 1e-4 } },
		{ { 0.6, 0.0002, 1e-6 }, { 0.4, 0.02, 1e-4 } },
		{ { 0.97, 0, 1e-10 }, { 0.03, -0.05, 1e-8 } },
		{ { 1, 0, 1e-6 }, { 0, 1, 1e-6 } },
		{ { 0.5, -0.01, 1e-6 }, { 0.5, 0.01, 1e-6 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof mixtures / sizeof *mixtures; i++) {
		ends_leave_2_5_percent(0.001, 2, mixtures[i], 2);
		ends_leave_2_5_percent(0.0005, 3, mixtures[i], 2);
		ends_leave_2_5_percent(0.003, 13, mixtures[i], 2);
	}
}

/* Uncertainty on one side makes that side longer, and the mirrored input gives the mirrored interval. */
static void sides_differ(void **state)
{
	const struct normal_component up[2] = { { 0.9, 0, 1e-6 }, { 0.1, 0.02, 1e-4 } },
				      down[2] = { { 0.9, 0, 1e-6 }, { 0.1, -0.02, 1e-4 } };
	double low, high, mirrored_low, mirrored_high;

	(void)state;
	interval_95(0.001, 3, up, 2, &low, &high);
	assert_true(high > -4 * low);
	interval_95(0.001, 3, down, 2, &mirrored_low, &mirrored_high);
	near(mirrored_low, -high, 1e-5);
	near(mirrored_high, -low, 1e-5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_component_alone),
		cmocka_unit_test(sums_by_brute_force),
		cmocka_unit_test(sides_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
