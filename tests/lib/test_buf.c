/* Buffers: the maximum is enforced, failure is permanent, base64 encodes and decodes, descriptors are read to their end. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "lib/lib.h"

static void grows_and_ends_with_nul(void **state)
{
	struct buf b;
	int i;

	(void)state;
	buf_init(&b, 100000);
	assert_string_equal(b.data, "");
	for (i = 0; i < 10000; i++)
		buf_printf(&b, "%d,", i % 10);
	assert_false(b.failed);
	assert_int_equal(b.len, 20000);
	assert_int_equal(b.data[b.len], '\0');
	buf_consume(&b, 19998);
	assert_string_equal(b.data, "9,");
	buf_consume(&b, 100);
	assert_string_equal(b.data, "");
	buf_putc(&b, 'x');
	buf_puts(&b, "yz");
	assert_string_equal(b.data, "xyz");
	buf_clear(&b);
	assert_string_equal(b.data, "");
	buf_fini(&b);
	buf_fini(&b);
	assert_string_equal(b.data, "");
}

static void maximum_holds_and_failure_sticks(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 4);
	buf_puts(&b, "abcd");
	assert_false(b.failed);
	buf_puts(&b, "");
	assert_false(b.failed);
	buf_putc(&b, 'e');
	assert_true(b.failed);
	assert_string_equal(b.data, "abcd");
	buf_consume(&b, 2);
	buf_putc(&b, 'f');
	assert_string_equal(b.data, "cd");
	buf_clear(&b);
	buf_printf(&b, "%s", "too long");
	assert_true(b.failed);
	assert_int_equal(b.len, 0);
	buf_fini(&b);
}

/* An address sanitizer would end the program itself. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static void why_it_failed(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 4);
	buf_puts(&b, "abcde");
	assert_true(b.failed);
	assert_string_equal(buf_why(&b, "too long"), "too long");
	buf_fini(&b);
	buf_init(&b, SIZE_MAX / 2);
	assert_null(buf_reserve(&b, SIZE_MAX / 4));
	assert_true(b.failed);
	assert_string_equal(buf_why(&b, "too long"), "out of memory");
	buf_clear(&b);
	assert_string_equal(buf_why(&b, "too long"), "too long");
	buf_fini(&b);
}

static void base64_both_ways(void **state)
{
	static const char *const pairs[][2] = { { "", "" }, { "f", "Zg==" }, { "fo", "Zm8=" }, { "foo", "Zm9v" },
		{ "foob", "Zm9vYg==" }, { "fooba", "Zm9vYmE=" }, { "foobar", "Zm9vYmFy" } };
	unsigned char bytes[256];
	struct buf b, back;
	size_t i;

	(void)state;
	buf_init(&b, 1000);
	buf_init(&back, 1000);
	for (i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
		buf_clear(&b);
		buf_base64(&b, pairs[i][0], strlen(pairs[i][0]));
		assert_string_equal(b.data, pairs[i][1]);
		buf_clear(&back);
		assert_int_equal(buf_unbase64(&back, b.data, b.len), 0);
		assert_string_equal(back.data, pairs[i][0]);
	}
	for (i = 0; i < 256; i++)
		bytes[i] = (unsigned char)(255 - i);
	for (i = 0; i <= 256; i++) {
		buf_clear(&b);
		buf_clear(&back);
		buf_base64(&b, bytes, i);
		assert_int_equal(buf_unbase64(&back, b.data, b.len), 0);
		assert_int_equal(back.len, i);
		assert_memory_equal(back.data, bytes, i);
	}
	buf_fini(&b);
	buf_fini(&back);
}

static void bad_base64_is_refused(void **state)
{
	static const char *const bad[] = { "Z", "Zg=", "Zg==Zg==", "Z===", "====", "Zm9*", "Zm 9", "Zm9v\n", "Z=9v" };
	struct buf b;
	size_t i;

	(void)state;
	buf_init(&b, 100);
	for (i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_int_equal(buf_unbase64(&b, bad[i], strlen(bad[i])), -1);
	buf_fini(&b);
}

static void reads_to_the_end_or_the_maximum(void **state)
{
	struct buf b;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "0123456789", 10), 10);
	close(ends[1]);
	buf_init(&b, 10);
	assert_int_equal(buf_read_fd(&b, ends[0]), 0);
	assert_false(b.failed);
	assert_string_equal(b.data, "0123456789");
	close(ends[0]);
	buf_fini(&b);

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "0123456789", 10), 10);
	close(ends[1]);
	buf_init(&b, 9);
	assert_int_equal(buf_read_fd(&b, ends[0]), 0);
	assert_true(b.failed);
	assert_string_equal(b.data, "012345678");
	close(ends[0]);
	assert_int_equal(buf_read_fd(&b, ends[0]), -1);
	assert_int_equal(errno, EBADF);
	buf_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(grows_and_ends_with_nul),
		cmocka_unit_test(maximum_holds_and_failure_sticks), cmocka_unit_test(why_it_failed),
		cmocka_unit_test(base64_both_ways), cmocka_unit_test(bad_base64_is_refused),
		cmocka_unit_test(reads_to_the_end_or_the_maximum) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
