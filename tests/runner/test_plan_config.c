/* Terms of configurations: whether a plan runs the requested ones, in any order, and how a request becomes a configuration. */
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

static void a_request_replaces_the_values_of_known_keys(void **state)
{
	char out[64];
	(void)state;
	assert_true(config_fit("STAGES=3 FOO=1", "TILE=2 STAGES=4,PARTS=1", out, sizeof out));
	assert_string_equal(out, "TILE=2 STAGES=3,PARTS=1");
	assert_int_equal(config_unfit("STAGES=3 FOO=1 BAR", "TILE=2 STAGES=4,PARTS=1", out, sizeof out), 2);
	assert_string_equal(out, "FOO=1 BAR");
	assert_true(config_fit("TILE=3 TILE=5", "TILE=2", out, sizeof out));
	assert_string_equal(out, "TILE=5"); /* the last one counts */
	assert_true(config_fit("TIL=3", "TILE=2", out, sizeof out));
	assert_string_equal(out, "TILE=2");
	assert_true(config_fit("TILE=3", "", out, sizeof out));
	assert_string_equal(out, "");
	assert_int_equal(config_unfit("TILE=3", "TILE=2", out, sizeof out), 0);
	assert_string_equal(out, "");
	assert_false(config_fit("TILE=333333", "TILE=2", out, 8));
	assert_int_equal(config_unfit("A=1 B=2", "", out, 5), 2); /* cut to fit */
	assert_string_equal(out, "A=1 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(all_requested_tokens_must_be_present),
		cmocka_unit_test(a_request_replaces_the_values_of_known_keys) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
