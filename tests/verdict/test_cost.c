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
	said("memory", 1, 1048576, 4194304, "a call needs more workspace in 1 cell, at most 4.194 instead of 1.049 MB");
	said("first", 1, 400, 2400, "the first call takes longer in 1 cell, at most 2400 instead of 400 ms");
	said("local_bytes", 1, 0, 16,
		"its kernels keep more in local memory, where registers spill in 1 cell, at most 16 instead of 0 bytes a thread");
	said("energy", 3, 1.5, 2, "a call uses more energy in 3 cells, at most 2 instead of 1.5 J");
	said("host", 1, 7, 12, "the host takes longer to enqueue a call in 1 cell, at most 12 instead of 7 us");
	said("flops_issued", 1, 1e9, 2.5e9,
		"a call does more arithmetic for the same result in 1 cell, at most 2.5 instead of 1 GFLOP");
	said("error", 1, 0.5, 3, "its results are less exact in 1 cell, at most 3 instead of 0.5 times the error of plain bf16");
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
