/* Cells for spreadsheets: always text, never a formula. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "lib/lib.h"

static struct buf out;

static const char *text(const char *value)
{
	buf_clear(&out);
	csv_text(&out, value);
	return out.data;
}

static void no_cell_is_a_formula(void **state)
{
	(void)state;
	assert_string_equal(text("plain"), "plain");
	assert_string_equal(text("a,\"b\""), "\"a,\"\"b\"\"\"");
	assert_string_equal(text("=1+1"), "\"'=1+1\"");
	assert_string_equal(text("@x"), "\"'@x\"");
	static const char *const numbers[] = { "-1.5", "-3.2", "+3", "-1e-05", "-0", "-.5" };
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
		assert_string_equal(text(numbers[i]), numbers[i]);
	assert_string_equal(text("-"), "\"'-\"");
	assert_string_equal(text("-3.2 %"), "\"'-3.2 %\"");
	assert_string_equal(text("-1-1"), "\"'-1-1\"");
	buf_clear(&out);
	csv_number(&out, -3.2);
	assert_string_equal(out.data, ",-3.2");
	assert_string_equal(text("-x"), "\"'-x\"");
	static const char *const formulas[] = { " =1+1", "\u00a0=1", "\u3000@x", "\n=1", "\t1", "\r\n x", "\uff1d1+1", "\uff0bx",
		"\uff0dx", " \uff20x", "\ufe66x", "\u2212x", " -1.5" };
	for (size_t i = 0; i < sizeof formulas / sizeof formulas[0]; i++) {
		char want[64];
		snprintf(want, sizeof want, "\"'%s\"", formulas[i]);
		assert_string_equal(text(formulas[i]), want);
	}
	assert_string_equal(text(" plain"), " plain");
	assert_string_equal(text("a=1"), "a=1");
}

static int begin(void **state)
{
	(void)state;
	buf_init(&out, 4096);
	return 0;
}

static int end(void **state)
{
	(void)state;
	buf_fini(&out);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(no_cell_is_a_formula) };
	return cmocka_run_group_tests(tests, begin, end);
}
