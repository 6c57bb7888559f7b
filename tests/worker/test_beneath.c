/* beneath.c: paths below a folder are opened, and nothing that a link or ".." leads to. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "tmp_folder.h"
#include "worker/sandbox/sandbox.h"

/* root/sub/deep/file; links to each of them, one to "/" and one to a missing file. `secret` is next to root. */
static int setup(void **state)
{
	struct tmp_folder *t = calloc(1, sizeof *t);

	*state = t;
	if (!t || tmp_folder_open(t) != 0 || tmp_folder_write(t, "secret", "secret", 0600) != 0 ||
		mkdirat(t->fd, "root", 0700) < 0 || mkdirat(t->fd, "root/sub", 0700) < 0 ||
		mkdirat(t->fd, "root/sub/deep", 0700) < 0 || tmp_folder_write(t, "root/sub/deep/file", "text", 0600) != 0)
		return -1;
	return symlinkat("deep", t->fd, "root/sub/again") < 0 || symlinkat("file", t->fd, "root/sub/deep/link") < 0 ||
			       symlinkat("/", t->fd, "root/all") < 0 || symlinkat("nothing", t->fd, "root/lost") < 0 ||
			       symlinkat("..", t->fd, "root/up") < 0
		       ? -1
		       : 0;
}

static int teardown(void **state)
{
	tmp_folder_close(*state);
	free(*state);
	return 0;
}

/* The errno of opening `path` below root; 0: it was opened. `text`: NULL, or the expected contents of the file. */
static int opened(struct tmp_folder *t, const char *path, int flags, const char *text)
{
	int root = openat(t->fd, "root", O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd, error;
	char got[16] = "";

	assert_true(root >= 0);
	errno = 0;
	fd = beneath_open(root, path, flags);
	error = fd < 0 ? errno : 0;
	if (text) {
		assert_true(fd >= 0 && read(fd, got, sizeof got - 1) >= 0);
		assert_string_equal(got, text);
	}
	if (fd >= 0) {
		assert_true(fd != root && (fcntl(fd, F_GETFD) & FD_CLOEXEC));
		close(fd);
	}
	close(root);
	return error;
}

static void paths_below_a_folder_are_opened(void **state)
{
	struct tmp_folder *t = *state;

	assert_int_equal(opened(t, "sub/deep/file", O_RDONLY, "text"), 0);
	assert_int_equal(opened(t, "./sub//./deep/file", O_RDONLY, "text"), 0);
	assert_int_equal(opened(t, "sub/deep", O_PATH | O_DIRECTORY, NULL), 0);
	assert_int_equal(opened(t, "sub/deep/", O_PATH | O_DIRECTORY, NULL), 0);
	assert_int_equal(opened(t, ".", O_PATH | O_DIRECTORY, NULL), 0);
	assert_int_equal(opened(t, "", O_PATH | O_DIRECTORY, NULL), 0);
}

static void no_link_is_followed(void **state)
{
	static const char *const behind[] = { "sub/again/file", "sub/deep/link", "all/etc/passwd", "all", "lost", "up/secret",
		"up", "sub/again", "sub/again/" };
	struct tmp_folder *t = *state;

	for (size_t i = 0; i < sizeof behind / sizeof behind[0]; i++) {
		assert_int_equal(opened(t, behind[i], O_RDONLY | O_NONBLOCK, NULL), ELOOP);
		assert_int_equal(opened(t, behind[i], O_PATH, NULL), ELOOP);
		assert_int_equal(opened(t, behind[i], O_PATH | O_DIRECTORY, NULL), ELOOP);
	}
}

static void no_path_leads_out(void **state)
{
	static const char *const out[] = { "../secret", "..", "sub/../../secret", "sub/deep/..", "/etc/passwd", "/" };
	struct tmp_folder *t = *state;

	for (size_t i = 0; i < sizeof out / sizeof out[0]; i++)
		assert_int_equal(opened(t, out[i], O_RDONLY, NULL), EXDEV);
}

static void a_missing_path_is_reported(void **state)
{
	struct tmp_folder *t = *state;
	char name[300];

	assert_int_equal(opened(t, "sub/none/file", O_RDONLY, NULL), ENOENT);
	assert_int_equal(opened(t, "sub/deep/none", O_RDONLY, NULL), ENOENT);
	assert_int_equal(opened(t, "sub/deep/file/none", O_RDONLY, NULL), ENOTDIR);
	assert_int_equal(opened(t, "sub/deep/file/", O_RDONLY, NULL), ENOTDIR);
	assert_int_equal(opened(t, "sub/deep/file", O_RDONLY | O_DIRECTORY, NULL), ENOTDIR);
	memset(name, 'n', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	assert_int_equal(opened(t, name, O_RDONLY, NULL), ENAMETOOLONG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(paths_below_a_folder_are_opened, setup, teardown),
		cmocka_unit_test_setup_teardown(no_link_is_followed, setup, teardown),
		cmocka_unit_test_setup_teardown(no_path_leads_out, setup, teardown),
		cmocka_unit_test_setup_teardown(a_missing_path_is_reported, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
