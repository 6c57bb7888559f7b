/* Percent: every byte is decoded from its encoded form, and invalid escapes are distinguished from valid ones. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/lib.h"

static void test_unescaped_characters(void **state)
{
	(void)state;
	struct buf b;
	buf_init(&b, 256);
	percent_encode(&b, "aZ09-._~/ \xff\n%", 13, "-._~/");
	assert_string_equal(b.data, "aZ09-._~/%20%FF%0A%25");
	buf_clear(&b);
	percent_encode(&b, "a/b\0c", 5, "-._~");
	assert_string_equal(b.data, "a%2Fb%00c");
	buf_fini(&b);
}

static void test_there_and_back(void **state)
{
	(void)state;
	for (int byte = 0; byte < 256; byte++) {
		struct buf b;
		char c = (char)byte;
		buf_init(&b, 16);
		percent_encode(&b, &c, 1, "");
		assert_int_equal(b.len == 1 ? (unsigned char)b.data[0] : percent_byte(b.data), byte);
		buf_fini(&b);
	}
}

static void test_no_escape(void **state)
{
	(void)state;
	assert_int_equal(percent_byte("%4a"), 'J');
	assert_int_equal(percent_byte("%4A and more"), 'J');
	assert_int_equal(percent_byte("%00"), 0);
	static const char *const none[] = { "", "a", "%", "%4", "%g0", "%0g", "4A", "% 4" };
	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
		assert_int_equal(percent_byte(none[i]), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unescaped_characters),
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_no_escape),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
