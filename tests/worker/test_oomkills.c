/* test_oomkills.c - counters of the out-of-memory killer. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "worker/sandbox/sandbox.h"

static void a_name_is_a_whole_word(void **state)
{
	(void)state;
	assert_int_equal(oomkills_count("low 0\noom 5\noom_kill 3\noom_group_kill 1\n", "oom_kill"), 3);
	assert_int_equal(oomkills_count("oom_kill 0\n", "oom_kill"), 0);
	assert_int_equal(oomkills_count("drop_oom_kill 7\noom_kills 2\n", "oom_kill"), -1);
	assert_int_equal(oomkills_count("", "oom_kill"), -1);
}

static void counters_are_numbers_or_not_there(void **state)
{
	struct oomkills now;

	(void)state;
	oomkills_read(&now);
	assert_true(now.machine >= -1);
	assert_true(now.group >= -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_a_whole_word),
		cmocka_unit_test(counters_are_numbers_or_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
