/* The kinds of jobs: every name is parsed back, and other strings are rejected. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/model.h"

static void test_names_read_back(void **state)
{
	(void)state;
	for (int k = 0; k < JOBKIND_N; k++)
		assert_int_equal(jobkind_from_name(jobkind_name((enum jobkind)k)), k);
	assert_string_equal(jobkind_name(JOBKIND_CALIBRATE), "calibrate");
	assert_string_equal(jobkind_name(JOBKIND_PROFILE), "profile");
	assert_string_equal(jobkind_name(JOBKIND_N), "");
	assert_int_equal(jobkind_from_name("party"), JOBKIND_N);
	assert_int_equal(jobkind_from_name(""), JOBKIND_N);
}

static void test_a_selfcheck_times_a_module_against_itself(void **state)
{
	(void)state;
	for (int k = 0; k < JOBKIND_N; k++)
		assert_int_equal(jobkind_is_itself((enum jobkind)k), k == JOBKIND_SELFCHECK || k == JOBKIND_CALIBRATE);
}

static void test_peers_pins_and_environments_are_options_of_a_side(void **state)
{
	(void)state;
	for (int k = 0; k < JOBKIND_N; k++)
		assert_int_equal(jobkind_is_side_by_side((enum jobkind)k),
			k == JOBKIND_PEER || k == JOBKIND_CONFIG || k == JOBKIND_ENVIRONMENT);
}

/* Lists show these kinds separately, and no others. */
static void test_upkeep(void **state)
{
	static const enum jobkind upkeep[] = { JOBKIND_REFERENCE, JOBKIND_VERIFY, JOBKIND_BACKFILL, JOBKIND_CALIBRATE,
		JOBKIND_BISECT, JOBKIND_PEER, JOBKIND_PROFILE };

	(void)state;
	for (int k = 0; k < JOBKIND_N; k++) {
		bool is_listed = false;

		for (size_t i = 0; i < sizeof upkeep / sizeof upkeep[0]; i++)
			is_listed |= (int)upkeep[i] == k;
		assert_int_equal(jobkind_is_upkeep((enum jobkind)k), is_listed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_read_back),
		cmocka_unit_test(test_peers_pins_and_environments_are_options_of_a_side),
		cmocka_unit_test(test_a_selfcheck_times_a_module_against_itself),
		cmocka_unit_test(test_upkeep),
	};
	return cmocka_run_group_tests_name("jobkind", tests, NULL, NULL);
}
