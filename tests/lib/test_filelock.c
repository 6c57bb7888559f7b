/* Ownership of an open file that two processes have opened, or whose name was removed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/lib.h"

static char path[64];

static int make(void **state)
{
	(void)state;
	snprintf(path, sizeof path, "/tmp/flopwatch-lock-XXXXXX");
	int fd = mkstemp(path);
	int written = fd < 0 ? 0 : (int)write(fd, "left", 4);
	return written == 4 ? close(fd) : -1;
}

static int drop(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

static off_t size_of(int fd)
{
	struct stat st;
	assert_int_equal(fstat(fd, &st), 0);
	return st.st_size;
}

static void the_first_holder_keeps_the_lock_until_it_closes(void **state)
{
	struct fw_err err = { 0 };
	int first = open(path, O_WRONLY), second = open(path, O_WRONLY);
	(void)state;
	assert_true(first >= 0 && second >= 0);
	assert_int_equal(filelock_claim(first, path, &err), 1);
	assert_int_equal(size_of(first), 0);
	assert_int_equal(write(first, "mine", 4), 4);
	assert_int_equal(filelock_claim(second, path, &err), 0);
	assert_int_equal(size_of(first), 4); /* what another process writes is not truncated */
	close(first);
	assert_int_equal(filelock_claim(second, path, &err), 1);
	assert_int_equal(size_of(second), 0);
	close(second);
}

static void a_deleted_lock_file_locks_nothing(void **state)
{
	struct fw_err err = { 0 };
	char other[80];
	int fd = open(path, O_WRONLY);
	(void)state;
	assert_true(fd >= 0 && filelock_is_at(fd, path));
	snprintf(other, sizeof other, "%s.done", path);
	assert_int_equal(rename(path, other), 0);
	assert_false(filelock_is_at(fd, path));
	assert_true(filelock_is_at(fd, other));
	assert_int_equal(filelock_claim(fd, path, &err), 0);
	assert_int_equal(size_of(fd), 4);
	unlink(other);
	assert_false(filelock_is_at(fd, other));
	close(fd);
}

static void a_lock_file_that_cannot_be_truncated_is_reported(void **state)
{
	struct fw_err err = { 0 };
	int fd = open(path, O_RDONLY);
	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(filelock_claim(fd, path, &err), -1);
	assert_string_not_equal(err.text, "");
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_first_holder_keeps_the_lock_until_it_closes, make, drop),
		cmocka_unit_test_setup_teardown(a_deleted_lock_file_locks_nothing, make, drop),
		cmocka_unit_test_setup_teardown(a_lock_file_that_cannot_be_truncated_is_reported, make, drop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
