/* cache.c, sealed.c, workdir.c, buildlog.c: what a worker stores on disk and in memory, and how it removes it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tmp_folder.h"
#include "worker/sandbox/internal.h"
#include "worker/sandbox/sandbox.h"

struct scene {
	struct tmp_folder folder;
	struct cache cache;
	struct fw_err err;
};

static int setup(void **state)
{
	struct scene *s = calloc(1, sizeof *s);
	char dir[100];

	*state = s;
	if (!s || tmp_folder_open(&s->folder) != 0)
		return -1;
	snprintf(dir, sizeof dir, "%s/a/b/cache", s->folder.path);
	return cache_open(&s->cache, dir, &s->err);
}

static int teardown(void **state)
{
	struct scene *s = *state;

	cache_close(&s->cache);
	tmp_folder_close(&s->folder);
	free(s);
	return 0;
}

/* Without a folder: that of the service, of the user, or none. */
static void a_cache_has_a_usual_place(void **state)
{
	struct scene *s = *state;
	char text[160], wanted[160];
	struct cache c;
	char *home = getenv("HOME") ? strdup(getenv("HOME")) : NULL;

	snprintf(text, sizeof text, "%s/service:/elsewhere", s->folder.path);
	setenv("CACHE_DIRECTORY", text, 1);
	setenv("XDG_CACHE_HOME", s->folder.path, 1);
	assert_int_equal(cache_open(&c, NULL, &s->err), 0);
	snprintf(wanted, sizeof wanted, "%s/service", s->folder.path);
	assert_string_equal(c.dir, wanted);
	cache_close(&c);
	setenv("CACHE_DIRECTORY", "relative", 1);
	assert_int_equal(cache_open(&c, NULL, &s->err), 0);
	snprintf(wanted, sizeof wanted, "%s/flopwatch", s->folder.path);
	assert_string_equal(c.dir, wanted);
	cache_close(&c);
	unsetenv("CACHE_DIRECTORY");
	setenv("XDG_CACHE_HOME", "relative", 1);
	bool is_root = geteuid() == 0;
	assert_int_equal(fchmod(s->folder.fd, 0777), 0);
	if (is_root)
		assert_int_equal(seteuid(65534), 0); /* root's has no HOME in its path */
	setenv("HOME", s->folder.path, 1);
	int in_home = cache_open(&c, NULL, &s->err);
	snprintf(wanted, sizeof wanted, "%s/.cache/flopwatch", s->folder.path);
	cache_close(&c);
	setenv("HOME", "relative", 1);
	struct cache none;
	int nowhere = cache_open(&none, NULL, &s->err);
	if (is_root)
		assert_int_equal(seteuid(0), 0);
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	if (home)
		setenv("HOME", home, 1);
	free(home);
	assert_int_equal(in_home, 0);
	assert_string_equal(c.dir, wanted);
	assert_int_equal(nowhere, -1);
	assert_string_equal(s->err.text, "no folder for the cache: give --cache DIR");
}

static void entries_are_read_back_complete(void **state)
{
	struct scene *s = *state;
	struct buf b;

	buf_init(&b, 100);
	assert_int_equal(cache_get(s->cache.builds_fd, "key", &b), 0);
	assert_int_equal(cache_put(s->cache.builds_fd, "key", "value", 5, &s->err), 0);
	assert_int_equal(cache_get(s->cache.builds_fd, "key", &b), 1);
	assert_string_equal(b.data, "value");
	cache_forget(s->cache.builds_fd, "key");
	buf_clear(&b);
	assert_int_equal(cache_get(s->cache.builds_fd, "key", &b), 0);
	buf_fini(&b);
}

static void modules_are_named_by_their_hash(void **state)
{
	struct scene *s = *state;
	char sha[HASH_HEX], again[HASH_HEX];
	int fd;

	assert_int_equal(tmp_folder_write(&s->folder, "m", "hello\n", 0644), 0);
	fd = openat(s->folder.fd, "m", O_RDONLY | O_CLOEXEC);
	assert_int_equal(cache_put_module(&s->cache, fd, 100, sha, &s->err), 0);
	assert_string_equal(sha, "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03");
	assert_int_equal(cache_put_module(&s->cache, fd, 5, again, &s->err), -1);
	assert_int_equal(s->err.code, ERR_INVALID);
	close(fd);
	fd = cache_open_module(&s->cache, sha);
	assert_true(fd >= 0);
	int sealed = sealed_copy(fd, "m", again, &s->err);

	close(fd);
	assert_true(sealed >= 0);
	assert_string_equal(sha, again);
	assert_int_equal(write(sealed, "x", 1), -1);
	assert_int_equal(ftruncate(sealed, 0), -1);
	assert_ptr_equal(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, sealed, 0), MAP_FAILED);
	close(sealed);
}

