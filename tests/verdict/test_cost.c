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
	said("first", 1, 400, 2400, "the first call takes longer in 1 cell, at most 2.4 s instead of 400 ms");
	said("local_bytes", 1, 0, 16,
		"its kernels use more local memory, where registers spill in 1 cell, at most 16 instead of 0 bytes a thread");
	said("energy", 3, 1.5, 2, "a call uses more energy in 3 cells, at most 2 instead of 1.5 J");
	said("host", 1, 7, 12, "the host takes longer to enqueue a call in 1 cell, at most 12 instead of 7 us");
	said("flops_issued", 1, 1e9, 2.5e9,
		"a call does more arithmetic for the same result in 1 cell, at most 2.5 instead of 1 GFLOP");
	said("error", 1, 0.5, 3, "its results are less exact in 1 cell, at most 3 instead of 0.5 times the error of plain bf16");
	said("unrepeatable", 1, 0, 1, "two calls with the same inputs give different bits in 1 cell");
}

static void values_are_in_a_unit_that_people_read(void **state)
{
	(void)state;
	said("memory", 1, 4608, 4864, "a call needs more workspace in 1 cell, at most 4.864 instead of 4.608 kB");
	said("memory", 1, 512, 4864, "a call needs more workspace in 1 cell, at most 4.864 kB instead of 512 bytes");
	said("memory", 1, 0, 999.999e6, "a call needs more workspace in 1 cell, at most 1 instead of 0 GB");
	said("memory", 1, 0, 999e6, "a call needs more workspace in 1 cell, at most 999 instead of 0 MB");
	said("memory", 1, 3e12, 4e15, "a call needs more workspace in 1 cell, at most 4000 instead of 3 TB");
	said("energy", 1, 0.0012, 0.0015, "a call uses more energy in 1 cell, at most 1.5 instead of 1.2 mJ");
	said("host", 1, 0.7, 1200, "the host takes longer to enqueue a call in 1 cell, at most 1.2 ms instead of 700 ns");
	said("flops_issued", 1, 2e6, 3e6,
		"a call does more arithmetic for the same result in 1 cell, at most 3 instead of 2 MFLOP");
	said("local_bytes", 1, 16, 2048,
		"its kernels use more local memory, where registers spill in 1 cell, at most 2.048 kB a thread instead of 16 bytes a thread");
}

static void both_orders_have_the_same_units(void **state)
{
	char text[COST_VALUES_SIZE];
	(void)state;
	cost_values("memory", 512, " \u2192 ", 4864, text, sizeof text);
	assert_string_equal(text, "512 bytes \u2192 4.864 kB");
	cost_values("launches", 2, " \u2192 ", 3000, text, sizeof text);
	assert_string_equal(text, "2 \u2192 3000");
}

static void an_unknown_value_is_the_whole_text(void **state)
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
		cmocka_unit_test(values_are_in_a_unit_that_people_read),
		cmocka_unit_test(both_orders_have_the_same_units),
		cmocka_unit_test(an_unknown_value_is_the_whole_text),
		cmocka_unit_test(a_text_that_does_not_fit_is_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
