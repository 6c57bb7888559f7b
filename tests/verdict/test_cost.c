/* Messages about costs other than time. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "verdict/verdict.h"

static void said(const char *what, size_t n_cells, double base, double target, const char *wanted)
{
	char text[320];
	cost_text(what, n_cells, base, target, text, sizeof text);
	assert_string_equal(text, wanted);
}

static void kinds_are_sentences(void **state)
{
	(void)state;
	said("launches", 2, 2, 3, "a call launches more kernels in 2 cells, at most 3 instead of 2");
	said("workspace_bytes", 1, 1048576, 4194304, "it asks for more workspace in 1 cell, at most 4.194 instead of 1.049 MB");
	said("unrepeatable", 1, 0, 1, "two calls with the same inputs give different bits in 1 cell");
}

static void what_is_not_known_stands_itself(void **state)
{
	(void)state;
	said("colour", 1, 1, 2, "colour in 1 cell, at most 2 instead of 1");
}

static void a_text_that_does_not_fit_is_cut(void **state)
{
	char text[12];
	(void)state;
	cost_text("launches", 2, 2, 3, text, sizeof text);
	assert_string_equal(text, "a call laun");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_are_sentences),
		cmocka_unit_test(what_is_not_known_stands_itself),
		cmocka_unit_test(a_text_that_does_not_fit_is_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
