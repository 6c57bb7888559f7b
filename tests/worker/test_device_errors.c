/* Memory errors of a device are those since the last reading, also if a probe in between had no answer. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "worker/internal.h"

static void old_errors_are_not_new(void **state)
{
	struct bench b = { 0 };
	(void)state;
	assert_int_equal(health_check_new_errors(&b, 0, false), 0); /* no answer, before any reading */
	assert_int_equal(health_check_new_errors(&b, 7, true), 0);
	assert_int_equal(health_check_new_errors(&b, 0, false), 0);
	assert_int_equal(health_check_new_errors(&b, 7, true), 0);
	assert_int_equal(health_check_new_errors(&b, 0, false), 0);
	assert_int_equal(health_check_new_errors(&b, 9, true), 2);
	assert_int_equal(health_check_new_errors(&b, 1, true), 0); /* the driver was started again */
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(old_errors_are_not_new) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
