/* Terms of configurations, names of sides for files, and the paths and flags that a branch or an administrator may name. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "model/model.h"

static void every_requested_term_is_chosen(void **state)
{
	(void)state;
	assert_true(config_contains_all("", ""));
	assert_true(config_contains_all("STAGES=2", "BLOCK_M=128 STAGES=2"));
	assert_true(config_contains_all("STAGES=2;BLOCK_M=128", "BLOCK_M=128,\tSTAGES=2\n"));
	assert_true(config_contains_all("fast", "fast STAGES=2"));
	assert_false(config_contains_all("STAGES=2", "STAGES=20"));
	assert_false(config_contains_all("STAGES=20", "STAGES=2"));
	assert_false(config_contains_all("STAGES=2 WARPS=4", "STAGES=2"));
	assert_false(config_contains_all("STAGES", "STAGES=2")); /* a word is no value */
}

static void terms_without_a_key_are_named(void **state)
{
	char text[16];

	(void)state;
	assert_int_equal(config_unfit("A=1 B=2", "B=3 A=4", text, sizeof text), 0);
	assert_string_equal(text, "");
	assert_int_equal(config_unfit("A=1,C=2; D", "A=9", text, sizeof text), 2);
	assert_string_equal(text, "C=2 D");
	assert_int_equal(config_unfit("LONGER_NAME=1 SECOND_NAME=2 THIRD=3", "", text, sizeof text), 3);
	assert_string_equal(text, "LONGER_NAME=1 S"); /* cut, but all are counted */
}

static void values_are_taken_for_common_keys(void **state)
{
	char text[24];

	(void)state;
	assert_true(config_fit("B=7 X=1", "A=1, B=2", text, sizeof text));
	assert_string_equal(text, "A=1, B=7"); /* with the separators of the own one */
	assert_true(config_fit("B=3 B=4", "B=1", text, sizeof text));
	assert_string_equal(text, "B=4"); /* the last one counts */
	assert_true(config_fit("A=1", "", text, sizeof text));
	assert_string_equal(text, "");
	assert_false(config_fit("A=a_value_that_is_longer_than_the_space", "A=1", text, sizeof text));
	assert_false(config_fit("", "A=1 B=2 C=3 D=4 E=5 F=6 G=7", text, sizeof text));
}

