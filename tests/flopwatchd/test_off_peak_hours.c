/* The off-peak schedule, by the hours of the configuration, and the start of the present period. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <time.h>

#include "flopwatchd/history/history.h"

enum { MINUTE_MS = 60000, DAY_MS = 1440 * MINUTE_MS };

static struct config *config;

static int setup(void **state)
{
	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	config = calloc(1, sizeof *config);
	return config ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	free(config);
	return 0;
}

/* Minutes since the off-peak period began at that time of the day; -1 outside of it. */
static int64_t age(int hour, int minute)
{
	int64_t now = 20000 * (int64_t)DAY_MS + (hour * 60 + minute) * (int64_t)MINUTE_MS + 17, since = 0;

	return off_peak_is_now(config, now, &since) ? (now - since) / MINUTE_MS : -1;
}

static void hours_of_one_day(void **state)
{
	(void)state;
	config->off_peak.from = 2 * 60;
	config->off_peak.to = 6 * 60;
	assert_int_equal(age(1, 59), -1);
	assert_int_equal(age(2, 0), 0);
	assert_int_equal(age(5, 59), 239);
	assert_int_equal(age(6, 0), -1);
}

static void hours_around_midnight(void **state)
{
	(void)state;
	config->off_peak.from = 22 * 60 + 30;
	config->off_peak.to = 4 * 60;
	assert_int_equal(age(22, 29), -1);
	assert_int_equal(age(22, 30), 0);
	assert_int_equal(age(3, 30), 300);
	assert_int_equal(age(4, 0), -1);
}

static void any_time_and_never(void **state)
{
	(void)state;
	config->off_peak.from = config->off_peak.to = 0;
	assert_int_equal(age(0, 0), -1);
	config->off_peak.is_idle = true;
	assert_int_equal(age(13, 0), 1440);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hours_of_one_day),
		cmocka_unit_test(hours_around_midnight),
		cmocka_unit_test(any_time_and_never),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
