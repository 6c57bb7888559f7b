/* unpack.c with archives that are good, broken and hostile: the unpacked files, and that none is outside the folder. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tar_write.h"
#include "tmp_folder.h"
#include "worker/sandbox/internal.h"

struct scene {
	struct tmp_folder out;
	struct buf tar;
	struct fw_err err;
};

static int setup(void **state)
{
	struct scene *s = calloc(1, sizeof *s);

	*state = s;
	buf_init(&s->tar, 64 << 20);
	return s && tmp_folder_open(&s->out) == 0 ? mkdirat(s->out.fd, "root", 0700) : -1;
}

static int teardown(void **state)
{
	struct scene *s = *state;

	buf_fini(&s->tar);
	tmp_folder_close(&s->out);
	free(s);
	return 0;
}

static int unpack_limited(struct scene *s, const char *path, const struct unpack_limits *limits)
{
	int tar = tar_fd(&s->tar), root = openat(s->out.fd, "root", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int result;

	assert_true(tar >= 0 && root >= 0);
	err_clear(&s->err);
	result = unpack_tar(tar, root, path, limits, &s->err);
	close(tar);
	close(root);
	return result;
}

static int unpack(struct scene *s, const char *path)
{
	return unpack_limited(s, path, NULL);
}

static void files_folders_and_links(void **state)
{
	struct scene *s = *state;
	char text[64], name[200];
	struct stat st;

	memset(name, 'n', sizeof name);
	memcpy(name, "deep/", 5);
	name[120] = '\0';
	tar_entry(&s->tar, "sub/", '5', 0755, NULL, NULL);
	tar_file(&s->tar, "sub/a.c", "int a;\n");
	tar_entry(&s->tar, "run.sh", '0', 0755, NULL, "#!/bin/sh\n");
	tar_entry(&s->tar, "sub/up", '2', 0777, "../run.sh", NULL);
	tar_entry(&s->tar, "sub/beside", '2', 0777, "../../other/x", NULL); /* stays inside root */
	tar_file(&s->tar, "new/folder/implied", "x");
	tar_file(&s->tar, "empty", NULL);
	tar_end(&s->tar);
	assert_int_equal(unpack(s, "kernels"), 0);
	assert_string_equal(tmp_folder_read(&s->out, "root/kernels/sub/a.c", text, sizeof text), "int a;\n");
	assert_string_equal(tmp_folder_read(&s->out, "root/kernels/new/folder/implied", text, sizeof text), "x");
	assert_int_equal(fstatat(s->out.fd, "root/kernels/run.sh", &st, 0), 0);
	assert_int_equal(st.st_mode & 0777, 0755);
	assert_int_equal(fstatat(s->out.fd, "root/kernels/sub/up", &st, 0), 0);
	assert_int_equal(st.st_size, 10);
	assert_int_equal(fstatat(s->out.fd, "root/kernels/empty", &st, 0), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
	assert_int_equal(st.st_mtime, 946684800);
}

static void long_names_use_the_prefix(void **state)
{
	struct scene *s = *state;
	char h[TAR_BLOCK], text[16], folder[150];

	memset(folder, 'f', sizeof folder);
	folder[140] = '\0';
	tar_header(h, "file", '0', 0644, NULL, 2);
	memcpy(h + 345, folder, 140);
	tar_checksum(h);
	buf_append(&s->tar, h, sizeof h);
	buf_puts(&s->tar, "ok");
	tar_pad(&s->tar);
	tar_end(&s->tar);
	assert_int_equal(unpack(s, "."), 0);
	snprintf(text, sizeof text, "%s", "");
	char path[200];

	snprintf(path, sizeof path, "root/%s/file", folder);
	assert_string_equal(tmp_folder_read(&s->out, path, text, sizeof text), "ok");
}

static void one_blob_is_one_file(void **state)
{
	struct scene *s = *state;
	char text[16];

	tar_file(&s->tar, "blob", "all:\n");
	tar_end(&s->tar);
	assert_int_equal(unpack(s, "dir/Makefile"), 0);
	assert_string_equal(tmp_folder_read(&s->out, "root/dir/Makefile", text, sizeof text), "all:\n");

	buf_clear(&s->tar);
	tar_file(&s->tar, "blob", "1");
	tar_file(&s->tar, "more", "2");
	tar_end(&s->tar);
	assert_int_equal(unpack(s, "tree"), 0);
	assert_string_equal(tmp_folder_read(&s->out, "root/tree/blob", text, sizeof text), "1");
}