static void sealed_open_refuses_what_is_no_file(void **state)
{
	struct scene *s = *state;
	char sha[HASH_HEX];

	assert_int_equal(sealed_open(s->folder.path, sha, &s->err), -1);
	assert_int_equal(s->err.code, ERR_INVALID);
	err_clear(&s->err);
	assert_int_equal(sealed_open("/nonexistent/module.so", sha, &s->err), -1);
	assert_int_equal(s->err.code, ERR_NOT_FOUND);
}

static void locks_exclude_each_other(void **state)
{
	struct scene *s = *state;
	int first = cache_lock(&s->cache, "build", &s->err), other;

	assert_true(first >= 0);
	assert_int_equal(cache_lock(&s->cache, "build", &s->err), -1);
	assert_int_equal(s->err.code, ERR_BUSY);
	err_clear(&s->err);
	other = cache_lock(&s->cache, "device-x", &s->err);
	assert_true(other >= 0);
	close(other);
	close(first);
	first = cache_lock(&s->cache, "build", &s->err);
	assert_true(first >= 0);
	close(first);
}

/* Each of n builds has a slot; the first one that runs alone shares its lock. */
static void builds_have_slots(void **state)
{
	struct scene *s = *state;
	int slot[3], fd[2];
	bool alone;

	for (int i = 0; i < 2; i++) {
		fd[i] = cache_lock_slot(&s->cache, 2, &slot[i], &s->err);
		assert_true(fd[i] >= 0);
		assert_int_equal(slot[i], i);
	}
	assert_int_equal(cache_lock_slot(&s->cache, 2, &slot[2], &s->err), -1);
	assert_int_equal(s->err.code, ERR_BUSY);
	close(fd[0]);
	err_clear(&s->err);
	assert_int_equal(cache_lock(&s->cache, "build-1", &s->err), -1);
	fd[0] = cache_lock(&s->cache, "build", &s->err);
	assert_true(fd[0] >= 0);
	close(fd[0]);
	close(fd[1]);
	err_clear(&s->err);
	fd[0] = cache_lock_concurrent(&s->cache, &alone, &s->err);
	assert_true(fd[0] >= 0 && alone);
	assert_int_equal(cache_lock_concurrent(&s->cache, &alone, &s->err), -1);
	assert_int_equal(s->err.code, ERR_BUSY);
	assert_int_equal(cache_lock_share(fd[0], &s->err), 0);
	fd[1] = cache_lock_concurrent(&s->cache, &alone, &s->err);
	assert_true(fd[1] >= 0 && !alone);
	close(fd[0]);
	close(fd[1]);
	assert_int_equal(cache_lock_share(-1, &s->err), -1);
}

