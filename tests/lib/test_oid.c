#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/lib.h"

#define TEN "0123456789"

static void whole_ones_have_40_or_64_digits(void **state)
{
	(void)state;
	assert_true(oid_is_whole(TEN TEN TEN TEN));
	assert_true(oid_is_whole(TEN TEN TEN TEN TEN TEN "cdef"));
	assert_false(oid_is_whole(TEN TEN TEN "012345678"));
	assert_false(oid_is_whole(TEN TEN TEN TEN "0"));
	assert_false(oid_is_whole(TEN TEN TEN "012345678A"));
	assert_false(oid_is_whole(TEN TEN TEN TEN "\n"));
	assert_false(oid_is_whole(""));
	assert_false(oid_is_whole(NULL));
}

static void prefixes_have_the_required_length(void **state)
{
	(void)state;
	assert_true(oid_is_prefix("abc", 3));
	assert_false(oid_is_prefix("abc", 4));
	assert_false(oid_is_prefix("", 0));
	assert_false(oid_is_prefix("abcg", 1));
	assert_true(oid_is_prefix(TEN TEN TEN TEN TEN TEN "cdef", 7));
	assert_false(oid_is_prefix(TEN TEN TEN TEN TEN TEN "cdef0", 7));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(whole_ones_have_40_or_64_digits),
		cmocka_unit_test(prefixes_have_the_required_length) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