static void refuse_entry(struct scene *s, const char *name, char type, const char *target, const char *words)
{
	buf_clear(&s->tar);
	tar_entry(&s->tar, name, type, 0644, target, NULL);
	tar_end(&s->tar);
	assert_int_equal(unpack(s, "in"), -1);
	if (!strstr(s->err.text, words))
		fail_msg("\"%s\" does not say \"%s\"", s->err.text, words);
}

/* The effect of systemd's RestrictSUIDSGID on a worker: openat2 fails as if the kernel did not have it. */
static int forbid_openat2(void)
{
	struct sock_filter lines[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { .len = sizeof lines / sizeof lines[0], .filter = lines };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0)
		return -1;
	return syscall(SYS_openat2, AT_FDCWD, ".", NULL, 0) < 0 && errno == ENOSYS ? 0 : -1;
}

static void files_come_out_where_openat2_is_forbidden(void **state)
{
	struct scene *s = *state;
	char text[64];
	int status;

	tar_entry(&s->tar, "src/", '5', 0755, NULL, NULL);
	tar_file(&s->tar, "src/deep/a.c", "one");
	tar_end(&s->tar);
	pid_t child = fork();

	if (child == 0) {
		int result = forbid_openat2() != 0 ? 2 : unpack(s, "in") != 0;

		if (result == 1)
			fprintf(stderr, "# %s\n", s->err.text);
		_exit(result);
	}
	assert_true(child > 0 && waitpid(child, &status, 0) == child);
	assert_int_equal(status, 0);
	assert_string_equal(tmp_folder_read(&s->out, "root/in/src/deep/a.c", text, sizeof text), "one");
}

static void hostile_entries_are_refused(void **state)
{
	struct scene *s = *state;
	struct stat st;

	refuse_entry(s, "../outside", '0', NULL, "leads out");
	refuse_entry(s, "a/../../outside", '0', NULL, "leads out");
	refuse_entry(s, "/etc/outside", '0', NULL, "absolute");
	refuse_entry(s, "hard", '1', "in/file", "neither file");
	refuse_entry(s, "fifo", '6', NULL, "neither file");
	refuse_entry(s, "device", '3', NULL, "neither file");
	refuse_entry(s, "pax", 'x', NULL, "neither file");
	refuse_entry(s, "link1", '2', "/etc/passwd", "absolute");
	refuse_entry(s, "link2", '2', "../../../etc/passwd", "leads out");
	refuse_entry(s, "link3", '2', "sub/../../../x", "leads out");
	refuse_entry(s, "link4", '2', "", "link to nothing");
	refuse_entry(s, "", '0', NULL, "");
	assert_int_equal(fstatat(s->out.fd, "outside", &st, AT_SYMLINK_NOFOLLOW), -1);
	assert_int_equal(errno, ENOENT);
}

/* A link to a folder outside of the input but inside the root is allowed; writing through it is not. */
static void no_file_is_written_through_a_link(void **state)
{
	struct scene *s = *state;
	struct stat st;

	tar_entry(&s->tar, "door", '2', 0777, "../other", NULL);
	tar_file(&s->tar, "door/planted", "x");
	tar_end(&s->tar);
	assert_int_equal(mkdirat(s->out.fd, "root/other", 0700), 0);
	assert_int_equal(unpack(s, "in"), -1);
	assert_int_equal(fstatat(s->out.fd, "root/other/planted", &st, AT_SYMLINK_NOFOLLOW), -1);
	assert_non_null(strstr(s->err.text, "door"));

	buf_clear(&s->tar);
	tar_entry(&s->tar, "twice", '2', 0777, "../other/file", NULL);
	tar_file(&s->tar, "twice", "x");
	tar_end(&s->tar);
	assert_int_equal(unpack(s, "in2"), -1);
	assert_non_null(strstr(s->err.text, "appears twice"));
	assert_int_equal(fstatat(s->out.fd, "root/other/file", &st, AT_SYMLINK_NOFOLLOW), -1);
}

