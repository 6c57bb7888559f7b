/* toolchain.c, compilers.c: which compilers a build finds first, and how flags reach them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "tmp_folder.h"
#include "worker/sandbox/internal.h"

struct scene {
	struct tmp_folder folder;
	struct cache cache;
	struct fw_err err;
};

static int setup(void **state)
{
	static struct scene s;

	memset(&s, 0, sizeof s);
	*state = &s;
	if (tmp_folder_open(&s.folder) != 0)
		return -1;
	s.cache.fd = s.folder.fd;
	snprintf(s.cache.dir, sizeof s.cache.dir, "%s", s.folder.path);
	return 0;
}

static int teardown(void **state)
{
	tmp_folder_close(&((struct scene *)*state)->folder);
	return 0;
}

static void put_program(struct scene *s, const char *folder, const char *name, mode_t mode)
{
	char path[160];

	mkdirat(s->folder.fd, folder, 0755);
	snprintf(path, sizeof path, "%s/%s", folder, name);
	int fd = openat(s->folder.fd, path, O_WRONLY | O_CREAT | O_CLOEXEC, mode);
	assert_true(fd >= 0);
	close(fd);
}

static void a_toolchain_has_a_compiler(void **state)
{
	struct scene *s = *state;
	char dir[128], path[TOOLCHAIN_PATH_SIZE], wanted[TOOLCHAIN_PATH_SIZE];
	static const char *const names[] = { "nvcc", "gcc", "g++", "cc", "c++" };

	snprintf(dir, sizeof dir, "%s/tools", s->folder.path);
	assert_false(toolchain_is_in(dir));
	put_program(s, "tools", "gcc", 0644); /* no program */
	put_program(s, "tools", "clang", 0755);
	assert_false(toolchain_is_in(dir));
	put_program(s, "tools/nvcc", "x", 0755); /* a folder */
	assert_false(toolchain_is_in(dir) || toolchain_has_nvcc(dir));
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char one[16], both[32];
		snprintf(one, sizeof one, "%zu", i);
		put_program(s, one, names[i], 0755);
		snprintf(dir, sizeof dir, "%s/%s", s->folder.path, one);
		assert_true(toolchain_is_in(dir));
		assert_true(toolchain_has_nvcc(dir) == (i == 0));
		snprintf(both, sizeof both, "%zu-in", i);
		put_program(s, both, "x", 0755);
		snprintf(both, sizeof both, "%zu-in/bin", i);
		put_program(s, both, names[i], 0755);
		snprintf(dir, sizeof dir, "%s/%zu-in", s->folder.path, i);
		assert_true(toolchain_is_in(dir));
		assert_true(toolchain_has_nvcc(dir) == (i == 0));
	}
	assert_false(toolchain_is_in(""));
	toolchain_path("", path);
	assert_string_equal(path, sandbox_build_path);
	toolchain_path("/opt/cuda", path);
	snprintf(wanted, sizeof wanted, "/opt/cuda/bin:/opt/cuda:%s", sandbox_build_path);
	assert_string_equal(path, wanted);
}

static void has(const struct compilers *c, const char *wanted)
{
	for (const char *const *v = c->more.variable; *v; v++)
		if (strcmp(*v, wanted) == 0)
			return;
	fail_msg("there is no %s", wanted);
}

static int count(const struct compilers *c)
{
	int n = 0;

	while (c->more.variable[n])
		n++;
	return n;
}