static void trim_keeps_the_newest(void **state)
{
	struct scene *s = *state;
	struct stat st;
	char name[16];

	for (int i = 0; i < 10; i++) {
		struct timespec age[2] = { { .tv_sec = 1000 + i }, { .tv_sec = 1000 + i } };

		snprintf(name, sizeof name, "k%d", i);
		assert_int_equal(cache_put(s->cache.builds_fd, name, "x", 1, &s->err), 0);
		assert_int_equal(utimensat(s->cache.builds_fd, name, age, 0), 0);
	}
	close(openat(s->cache.builds_fd, ".1-2.tmp", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	cache_trim(&s->cache, 3);
	assert_int_equal(fstatat(s->cache.builds_fd, "k6", &st, 0), -1);
	assert_int_equal(fstatat(s->cache.builds_fd, "k7", &st, 0), 0);
	assert_int_equal(fstatat(s->cache.builds_fd, "k9", &st, 0), 0);
	assert_int_equal(fstatat(s->cache.builds_fd, ".1-2.tmp", &st, 0), -1);
}

static void unusable_folders_are_named(void **state)
{
	struct scene *s = *state;
	struct cache c;
	char dir[100];

	assert_int_equal(tmp_folder_write(&s->folder, "file", "x", 0644), 0);
	snprintf(dir, sizeof dir, "%s/file/cache", s->folder.path);
	assert_int_equal(cache_open(&c, dir, &s->err), -1);
	assert_non_null(strstr(s->err.text, "file/cache"));
}

static void deep_and_read_only_folders_are_removed(void **state)
{
	struct scene *s = *state;
	int fd = workdir_fresh(s->folder.fd, "w", &s->err), deep;
	struct stat st;

	assert_true(fd >= 0);
	deep = dup(fd);
	for (int i = 0; i < 300; i++) {
		assert_int_equal(mkdirat(deep, "d", 0700), 0);
		int next = openat(deep, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		assert_int_equal(symlinkat("/", deep, "link"), 0);
		close(deep);
		deep = next;
	}
	close(deep);
	assert_int_equal(mkdirat(fd, "deep-0", 0700), 0); /* a name that removal itself uses */
	assert_int_equal(mkdirat(fd, "deep-0/x", 0), 0);
	assert_int_equal(fchmod(fd, 0), 0);
	close(fd);
	assert_int_equal(workdir_remove(s->folder.fd, "w", &s->err), 0);
	assert_int_equal(fstatat(s->folder.fd, "w", &st, AT_SYMLINK_NOFOLLOW), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(workdir_remove(s->folder.fd, "w", &s->err), 0); /* a missing file is no error */
	assert_int_equal(symlinkat("/usr", s->folder.fd, "w"), 0);
	assert_int_equal(workdir_remove(s->folder.fd, "w", &s->err), 0);
	assert_int_equal(stat("/usr", &st), 0);
}

static void log_text(int bytes, size_t max, struct buf *out)
{
	struct buildlog l;
	char c;

	buildlog_init(&l, max);
	for (int i = 0; i < bytes; i++) {
		c = (char)('a' + i % 26);
		buildlog_add(&l, &c, 1);
	}
	assert_int_equal(l.total, bytes);
	buf_clear(out);
	buildlog_text(&l, out);
	buildlog_fini(&l);
}

static void logs_keep_both_ends(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 1000);
	log_text(0, 10, &b);
	assert_string_equal(b.data, "");
	log_text(7, 10, &b);
	assert_string_equal(b.data, "abcdefg");
	log_text(10, 10, &b);
	assert_string_equal(b.data, "abcdefghij");
	log_text(11, 10, &b);
	assert_string_equal(b.data, "abcde\n[... 1 bytes left out ...]\nghijk");
	log_text(26 * 40 + 3, 10, &b);
	assert_string_equal(b.data, "abcde\n[... 1033 bytes left out ...]\nyzabc");
	buf_fini(&b);
}

enum { STRANGER = 31337 };

/* The message of cache_open to a user; "" when it opens. Shape: said[1024]. */
static void request_as(uid_t uid, const char *dir, char *said)
{
	int ends[2], status;
	ssize_t n;

	assert_int_equal(pipe(ends), 0);
	pid_t child = fork();
	if (child == 0) {
		struct cache c;
		struct fw_err err = { 0 };

		if (uid && (setgid(uid) != 0 || setuid(uid) != 0))
			_exit(1);
		(void)cache_open(&c, dir, &err);
		_exit(write(ends[1], err.text, strlen(err.text)) < 0);
	}
	close(ends[1]);
	n = read(ends[0], said, 1023);
	said[n > 0 ? n : 0] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* Root leaves no files of its own in a cache of the service's user, and that user gets a message with the owner of a file that it
 * cannot use. */
static void each_user_has_a_cache(void **state)
{
	struct scene *s = *state;
	char said[1024], wanted[1024], folder[200];

	if (geteuid() != 0)
		skip();
	assert_int_equal(setenv("CACHE_DIRECTORY", s->cache.dir, 1), 0);
	assert_int_equal(chmod(s->folder.path, 0755), 0);
	request_as(STRANGER, s->cache.dir, said);
	snprintf(wanted, sizeof wanted, "cache %s belongs to root, and the worker runs as user %d: chown it, or remove it",
		s->cache.dir, STRANGER);
	assert_string_equal(said, wanted);
	assert_int_equal(chown(s->cache.dir, STRANGER, STRANGER), 0);
	request_as(STRANGER, s->cache.dir, said);
	snprintf(wanted, sizeof wanted, "cache %s/builds belongs to root, and the worker runs as user %d: chown it, or remove it",
		s->cache.dir, STRANGER);
	assert_string_equal(said, wanted);
	request_as(0, NULL, said);
	snprintf(wanted, sizeof wanted,
		"cache %s belongs to user %d, who could not read files that root writes into it: run the worker as user %d, or give --cache DIR",
		s->cache.dir, STRANGER, STRANGER);
	assert_string_equal(said, wanted);
	request_as(0, s->cache.dir, said);
	assert_string_equal(said, "");
	for (int i = 0; i < 4; i++) {
		static const char *const names[] = { "builds", "modules", "names", "checks" };

		snprintf(folder, sizeof folder, "%s/%s", s->cache.dir, names[i]);
		assert_int_equal(chown(folder, STRANGER, STRANGER), 0);
	}
	request_as(STRANGER, NULL, said);
	assert_string_equal(said, "");
	assert_int_equal(unsetenv("CACHE_DIRECTORY"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_cache_has_a_usual_place, setup, teardown),
		cmocka_unit_test_setup_teardown(entries_are_read_back_complete, setup, teardown),
		cmocka_unit_test_setup_teardown(modules_are_named_by_their_hash, setup, teardown),
		cmocka_unit_test_setup_teardown(sealed_open_refuses_what_is_no_file, setup, teardown),
		cmocka_unit_test_setup_teardown(locks_exclude_each_other, setup, teardown),
		cmocka_unit_test_setup_teardown(builds_have_slots, setup, teardown),
		cmocka_unit_test_setup_teardown(trim_keeps_the_newest, setup, teardown),
		cmocka_unit_test_setup_teardown(unusable_folders_are_named, setup, teardown),
		cmocka_unit_test_setup_teardown(each_user_has_a_cache, setup, teardown),
		cmocka_unit_test_setup_teardown(deep_and_read_only_folders_are_removed, setup, teardown),
		cmocka_unit_test(logs_keep_both_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