static void limits_end_it(void **state)
{
	struct scene *s = *state;
	struct unpack_limits limits = { .file_bytes = 10, .total_bytes = 15, .entries = 3 };

	tar_file(&s->tar, "a", "12345678901");
	tar_end(&s->tar);
	assert_int_equal(unpack_limited(s, "one", &limits), -1);
	assert_int_equal(s->err.code, ERR_INVALID);
	buf_clear(&s->tar);
	tar_file(&s->tar, "a", "12345678");
	tar_file(&s->tar, "b", "12345678");
	tar_end(&s->tar);
	assert_int_equal(unpack_limited(s, "two", &limits), -1);
	assert_int_equal(s->err.code, ERR_INVALID);
	buf_clear(&s->tar);
	for (int i = 0; i < 4; i++)
		tar_file(&s->tar, (char[]){ (char)('a' + i), 0 }, NULL);
	tar_end(&s->tar);
	assert_int_equal(unpack_limited(s, "three", &limits), -1);
	assert_non_null(strstr(s->err.text, "more than 3 entries"));
}

static void broken_archives_are_refused(void **state)
{
	struct scene *s = *state;
	char h[TAR_BLOCK];

	assert_int_equal(unpack(s, "in"), -1); /* no end */
	assert_non_null(strstr(s->err.text, "ends early"));
	tar_file(&s->tar, "a", "content");
	s->tar.data[0] ^= 1;
	tar_end(&s->tar);
	assert_int_equal(unpack(s, "in"), -1);
	assert_non_null(strstr(s->err.text, "damaged"));
	buf_clear(&s->tar);
	tar_header(h, "huge", '0', 0644, NULL, 5000);
	buf_append(&s->tar, h, sizeof h);
	buf_puts(&s->tar, "short");
	assert_int_equal(unpack(s, "in"), -1);
	assert_non_null(strstr(s->err.text, "ends early"));
	buf_clear(&s->tar);
	tar_header(h, "base256", '0', 0644, NULL, 0);
	h[124] = (char)0x80;
	tar_checksum(h);
	buf_append(&s->tar, h, sizeof h);
	tar_end(&s->tar);
	assert_int_equal(unpack(s, "in"), -1);
	assert_non_null(strstr(s->err.text, "size"));
	assert_int_equal(unpack(s, "../x"), -1);
	assert_int_equal(unpack(s, "/x"), -1);
}

/* Every byte of a good archive changed, one at a time: refused or unpacked, and always inside. */
static void no_mutation_escapes(void **state)
{
	struct scene *s = *state;
	struct stat st;
	int refused = 0;
	char name[16];

	tar_file(&s->tar, "d/f", "12");
	tar_entry(&s->tar, "d/l", '2', 0777, "../f", NULL);
	tar_end(&s->tar);
	for (size_t i = 0; i < 3 * TAR_BLOCK; i++) {
		char before = s->tar.data[i];

		if (i >= TAR_BLOCK && i < 2 * TAR_BLOCK)
			continue;
		s->tar.data[i] = i % 3 == 0 ? '/' : i % 3 == 1 ? '.' : (char)0xff;
		tar_checksum(s->tar.data + i / TAR_BLOCK * TAR_BLOCK);
		snprintf(name, sizeof name, "m%zu", i);
		refused += unpack(s, name) != 0;
		s->tar.data[i] = before;
		tar_checksum(s->tar.data + i / TAR_BLOCK * TAR_BLOCK);
	}
	assert_true(refused > 10);
	assert_int_equal(fstatat(s->out.fd, "f", &st, AT_SYMLINK_NOFOLLOW), -1);
	assert_int_equal(fstatat(s->out.fd, "d", &st, AT_SYMLINK_NOFOLLOW), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(files_folders_and_links, setup, teardown),
		cmocka_unit_test_setup_teardown(long_names_use_the_prefix, setup, teardown),
		cmocka_unit_test_setup_teardown(one_blob_is_one_file, setup, teardown),
		cmocka_unit_test_setup_teardown(files_come_out_where_openat2_is_forbidden, setup, teardown),
		cmocka_unit_test_setup_teardown(hostile_entries_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(no_file_is_written_through_a_link, setup, teardown),
		cmocka_unit_test_setup_teardown(limits_end_it, setup, teardown),
		cmocka_unit_test_setup_teardown(broken_archives_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(no_mutation_escapes, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
