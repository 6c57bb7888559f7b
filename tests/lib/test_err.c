/* Errors: the first one is preserved, context is prepended, always one line. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "lib/lib.h"

static void first_error_stays(void **state)
{
	struct fw_err e = { 0 };

	(void)state;
	assert_int_equal(err_set(&e, ERR_INVALID, "first %d", 1), -1);
	assert_int_equal(err_set(&e, ERR_IO, "second"), -1);
	assert_int_equal(e.code, ERR_INVALID);
	assert_string_equal(e.text, "first 1");
	err_clear(&e);
	assert_int_equal(e.code, ERR_NONE);
	assert_string_equal(e.text, "");
	assert_int_equal(err_set(NULL, ERR_IO, "nobody listens"), -1);
	assert_int_equal(err_context(NULL, "nobody listens"), -1);
}

static void errno_decides_the_code(void **state)
{
	struct fw_err e = { 0 };

	(void)state;
	errno = ENOENT;
	err_sys(&e, "open %s", "x");
	assert_int_equal(e.code, ERR_NOT_FOUND);
	assert_string_equal(e.text, "open x: No such file or directory");
	err_clear(&e);
	errno = ENOSPC;
	err_sys(&e, "write");
	assert_int_equal(e.code, ERR_FULL);
	err_clear(&e);
	errno = EACCES;
	err_sys(&e, "read");
	assert_int_equal(e.code, ERR_IO);
	assert_false(e.is_shortage);
}

static void a_shortage_is_marked(void **state)
{
	static const int numbers[] = { ENOMEM, EMFILE, ENFILE, ENOBUFS };
	struct fw_err e = { 0 };
	char name[1200];

	(void)state;
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		err_clear(&e);
		errno = numbers[i];
		err_sys(&e, "open x");
		assert_true(e.is_shortage);
		assert_int_equal(err_context(&e, "read y"), -1);
		assert_true(e.is_shortage);
	}
	err_clear(&e);
	assert_false(e.is_shortage);
	assert_int_equal(err_memory(&e, "cannot read %s", "x"), -1);
	assert_true(e.is_shortage);
	assert_int_equal(e.code, ERR_FULL);
	assert_string_equal(e.text, "cannot read x: out of memory; free memory on this machine and try again");
	err_memory(&e, "second");
	assert_non_null(strstr(e.text, "cannot read x"));
	err_clear(&e);
	memset(name, 'n', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	err_memory(&e, "%s", name);
	assert_int_equal(strlen(e.text), sizeof e.text - 1);
	assert_string_equal(e.text + sizeof e.text - 11, " try again");
}

static void context_goes_in_front(void **state)
{
	struct fw_err e = { 0 };

	(void)state;
	err_set(&e, ERR_BUSY, "cause");
	assert_int_equal(err_context(&e, "while %s", "doing"), -1);
	assert_int_equal(e.code, ERR_BUSY);
	assert_string_equal(e.text, "while doing: cause");
	err_clear(&e);
	err_context(&e, "alone");
	assert_int_equal(e.code, ERR_INTERNAL);
}

static void long_texts_keep_the_cause(void **state)
{
	struct fw_err e = { 0 };
	char longer[2000];
	int i;

	(void)state;
	memset(longer, 'x', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	err_set(&e, ERR_IO, "the cause");
	for (i = 0; i < 5; i++)
		err_context(&e, "%s", longer);
	assert_true(strlen(e.text) < sizeof e.text);
	assert_string_equal(e.text + strlen(e.text) - strlen("the cause"), "the cause");
	err_clear(&e);
	err_set(&e, ERR_IO, "%s", longer);
	err_context(&e, "more");
	assert_int_equal(strlen(e.text), sizeof e.text - 1);
}

static void foreign_text_stays_one_line(void **state)
{
	struct fw_err e = { 0 };

	(void)state;
	err_set(&e, ERR_INVALID, "name %s", "a\nb\x1b[31m\r");
	assert_null(strpbrk(e.text, "\n\r\x1b"));
	err_context(&e, "x\ny");
	assert_null(strchr(e.text, '\n'));
}

static void every_code_has_a_name(void **state)
{
	int a, b;

	(void)state;
	for (a = ERR_NONE; a <= ERR_CANCELLED; a++)
		for (b = a + 1; b <= ERR_CANCELLED; b++)
			assert_string_not_equal(err_name((enum err_code)a), err_name((enum err_code)b));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(first_error_stays), cmocka_unit_test(errno_decides_the_code),
		cmocka_unit_test(a_shortage_is_marked), cmocka_unit_test(context_goes_in_front),
		cmocka_unit_test(long_texts_keep_the_cause), cmocka_unit_test(foreign_text_stays_one_line),
		cmocka_unit_test(every_code_has_a_name) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
