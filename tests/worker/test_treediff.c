/* treediff.c: which files of two built folders differ, and what else makes folders differ. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tmp_folder.h"

static struct tmp_folder folder;
static int side[2]; /* base, target */

static void write_file(int at, const char *path, const char *text, mode_t mode)
{
	int fd = openat(at, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static int open_sides(void **state)
{
	(void)state;
	if (tmp_folder_open(&folder) != 0)
		return -1;
	for (int i = 0; i < 2; i++) {
		side[i] = workdir_fresh(folder.fd, i ? "target" : "base", NULL);
		assert_true(side[i] >= 0);
		assert_int_equal(mkdirat(side[i], "src", 0755), 0);
		write_file(side[i], "src/a.py", i ? "x = 1  # one\n" : "x = 1\n", 0644);
		write_file(side[i], "src/b.py", "y = 2\n", 0644);
		write_file(side[i], "z.py", i ? "z\n" : "w\n", 0644);
		assert_int_equal(symlinkat("src", side[i], "link"), 0);
	}
	return 0;
}

static int close_sides(void **state)
{
	(void)state;
	close(side[0]);
	close(side[1]);
	tmp_folder_close(&folder);
	return 0;
}

static int find(struct treediff *d)
{
	struct fw_err err = { 0 };

	return treediff_find(side[0], side[1], d, &err);
}

static void differing_files_are_listed(void **state)
{
	struct treediff d;

	(void)state;
	assert_int_equal(find(&d), 1);
	assert_int_equal(d.n, 2);
	assert_string_equal(d.path[0], "src/a.py");
	assert_string_equal(d.path[1], "z.py");
}

static void any_other_difference_is_found(void **state)
{
	struct treediff d;

	(void)state;
	write_file(side[1], "more", "", 0644);
	assert_int_equal(find(&d), 0);
	write_file(side[0], "less", "", 0644);
	assert_int_equal(find(&d), 0);
	assert_int_equal(unlinkat(side[0], "less", 0) | unlinkat(side[1], "more", 0), 0);
	assert_int_equal(find(&d), 1);
	assert_int_equal(fchmodat(side[1], "src/b.py", 0755, 0), 0);
	assert_int_equal(find(&d), 0);
	assert_int_equal(fchmodat(side[1], "src/b.py", 0644, 0), 0);
	assert_int_equal(unlinkat(side[1], "link", 0) | symlinkat("z.py", side[1], "link"), 0);
	assert_int_equal(find(&d), 0);
	assert_int_equal(unlinkat(side[1], "link", 0) | mkdirat(side[1], "link", 0755), 0);
	assert_int_equal(find(&d), 0);
}

static void too_many_files_are_another_difference(void **state)
{
	struct treediff d;

	(void)state;
	for (int i = 0; i < TREEDIFF_MAX; i++) {
		char name[16];

		snprintf(name, sizeof name, "n%d", i);
		write_file(side[0], name, "0", 0644);
		write_file(side[1], name, "1", 0644);
	}
	assert_int_equal(find(&d), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(differing_files_are_listed, open_sides, close_sides),
		cmocka_unit_test_setup_teardown(any_other_difference_is_found, open_sides, close_sides),
		cmocka_unit_test_setup_teardown(too_many_files_are_another_difference, open_sides, close_sides),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
