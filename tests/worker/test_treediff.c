/* treediff.c: which files of two built folders differ, and what else makes folders differ. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tmp_folder.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct tmp_folder folder;
static ino_t unreadable; /* the next read of this file fails; 0: none does */

ssize_t pread(int fd, void *data, size_t size, off_t at)
{
	struct stat st;

	if (unreadable && fstat(fd, &st) == 0 && st.st_ino == unreadable) {
		unreadable = 0;
		errno = EIO;
		return -1;
	}
	return syscall(SYS_pread64, fd, data, size, at);
}

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

/* A file that cannot be read is an error, and never a difference: that would be one of the commits. */
static void a_file_that_cannot_be_read_is_an_error(void **state)
{
	struct fw_err err = { 0 };
	struct treediff d;
	struct stat st;

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(fstatat(side[i], "src/b.py", &st, 0), 0);
		unreadable = st.st_ino;
		err_clear(&err);
		assert_int_equal(treediff_find(side[0], side[1], &d, &err), -1);
		assert_non_null(strstr(err.text, "read a built file: Input/output error"));
	}
	assert_int_equal(find(&d), 1);
	assert_int_equal(d.n, 2);
}

static void logs_of_the_build_are_left_out(void **state)
{
	static const char *const logs[] = { "CMakeOutput.log", "CMakeError.log", "CMakeConfigureLog.yaml", ".ninja_log",
		".ninja_deps" };
	const struct timespec unpacked[2] = { { .tv_sec = 946684800 }, { .tv_sec = 946684800 } };
	char before[65], after[65];
	struct treediff d;

	(void)state;
	assert_int_equal(workdir_hash_made(side[0], before, NULL), 0);
	for (size_t i = 0; i < sizeof logs / sizeof logs[0]; i++)
		for (int at = 0; at < 2; at++)
			write_file(side[at], logs[i], at ? "12:01" : "12:00", 0644);
	assert_int_equal(find(&d), 1);
	assert_int_equal(d.n, 2); /* those of open_sides */
	assert_int_equal(workdir_hash_made(side[0], after, NULL), 0);
	assert_string_equal(after, before);
	for (int at = 0; at < 2; at++) /* a file of the repository by that name */
		assert_int_equal(utimensat(side[at], ".ninja_log", unpacked, 0), 0);
	assert_int_equal(find(&d), 1);
	assert_int_equal(d.n, 3);
	assert_string_equal(d.path[0], ".ninja_log");
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
		cmocka_unit_test_setup_teardown(a_file_that_cannot_be_read_is_an_error, open_sides, close_sides),
		cmocka_unit_test_setup_teardown(logs_of_the_build_are_left_out, open_sides, close_sides),
		cmocka_unit_test_setup_teardown(any_other_difference_is_found, open_sides, close_sides),
		cmocka_unit_test_setup_teardown(too_many_files_are_another_difference, open_sides, close_sides),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