static void flags_reach_gcc_by_a_script(void **state)
{
	struct scene *s = *state;
	struct compilers c;
	char line[TOOLCHAIN_PATH_SIZE + 100], script[512];
	struct stat st;

	assert_int_equal(compilers_prepare(&s->cache, DEVICE_CPU, "/opt/gcc", "-O3 -g", &c, &s->err), 0);
	snprintf(line, sizeof line, "PATH=%s/compilers:/opt/gcc/bin:/opt/gcc:%s", s->cache.dir, sandbox_build_path);
	has(&c, line);
	snprintf(line, sizeof line, "FLOPWATCH_COMPILERS=/opt/gcc/bin:/opt/gcc:%s", sandbox_build_path);
	has(&c, line);
	has(&c, "FLOPWATCH_FLAGS=-O3 -g");
	assert_int_equal(count(&c), 3);
	snprintf(line, sizeof line, "%s/compilers", s->cache.dir);
	assert_string_equal(c.more.folder, line);
	tmp_folder_read(&s->folder, "compilers/g++", script, sizeof script);
	assert_non_null(strstr(script, "exec \"${0##*/}\" \"$@\" $FLOPWATCH_FLAGS"));
	static const char *const names[] = { "gcc", "g++", "cc", "c++" };
	for (size_t i = 0; i < 4; i++) {
		snprintf(line, sizeof line, "compilers/%s", names[i]);
		assert_int_equal(fstatat(s->folder.fd, line, &st, 0), 0);
		assert_int_equal(st.st_mode & 07777, 0755);
	}
	/* a script that another version wrote is replaced */
	int fd = openat(s->folder.fd, "compilers/gcc", O_WRONLY | O_TRUNC | O_CLOEXEC);
	assert_int_equal(write(fd, "old", 3), 3);
	close(fd);
	assert_int_equal(compilers_prepare(&s->cache, DEVICE_CPU, "", "-O3", &c, &s->err), 0);
	tmp_folder_read(&s->folder, "compilers/gcc", script, sizeof script);
	assert_non_null(strstr(script, "#!/bin/sh"));
	/* a cache without room for it */
	s->cache.fd = -1;
	assert_int_equal(compilers_prepare(&s->cache, DEVICE_CPU, "", "-O3", &c, &s->err), -1);
	assert_non_null(strstr(s->err.text, "compilers"));
	s->cache.fd = s->folder.fd;
}

static void other_builds_need_no_script(void **state)
{
	struct scene *s = *state;
	struct compilers c;
	char line[TOOLCHAIN_PATH_SIZE + 100], dir[128];
	struct stat st;

	assert_int_equal(compilers_prepare(&s->cache, DEVICE_CPU, "", "", &c, &s->err), 0);
	snprintf(line, sizeof line, "PATH=%s", sandbox_build_path);
	has(&c, line);
	assert_int_equal(count(&c), 1);
	assert_string_equal(c.more.folder, "");
	snprintf(dir, sizeof dir, "%s/cuda", s->folder.path);
	put_program(s, "cuda", "nvcc", 0755);
	assert_int_equal(compilers_prepare(&s->cache, DEVICE_CUDA, dir, "-lineinfo", &c, &s->err), 0);
	has(&c, "NVCC_APPEND_FLAGS=-lineinfo");
	snprintf(line, sizeof line, "CUDA_HOME=%s", dir);
	has(&c, line);
	snprintf(line, sizeof line, "CUDA_PATH=%s", dir);
	has(&c, line);
	assert_int_equal(count(&c), 4);
	assert_int_equal(fstatat(s->folder.fd, "compilers", &st, 0), -1);
}

static void a_toolchain_must_be_visible(void **state)
{
	struct scene *s = *state;
	struct sandbox box = { .active = false };
	char dir[128];

	snprintf(dir, sizeof dir, "%s/tools", s->folder.path);
	put_program(s, "tools", "gcc", 0755);
	assert_int_equal(compilers_check(&box, "", &s->err), 0);
	assert_int_equal(compilers_check(&box, "/usr", &s->err), 0);
	assert_int_equal(compilers_check(&box, dir, &s->err), -1);
	assert_non_null(strstr(s->err.text, "is not visible to builds"));
	err_clear(&s->err);
	assert_int_equal(compilers_check(&box, "/usr/include", &s->err), -1);
	assert_non_null(strstr(s->err.text, "has neither nvcc nor gcc"));
	assert_int_equal(s->err.code, ERR_INVALID);
	/* what is shown, and what is below it, but not what only begins with its name */
	assert_true(sandbox_shows(&box, "/usr") && sandbox_shows(&box, "/usr/lib"));
	assert_false(sandbox_shows(&box, "/") || sandbox_shows(&box, "/nowhere") || sandbox_shows(&box, s->folder.path));
	snprintf(box.cuda, sizeof box.cuda, "%s", dir);
	assert_true(sandbox_shows(&box, dir));
	assert_int_equal(compilers_check(&box, dir, &s->err), 0);
	put_program(s, "tools2", "gcc", 0755);
	snprintf(dir, sizeof dir, "%s/tools2", s->folder.path);
	assert_false(sandbox_shows(&box, dir));
}

#define IN_A_FOLDER(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_A_FOLDER(a_toolchain_has_a_compiler),
		IN_A_FOLDER(flags_reach_gcc_by_a_script),
		IN_A_FOLDER(other_builds_need_no_script),
		IN_A_FOLDER(a_toolchain_must_be_visible),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
