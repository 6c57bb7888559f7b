/* toolchain_override.c, unit.c: folders and flags of compilers that a side may name, and units of times and rates. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "model/model.h"

static void is_wrong(const char *said, const char *wanted)
{
	if (!wanted ? said != NULL : !said || !strstr(said, wanted))
		fail_msg("%s instead of %s", said ? said : "allowed", wanted ? wanted : "allowed");
}

static void folders(void **state)
{
	char longest[TOOLCHAIN_OVERRIDE_DIR_SIZE + 1];

	(void)state;
	is_wrong(toolchain_override_wrong_dir(""), NULL);
	is_wrong(toolchain_override_wrong_dir("/usr/local/cuda-12.9"), NULL);
	is_wrong(toolchain_override_wrong_dir("/opt/a_b+c@d,e=f%g/..h"), NULL);
	is_wrong(toolchain_override_wrong_dir("/x"), NULL);
	is_wrong(toolchain_override_wrong_dir("/"), "the whole machine");
	is_wrong(toolchain_override_wrong_dir("opt"), "no absolute and plain path");
	is_wrong(toolchain_override_wrong_dir("/opt/../etc"), "no absolute and plain path");
	is_wrong(toolchain_override_wrong_dir("/opt/.."), "no absolute and plain path");
	is_wrong(toolchain_override_wrong_dir("/.."), "no absolute and plain path");
	is_wrong(toolchain_override_wrong_dir("/opt//x"), "no absolute and plain path");
	is_wrong(toolchain_override_wrong_dir("/opt/a b"), "holds a letter");
	is_wrong(toolchain_override_wrong_dir("/opt/a:b"), "holds a letter"); /* it would be two folders of a PATH */
	is_wrong(toolchain_override_wrong_dir("/opt/$x"), "holds a letter");
	memset(longest, 'x', sizeof longest);
	longest[0] = '/';
	longest[TOOLCHAIN_OVERRIDE_DIR_SIZE] = '\0';
	is_wrong(toolchain_override_wrong_dir(longest), "is too long");
	longest[TOOLCHAIN_OVERRIDE_DIR_SIZE - 1] = '\0';
	is_wrong(toolchain_override_wrong_dir(longest), NULL);
}

static void flags(void **state)
{
	char longest[TOOLCHAIN_OVERRIDE_FLAGS_SIZE + 1];

	(void)state;
	is_wrong(toolchain_override_wrong_flags(""), NULL);
	is_wrong(toolchain_override_wrong_flags("-O2 -march=x86-64-v3 -DA:b%c"), NULL);
	is_wrong(toolchain_override_wrong_flags("O2"), "do not begin with -");
	is_wrong(toolchain_override_wrong_flags(" -O2"), "do not begin with -");
	is_wrong(toolchain_override_wrong_flags("-O2;x"), "hold a letter");
	is_wrong(toolchain_override_wrong_flags("-O2 $x"), "hold a letter");
	is_wrong(toolchain_override_wrong_flags("-O2\n"), "hold a letter");
	memset(longest, 'x', sizeof longest);
	longest[0] = '-';
	longest[TOOLCHAIN_OVERRIDE_FLAGS_SIZE] = '\0';
	is_wrong(toolchain_override_wrong_flags(longest), "are too long");
	longest[TOOLCHAIN_OVERRIDE_FLAGS_SIZE - 1] = '\0';
	is_wrong(toolchain_override_wrong_flags(longest), NULL);
}

static void equal_overrides(void **state)
{
	struct toolchain_override none, a, b;

	(void)state;
	memset(&none, 0, sizeof none);
	assert_true(toolchain_override_is_none(&none));
	for (int k = 0; k < 3; k++) {
		a = b = none;
		snprintf(k == 0 ? a.dir : k == 1 ? a.flags : a.module, 8, "x");
		assert_false(toolchain_override_is_none(&a));
		assert_false(toolchain_override_is_same(&a, &b) || toolchain_override_is_same(&b, &a));
		b = a;
		assert_true(toolchain_override_is_same(&a, &b));
	}
}

static void units(void **state)
{
	static const struct {
		const char *unit;
		double ms, tflops; /* of 4 such units; tflops 0: none */
		const char *suffix;
	} row[] = { { "ns", 4e-6, 0, "" }, { "us", 4e-3, 0, "" }, { "MS", 4, 0, "" }, { "seconds", 4000, 0, "" },
		{ "TFLOPS", 250, 4, "/per-TFLOP" }, { "gflop/s", 250, 0.004, "/per-GFLOP" }, { "GB/s", 250, 0, "/per-GB" } };
	double ms, tflops;
	const char *suffix;

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		assert_int_equal(unit_convert(4, row[i].unit, &ms, &tflops, &suffix), 0);
		assert_true(fabs(ms / row[i].ms - 1) < 1e-12);
		assert_true(row[i].tflops > 0 ? fabs(tflops / row[i].tflops - 1) < 1e-12 : isnan(tflops));
		assert_string_equal(suffix, row[i].suffix);
	}
	assert_int_equal(unit_convert(4, "parsec", &ms, &tflops, &suffix), -1);
	assert_true(unit_to_ms("") == 0 && unit_to_ms("m") == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folders),
		cmocka_unit_test(flags),
		cmocka_unit_test(equal_overrides),
		cmocka_unit_test(units),
	};
	return cmocka_run_group_tests_name("toolchain_override", tests, NULL, NULL);
}
