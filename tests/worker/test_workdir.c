/* workdir.c: what a folder of a build uses, copies of it, its hash, and its owner. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "tmp_folder.h"

struct scene {
	struct tmp_folder folder;
	struct fw_err err;
	int from; /* folder "from" */
};

static int setup(void **state)
{
	static struct scene s;

	memset(&s, 0, sizeof s);
	*state = &s;
	if (tmp_folder_open(&s.folder) != 0)
		return -1;
	s.from = workdir_fresh(s.folder.fd, "from", &s.err);
	return s.from < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	struct scene *s = *state;

	close(s->from);
	tmp_folder_close(&s->folder);
	return 0;
}

static void put(int folder, const char *name, const char *text, mode_t mode)
{
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static void usage_counts_each_file_once(void **state)
{
	struct scene *s = *state;
	static char block[65536];
	struct stat st;

	struct disk_usage use = workdir_usage(s->folder.fd, "from");
	assert_true(use.bytes == 0 && use.files == 0);
	use = workdir_usage(s->folder.fd, "missing");
	assert_true(use.bytes == 0 && use.files == 0);
	memset(block, 'x', sizeof block - 1);
	assert_int_equal(mkdirat(s->from, "a", 0700) | mkdirat(s->from, "a/b", 0700), 0);
	put(s->from, "a/b/large", block, 0600);
	put(s->from, ".hidden", block, 0600);
	assert_int_equal(symlinkat("/", s->from, "out"), 0); /* not followed */
	use = workdir_usage(s->folder.fd, "from");
	assert_int_equal(use.files, 5);
	int64_t alone = use.bytes;
	assert_true(alone >= 2 * 65536 && alone < 3 * 65536);
	assert_int_equal(linkat(s->from, "a/b/large", s->from, "again", 0), 0); /* a second name of the same bytes */
	use = workdir_usage(s->folder.fd, "from");
	assert_int_equal(use.files, 6);
	assert_int_equal(fstatat(s->from, "again", &st, 0), 0);
	assert_int_equal(use.bytes, alone);
}

static void is_same(struct scene *s, int to, const char *name)
{
	struct stat a, b;

	assert_int_equal(fstatat(s->from, name, &a, AT_SYMLINK_NOFOLLOW), 0);
	assert_int_equal(fstatat(to, name, &b, AT_SYMLINK_NOFOLLOW), 0);
	assert_int_equal(a.st_mode, b.st_mode);
	assert_int_equal(a.st_size, S_ISDIR(a.st_mode) ? a.st_size : b.st_size);
	if (S_ISLNK(a.st_mode))
		return;
	assert_int_equal(a.st_mtim.tv_sec, b.st_mtim.tv_sec);
	assert_int_equal(a.st_mtim.tv_nsec, b.st_mtim.tv_nsec);
}

static void copies_are_whole(void **state)
{
	struct scene *s = *state;
	const struct timespec old[2] = { { 1000, 7 }, { 2000, 8 } };
	char text[64], target[64] = "", one[65], two[65];

	assert_int_equal(mkdirat(s->from, "a", 0750), 0);
	put(s->from, "a/run", "#!/bin/sh\n", 0755);
	put(s->from, "empty", "", 0640);
	assert_int_equal(symlinkat("a/run", s->from, "link"), 0);
	assert_int_equal(mkfifoat(s->from, "pipe", 0600), 0);
	assert_int_equal(utimensat(s->from, "a/run", old, 0) | utimensat(s->from, "empty", old, 0), 0);
	assert_int_equal(utimensat(s->from, "a", old, 0), 0);
	assert_int_equal(workdir_copy(s->folder.fd, "from", s->folder.fd, "to", 1 << 20), 0);
	int to = openat(s->folder.fd, "to", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(to >= 0);
	is_same(s, to, "a");
	is_same(s, to, "a/run");
	is_same(s, to, "empty");
	is_same(s, to, "link");
	assert_int_equal(readlinkat(to, "link", target, sizeof target - 1), 5);
	assert_string_equal(target, "a/run");
	assert_string_equal(tmp_folder_read(&s->folder, "to/a/run", text, sizeof text), "#!/bin/sh\n");
	struct stat st;
	assert_int_equal(fstatat(to, "pipe", &st, 0), -1);
	assert_int_equal(unlinkat(s->from, "pipe", 0), 0);
	assert_int_equal(workdir_hash(s->from, one, &s->err), 0);
	assert_int_equal(workdir_hash(to, two, &s->err), 0);
	assert_string_equal(one, two);
	close(to);
	/* an earlier copy is replaced */
	assert_int_equal(unlinkat(s->from, "empty", 0), 0);
	assert_int_equal(workdir_copy(s->folder.fd, "from", s->folder.fd, "to", 1 << 20), 0);
	assert_int_equal(fstatat(s->folder.fd, "to/empty", &st, 0), -1);
	/* without a copy: too large, or missing */
	assert_int_equal(workdir_copy(s->folder.fd, "from", s->folder.fd, "to", 10), 0);
	assert_int_equal(workdir_copy(s->folder.fd, "from", s->folder.fd, "to", 9), -1);
	assert_int_equal(fstatat(s->folder.fd, "to", &st, 0), -1);
	assert_int_equal(workdir_copy(s->folder.fd, "missing", s->folder.fd, "to", 9), -1);
}

/* As many folders below each other. */
static void nest(struct scene *s, int depth)
{
	int at = dup(s->from);

	for (int i = 0; i < depth; i++) {
		assert_int_equal(mkdirat(at, "d", 0700), 0);
		int next = openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(at);
		at = next;
	}
	close(at);
}

static void deep_folders_are_not_copied(void **state)
{
	struct scene *s = *state;

	nest(s, 64);
	assert_int_equal(workdir_copy(s->folder.fd, "from", s->folder.fd, "to", 1), 0);
	assert_int_equal(workdir_remove(s->from, "d", &s->err), 0);
	nest(s, 65);
	assert_int_equal(workdir_copy(s->folder.fd, "from", s->folder.fd, "to", 1), -1);
}

/* As deep as removal goes in one pass: what a build hides deeper is no reason to recurse without end. */
static void usage_is_counted_to_a_depth(void **state)
{
	struct scene *s = *state;

	nest(s, 40);
	struct disk_usage use = workdir_usage(s->folder.fd, "from");
	assert_int_equal(use.files, 33);
	assert_true(use.is_partial);
}

/* What a build could use to hide the size of its files. */
static void usage_lists_what_it_does_not_count(void **state)
{
	struct scene *s = *state;

	put(s->from, "a", "one", 0600);
	assert_int_equal(mkdirat(s->from, "d", 0700), 0);
	struct disk_usage use = workdir_usage(s->folder.fd, "from");
	assert_false(use.is_partial || use.has_links);
	assert_int_equal(linkat(s->from, "a", s->folder.fd, "elsewhere", 0), 0);
	assert_true(workdir_usage(s->folder.fd, "from").has_links);
	assert_int_equal(unlinkat(s->folder.fd, "elsewhere", 0), 0);
	assert_false(workdir_usage(s->folder.fd, "missing").is_partial);
	if (geteuid() != 0) {
		assert_int_equal(fchmodat(s->from, "d", 0, 0), 0);
		assert_true(workdir_usage(s->folder.fd, "from").is_partial);
	}
}

static void hash_is(struct scene *s, const char *before, bool is_equal)
{
	char now[65];

	assert_int_equal(workdir_hash(s->from, now, &s->err), 0);
	assert_true((strcmp(before, now) == 0) == is_equal);
}

static void names_kinds_and_contents_are_hashed(void **state)
{
	struct scene *s = *state;
	char before[65];

	put(s->from, "a", "one", 0644);
	put(s->from, "b", "two", 0644);
	assert_int_equal(mkdirat(s->from, "d", 0700), 0);
	assert_int_equal(symlinkat("a", s->from, "l"), 0);
	assert_int_equal(workdir_hash(s->from, before, &s->err), 0);
	hash_is(s, before, true);
	put(s->from, "a", "One", 0644);
	hash_is(s, before, false);
	put(s->from, "a", "one", 0640); /* other bits than the one to run it do not count */
	hash_is(s, before, true);
	put(s->from, "a", "one", 0744);
	hash_is(s, before, false);
	put(s->from, "a", "one", 0644);
	assert_int_equal(renameat(s->from, "b", s->from, "c"), 0);
	hash_is(s, before, false);
	assert_int_equal(renameat(s->from, "c", s->from, "d/b"), 0);
	hash_is(s, before, false);
	assert_int_equal(renameat(s->from, "d/b", s->from, "b"), 0);
	hash_is(s, before, true);
	assert_int_equal(fchmodat(s->from, "d", 0755, 0), 0);
	hash_is(s, before, true);
	assert_int_equal(unlinkat(s->from, "l", 0) | symlinkat("b", s->from, "l"), 0);
	hash_is(s, before, false);
	assert_int_equal(unlinkat(s->from, "l", 0), 0);
	hash_is(s, before, false);
	put(s->from, "l", "a", 0644); /* a file with the text of the link */
	hash_is(s, before, false);
}

static void a_folder_gets_another_owner(void **state)
{
	struct scene *s = *state;
	char path[128];
	struct stat st;

	if (geteuid() != 0)
		skip();
	assert_int_equal(mkdirat(s->from, "d", 0700), 0);
	put(s->from, "d/f", "x", 0600);
	put(s->folder.fd, "outside", "x", 0600);
	assert_int_equal(symlinkat("../../outside", s->from, "d/l"), 0);
	snprintf(path, sizeof path, "%s/from", s->folder.path);
	assert_int_equal(workdir_give(path, 65534, &s->err), 0);
	static const char *const all[] = { "from", "from/d", "from/d/f", "from/d/l" };
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(fstatat(s->folder.fd, all[i], &st, AT_SYMLINK_NOFOLLOW), 0);
		assert_true(st.st_uid == 65534 && st.st_gid == 65534);
	}
	assert_int_equal(fstat(s->from, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0755);
	assert_int_equal(fstatat(s->folder.fd, "outside", &st, 0), 0);
	assert_int_equal(st.st_uid, 0);
	assert_int_equal(workdir_give("/nonexistent", 65534, &s->err), -1);
}

#define IN_A_FOLDER(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_A_FOLDER(usage_counts_each_file_once),
		IN_A_FOLDER(copies_are_whole),
		IN_A_FOLDER(deep_folders_are_not_copied),
		IN_A_FOLDER(usage_is_counted_to_a_depth),
		IN_A_FOLDER(usage_lists_what_it_does_not_count),
		IN_A_FOLDER(names_kinds_and_contents_are_hashed),
		IN_A_FOLDER(a_folder_gets_another_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