static void names_of_sides(void **state)
{
	struct side_label side[2] = { { "main", "1111111111111111", "" }, { "feature/x y", "2222222222222222", "cudnn@cuda" } };
	char name[2][SIDE_NAME_SIZE], longer[300];

	(void)state;
	side_names(side, name);
	assert_string_equal(name[0], "main");
	assert_string_equal(name[1], "feature-x-y-cudnn-cuda"); /* no slash, no blank, no @ */
	side[0] = (struct side_label){ "", "1111111111111111", "" };
	side[1] = (struct side_label){ "..", "2222222222222222", "" };
	side_names(side, name);
	assert_string_equal(name[0], "111111111111");
	assert_string_equal(name[1], "-."); /* neither a hidden file nor the folder above */
	side[0] = side[1] = (struct side_label){ "main", "1111111111111111", "" };
	side_names(side, name);
	assert_string_equal(name[0], "main");
	assert_string_equal(name[1], "main-again");
	side[1].commit = "3333333333333333";
	side_names(side, name);
	assert_string_equal(name[1], "main-333333333333");
	memset(longer, 'n', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	side[0] = side[1] = (struct side_label){ longer, "1111111111111111", longer };
	side_names(side, name);
	assert_int_equal(strlen(name[0]), SIDE_NAME_SIZE - 1);
	assert_string_not_equal(name[0], name[1]);
}

static void toolchains_of_a_side(void **state)
{
	static const struct {
		const char *dir, *wrong; /* NULL: accepted */
	} dirs[] = { { "", NULL }, { "/usr/local/cuda-12.9", NULL }, { "/opt/a+b@1,x=y%", NULL }, { "cuda", "absolute" },
		{ "/opt/../etc", "absolute" }, { "/opt/..", "absolute" }, { "/opt//x", "absolute" }, { "/opt/a b", "letter" },
		{ "/opt/$(id)", "letter" }, { "/", "whole machine" } };
	static const struct {
		const char *flags, *wrong;
	} flags[] = { { "", NULL }, { "-O2 -DA=1 -I/x:y", NULL }, { "O2", "do not begin" }, { "-O2;id", "letter" },
		{ "-D`id`", "letter" }, { "-O2\n", "letter" } };
	char longer[TOOLCHAIN_OVERRIDE_DIR_SIZE + 2];
	struct toolchain_override a = { .dir = "" }, b = { .dir = "" };

	(void)state;
	for (size_t i = 0; i < sizeof dirs / sizeof dirs[0]; i++) {
		const char *wrong = toolchain_override_wrong_dir(dirs[i].dir);
		if (!wrong != !dirs[i].wrong || (wrong && !strstr(wrong, dirs[i].wrong)))
			fail_msg("%s: %s", dirs[i].dir, wrong ? wrong : "accepted");
	}
	for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
		const char *wrong = toolchain_override_wrong_flags(flags[i].flags);
		if (!wrong != !flags[i].wrong || (wrong && !strstr(wrong, flags[i].wrong)))
			fail_msg("%s: %s", flags[i].flags, wrong ? wrong : "accepted");
	}
	memset(longer, 'x', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	longer[0] = '/';
	assert_string_equal(toolchain_override_wrong_dir(longer), "is too long");
	longer[0] = '-';
	assert_string_equal(toolchain_override_wrong_flags(longer), "are too long");
	assert_true(toolchain_override_is_none(&a));
	assert_true(toolchain_override_is_same(&a, &b));
	strcpy(a.flags, "-O3");
	assert_false(toolchain_override_is_none(&a));
	assert_false(toolchain_override_is_same(&a, &b));
	strcpy(b.flags, "-O3");
	assert_true(toolchain_override_is_same(&a, &b));
	strcpy(b.module, "0");
	assert_false(toolchain_override_is_same(&a, &b));
}

/* Folders that branch code may read. */
static void folders_to_read(void **state)
{
	static const struct {
		const char *path, *wrong;
	} paths[] = { { "/opt/conda", NULL }, { "/home/ann/venv", NULL }, { "/usr/lib", NULL }, { "/var/lib/toolchain", NULL },
		{ "opt", "absolute" }, { "", "absolute" }, { "/", "too much" }, { "/home", "too much" }, { "/tmp", "too much" },
		{ "/opt/", "plainly" }, { "/opt//x", "plainly" }, { "/opt/./x", "plainly" }, { "/opt/../etc", "plainly" },
		{ "/opt/a b", "letters" }, { "/opt/\xc3\xa4", "letters" }, { "/etc", "closed" }, { "/proc/self", "closed" },
		{ "/run/x", "closed" }, { "/var/log/x", "closed" }, { "/home/ann", "whole home" }, { "/home/ann/.ssh", "keys" },
		{ "/srv/x/.aws/y", "keys" }, { "/opt/x.ssh", NULL }, { "/etcetera", NULL } };
	char longer[READONLY_PATH_SIZE + 1];

	(void)state;
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		const char *wrong = readonly_wrong(paths[i].path);
		if (!wrong != !paths[i].wrong || (wrong && !strstr(wrong, paths[i].wrong)))
			fail_msg("%s: %s", paths[i].path, wrong ? wrong : "accepted");
	}
	memset(longer, 'x', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	longer[0] = '/';
	assert_string_equal(readonly_wrong(longer), "is longer than 511 bytes");
	assert_true(readonly_lies_in("/opt/x", "/opt"));
	assert_true(readonly_lies_in("/opt", "/opt"));
	assert_true(readonly_lies_in("/opt", "/"));
	assert_false(readonly_lies_in("/optional", "/opt"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_requested_term_is_chosen),
		cmocka_unit_test(terms_without_a_key_are_named),
		cmocka_unit_test(values_are_taken_for_common_keys),
		cmocka_unit_test(names_of_sides),
		cmocka_unit_test(toolchains_of_a_side),
		cmocka_unit_test(folders_to_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
