/* Whether a plan runs the configuration that was passed in: every token of it, in any order. */
#include "runner/internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void all_requested_tokens_must_be_present(void **state)
{
	(void)state;
	assert_true(config_contains_all("TILE=3", "TILE=3"));
	assert_true(config_contains_all("TILE=3 PARTS=2", "PARTS=2 STAGES=4,TILE=3"));
	assert_true(config_contains_all("", "TILE=3"));
	assert_true(config_contains_all("  ", ""));
	assert_false(config_contains_all("TILE=3", ""));
	assert_false(config_contains_all("TILE=3", "TILE=32"));
	assert_false(config_contains_all("TILE=32", "TILE=3"));
	assert_false(config_contains_all("TILE=3 PARTS=2", "TILE=3 PARTS=1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(all_requested_tokens_must_be_present) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
