/* The cause of a regression before anything is counted: additional time of whole calls but not of their kernels is the host's. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "flopwatchd/record/internal.h"

#define assert_ms(value, want) assert_float_equal((float)(value), (float)(want), 1e-7f)

/* Two kernels a call, two processes a side; the target's second kernel takes `more` ms longer. */
static struct cause_kernel kernel[8];

static struct cause_evidence evidence(double more, double separate)
{
	size_t n = 0;
	for (int side = 0; side < 2; side++)
		for (int repeat = 0; repeat < 2; repeat++)
			for (int i = 0; i < 2; i++)
				kernel[n++] = (struct cause_kernel){ .of_target = side,
					.repeat = repeat,
					.ms = 0.010 + (side && i ? more : 0) + (repeat && i ? separate : 0) };
	return (struct cause_evidence){ .n_kernels = n, .kernel = kernel };
}

static struct store_cell compared(enum series series, double base_ms, double target_ms)
{
	return (struct store_cell){ .series = series,
		.m = log(target_ms / base_ms),
		.se = 0.001,
		.base_median_ms = base_ms,
		.target_median_ms = target_ms };
}

static void call_time_beyond_the_kernels_is_host_time(void **state)
{
	(void)state;
	struct cause_evidence e = evidence(0.001, 0);
	struct store_cell c = compared(SERIES_CALL, 0.050, 0.060);
	profile_times(&c, &e);
	assert_ms(e.target_ms - e.base_ms, 0.010);
	assert_ms(e.host_ms, 0.009);

	c = compared(SERIES_CALL, 0.060, 0.050); /* a gain */
	e = evidence(0.001, 0);
	profile_times(&c, &e);
	assert_ms(e.host_ms, -0.011);
}

static void device_times_have_no_host_share(void **state)
{
	(void)state;
	struct cause_evidence e = evidence(0.001, 0);
	struct store_cell c = compared(SERIES_DEVICE, 0.050, 0.060);
	profile_times(&c, &e);
	assert_ms(e.host_ms, 0);
}

static void noise_between_processes_is_no_host_time(void **state)
{
	(void)state;
	struct cause_evidence e = evidence(0.001, 0.005);
	struct store_cell c = compared(SERIES_CALL, 0.050, 0.060);
	profile_times(&c, &e); /* 9 us, and 5 on either side */
	assert_ms(e.host_ms, 0);

	e = evidence(0.001, 0);
	kernel[0].ms = -1; /* not known */
	profile_times(&c, &e);
	assert_ms(e.host_ms, 0);
}

static void without_a_comparison_kernels_by_themselves_count(void **state)
{
	(void)state;
	struct cause_evidence e = evidence(0.002, 0);
	profile_times(NULL, &e);
	assert_ms(e.base_ms, 0.020);
	assert_ms(e.target_ms, 0.022);
	assert_ms(e.host_ms, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(call_time_beyond_the_kernels_is_host_time),
		cmocka_unit_test(device_times_have_no_host_share),
		cmocka_unit_test(noise_between_processes_is_no_host_time),
		cmocka_unit_test(without_a_comparison_kernels_by_themselves_count),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
