/* The folder git, called directly: names, urls, archives, trees, mirrors, commits, snapshots. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>

#include "gitrepo.h"

#include "git/internal.h"

static const char UNKNOWN[] = "0123456789012345678901234567890123456789";

static const char *path_of(const char *dir)
{
	static char path[4][2 * PATH_MAX];
	static int turn;
	char *p = path[turn++ % 4];

	snprintf(p, sizeof path[0], "%s/%s", gitrepo_root, dir);
	return p;
}

static struct git_repo *open_repo(const char *dir)
{
	struct fw_err err = { 0 };
	struct git_repo *r = NULL;

	if (git_repo_open(path_of(dir), false, &r, &err) != 0)
		fail_msg("%s", err.text);
	return r;
}

/* ---- names ---- */

static void every_byte_round_trips(void **state)
{
	struct buf encoded, decoded;
	char name[256];
	size_t i, len = 0;

	(void)state;
	buf_init(&encoded, 1000);
	buf_init(&decoded, 1000);
	for (i = 1; i < 256; i++)
		name[len++] = (char)i;
	name_encode(&encoded, name, len);
	for (i = 0; i < encoded.len; i++)
		assert_true(encoded.data[i] > 0x20 && encoded.data[i] < 0x7f && !strchr("\"'<>&\\ ", encoded.data[i]));
	assert_int_equal(name_decode(&decoded, encoded.data), 0);
	assert_int_equal(decoded.len, len);
	assert_memory_equal(decoded.data, name, len);
	buf_fini(&encoded);
	buf_fini(&decoded);
}

static void bad_escapes_are_refused(void **state)
{
	static const char *const bad[] = { "%", "%4", "%4G", "%G4", "a%00b", "%%41" };
	struct buf out;
	size_t i;

	(void)state;
	buf_init(&out, 100);
	for (i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_int_equal(name_decode(&out, bad[i]), -1);
	buf_clear(&out);
	assert_int_equal(name_decode(&out, "a%2fb%2Fc"), 0);
	assert_string_equal(out.data, "a/b/c");
	buf_fini(&out);
}

static void display_shows_what_hides(void **state)
{
	static const char *const pairs[][2] = { { "feature/x", "feature/x" }, { "\xc3\xbc\xe2\x82\xac", "\xc3\xbc\xe2\x82\xac" },
		{ "a\x1b[31m", "a\\x1b[31m" },
		{ "\xe2\x80\xae"
		  "cod",
			"\\u202ecod" },
		{ "\xe2\x80\x8b", "\\u200b" }, { "\xc2\x85", "\\x85" }, { "\xff\xfe", "\xef\xbf\xbd\xef\xbf\xbd" },
		{ "a\nb\tc", "a\\x0ab\\x09c" }, { "", "" } };
	struct buf out;
	size_t i;

	(void)state;
	buf_init(&out, 1000);
	for (i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
		buf_clear(&out);
		name_display(&out, pairs[i][0], strlen(pairs[i][0]), 100);
		assert_string_equal(out.data, pairs[i][1]);
	}
	buf_clear(&out);
	name_display(&out, "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac", 12, 10);
	assert_string_equal(out.data, "\xe2\x82\xac\xe2\x82\xac...");
	buf_fini(&out);
}

static void urls(void **state)
{
	static const char *const good[] = { "/srv/git/x.git", "file:///srv/x", "https://host/x", "https://host:8443/a/b.git",
		"ssh://git@host/x", "ssh://host:22/x", "git@host.example:team/x.git", "https://host/x~y?z" };
	static const char *const bad[] = { "", "x", "./x", "-x", "http://host/x", "git://host/x", "ext::sh -c id", "fd::3",
		"file://host/x", "file:x", "https://", "https://host", "https://host/", "https:///x", "https://user@host/x",
		"https://u:p@host/x", "https://a@b@c/x", "ssh://u:p@host/x", "ssh://@host/x", "ssh://-o/x", "ssh://u@-o/x",
		"ssh://host/a'b", "ssh://host/$(id)", "ssh://host/-x", "git@host:", "git@-host:x", "-git@host:x", "git@host:a'b",
		"git@:x", "git@ssh://host/x", "/a b", "https://host/a\nb", "HTTPS://host/x" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof good / sizeof good[0]; i++) {
		struct fw_err err = { 0 };

		if (url_check(good[i], &err) != 0)
			fail_msg("%s", err.text);
	}
	for (i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct fw_err err = { 0 };

		if (url_check(bad[i], &err) == 0)
			fail_msg("accepted: %s", bad[i]);
		assert_int_equal(err.code, ERR_INVALID);
		assert_null(strstr(err.text, "u:p"));
	}
}

static void servers(void **state)
{
	static const struct {
		const char *url, *host;
		int port;
	} good[] = { { "https://host/x", "host", 443 }, { "https://host:8443/x", "host", 8443 },
		{ "ssh://git@host/x", "host", 22 }, { "ssh://git@[::1]:2222/x", "::1", 2222 }, { "ssh://host:/x", "host", 22 },
		{ "git@host:team/x", "host", 22 }, { "git@host:a/ssh://other/x", "host", 22 } };
	static const char *const bad[] = { "ssh://host:0/x", "ssh://host:65536/x", "https://host:99999999999999999999/x",
		"ssh://host:2a/x" };
	char host[64];
	int port;

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		struct fw_err err = { 0 };

		if (url_server(good[i].url, host, sizeof host, &port, &err) != 0)
			fail_msg("%s", err.text);
		assert_string_equal(host, good[i].host);
		assert_int_equal(port, good[i].port);
	}
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct fw_err err = { 0 };

		assert_int_equal(url_server(bad[i], host, sizeof host, &port, &err), -1);
		assert_non_null(strstr(err.text, "port"));
	}
}

/* ---- archives ---- */

static void links_stay_inside(void **state)
{
	static const char *const good[][2] = { { "l", "a" }, { "l", "a/b" }, { "l", "." }, { "d/l", "../a" }, { "d/l", ".." },
		{ "d/e/l", "../../a" }, { "l", "a..b" }, { "l", "..a" }, { "l", "a/..b" } };
	static const char *const bad[][2] = { { "l", "" }, { "l", "/a" }, { "l", ".." }, { "l", "../a" }, { "d/l", "../../a" },
		{ "d/l", "../.." }, { "l", "a/.." }, { "l", "a/../b" }, { "d/l", "../a/../b" }, { "l", "./../a" } };
	char longer[102];
	struct fw_err err = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof good / sizeof good[0]; i++)
		if (tar_check_link(good[i][0], good[i][1], &err) != 0)
			fail_msg("%s -> %s: %s", good[i][0], good[i][1], err.text);
	for (i = 0; i < sizeof bad / sizeof bad[0]; i++)
		if (tar_check_link(bad[i][0], bad[i][1], NULL) == 0)
			fail_msg("%s -> %s accepted", bad[i][0], bad[i][1]);
	memset(longer, 'a', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	assert_int_equal(tar_check_link("l", longer, NULL), -1);
	assert_int_equal(tar_check_link("l", longer + 1, NULL), 0);
}

/* `n` times c, then the rest. */
static const char *repeat(char *out, char c, size_t n, const char *rest)
{
	memset(out, c, n);
	memcpy(out + n, rest, strlen(rest) + 1);
	return out;
}

static void paths_that_ustar_can_hold(void **state)
{
	char path[600], tail[300];

	(void)state;
	assert_int_equal(tar_check_path(repeat(path, 'n', 100, ""), false, NULL), 0);
	assert_int_equal(tar_check_path(repeat(path, 'n', 101, ""), false, NULL), -1);
	assert_int_equal(tar_check_path(repeat(path, 'n', 99, ""), true, NULL), 0);
	assert_int_equal(tar_check_path(repeat(path, 'n', 100, ""), true, NULL), -1);
	tail[0] = '/';
	repeat(tail + 1, 'm', 100, "");
	assert_int_equal(tar_check_path(repeat(path, 'n', 155, tail), false, NULL), 0);
	assert_int_equal(tar_check_path(repeat(path, 'n', 156, tail), false, NULL), -1);
	assert_int_equal(tar_check_path(repeat(path, 'n', 155, tail), true, NULL), -1);
}

static void archives_are_read_by_tar(void **state)
{
	struct fw_err err = { 0 };
	struct tar t;
	char path[600], tail[120];
	int fd = open(path_of("out.tar"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	(void)state;
	assert_true(fd >= 0);
	tail[0] = '/';
	repeat(tail + 1, 'm', 90, "");
	repeat(path, 'n', 60, tail);
	tar_init(&t, fd);
	path[60] = '\0';
	assert_int_equal(tar_directory(&t, path, &err), 0);
	path[60] = '/';
	assert_int_equal(tar_file(&t, path, "hello", 5, false, &err), 0);
	assert_int_equal(tar_file(&t, "empty", "", 0, true, &err), 0);
	assert_int_equal(tar_file(&t, "new\nline", "x", 1, false, &err), 0);
	assert_int_equal(tar_link(&t, "link", "empty", &err), 0);
	assert_int_equal(tar_link(&t, "evil", "/etc", &err), -1);
	err_clear(&err);
	assert_int_equal(tar_end(&t, &err), 0);
	assert_int_equal(t.written % 512, 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), t.written);
	close(fd);
	GITREPO_RUN(".", "mkdir", "x");
	GITREPO_RUN(".", "tar", "xf", "out.tar", "-C", "x");
	assert_string_equal(GITREPO_RUN("x", "cat", path), "hello");
	assert_string_equal(GITREPO_RUN("x", "cat", "new\nline"), "x");
	assert_string_equal(GITREPO_RUN("x", "stat", "-c", "%a", "empty"), "755");
	assert_string_equal(GITREPO_RUN("x", "readlink", "link"), "empty");
}

/* ---- repositories ---- */

static void commits_and_bases(void **state)
{
	char first[65], second[65], side[65], sha[65];
	struct git_commit_info info;
	struct fw_err err = { 0 };
	struct git_repo *r;

	(void)state;
	gitrepo_checkout("co");
	snprintf(first, sizeof first, "%s", GIT("co", "rev-parse", "HEAD"));
	snprintf(second, sizeof second, "%s", gitrepo_commit("co", "second"));
	GIT("co", "checkout", "-qb", "side", first);
	snprintf(side, sizeof side, "%s", gitrepo_commit("co", "side"));
	r = open_repo("co");
	assert_int_equal(git_repo_merge_base(r, side, second, sha, &err), 0);
	assert_string_equal(sha, first);
	assert_int_equal(git_repo_branch(r, "side", sha, &err), 0);
	assert_string_equal(sha, side);
	assert_int_equal(git_repo_commit(r, second, &info, &err), 0);
	assert_int_equal(info.n_parents, 1);
	assert_string_equal(info.parent[0], first);
	assert_string_equal(info.author.data, "A U Thor <a@example.org>");
	assert_string_equal(info.subject.data, "second");
	assert_true(info.committed_at_ms > 1000000000000);
	git_commit_info_fini(&info);
	assert_int_equal(git_repo_commit(r, UNKNOWN, &info, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	err_clear(&err);
	assert_int_equal(git_repo_commit(r, "HEAD", &info, &err), -1);
	assert_int_equal(err.code, ERR_INVALID);
	err_clear(&err);
	assert_int_equal(git_repo_branch(r, "nope", sha, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	err_clear(&err);
	assert_int_equal(git_repo_branch(r, "a b^~:", sha, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	git_repo_close(r);
	git_repo_close(NULL);
}

static void opening_reports_the_error(void **state)
{
	struct git_repo *r = NULL;
	struct fw_err err = { 0 };

	(void)state;
	assert_int_equal(git_repo_open(path_of("nowhere"), false, &r, &err), -1);
	assert_int_equal(err.code, ERR_BUSY);
	assert_non_null(strstr(err.text, "nowhere: no git repository there; check the path"));
	err_clear(&err);
	gitrepo_checkout("co");
	GITREPO_RUN("co", "mkdir", "sub");
	assert_int_equal(git_repo_open(path_of("co/sub"), false, &r, &err), -1);
	err_clear(&err);
	assert_int_equal(git_repo_open(path_of("co/sub"), true, &r, &err), 0);
	git_repo_close(r);
	gitrepo_write("co/.git/config", "[core\nbroken");
	assert_int_equal(git_repo_open(path_of("co"), false, &r, &err), -1);
	assert_non_null(strstr(err.text, "open repository"));
}

/* Write a raw tree object with any content. */
static void hostile_tree(const char *dir, const char *bytes, size_t len, char sha[65])
{
	char file[2 * PATH_MAX];
	int fd;

	snprintf(file, sizeof file, "%s/raw", gitrepo_root);
	fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	close(fd);
	snprintf(sha, 65, "%s", GIT(dir, "hash-object", "-t", "tree", "--literally", "-w", file));
}

static void raw_hostile_trees(void **state)
{
#define OID "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14"
	static const struct {
		const char *bytes;
		size_t len;
	} trees[] = { { "40000 ..\0" OID, 29 }, { "100644 a/b\0" OID, 31 }, { "100644 .git\0" OID, 32 },
		{ "100644 a\0" OID "40000 a\0" OID, 57 }, { "100644 \0" OID, 28 }, { "100644 a\0" OID "100644", 35 },
		{ "100644", 6 }, { "999999999999999 a\0" OID, 38 }, { "160000 s\0" OID, 29 }, { "120000 l\0" OID, 29 },
		{ "40000 d\0" OID, 28 } };
	struct git_repo *r;
	size_t i;

	(void)state;
	GIT(".", "init", "-q", "--bare", "evil.git");
	r = open_repo("evil.git");
	for (i = 0; i < sizeof trees / sizeof trees[0]; i++) {
		struct fw_err err = { 0 };
		struct buf problem;
		char sha[65];
		int fd = open(path_of("evil.tar"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

		hostile_tree("evil.git", trees[i].bytes, trees[i].len, sha);
		buf_init(&problem, 2048);
		/* reported as a problem, or as an error of reading; never accepted */
		if (tree_check(r, sha, "kernels", &problem, &err) == 0)
			assert_true(problem.len > 0);
		assert_int_equal(tree_write(r, sha, fd, NULL), -1);
		assert_int_equal(lseek(fd, 0, SEEK_END), 0);
		close(fd);
		buf_fini(&problem);
	}
	git_repo_close(r);
}

static int count(void *arg, const char *name, const char *commit, const char *problem, struct fw_err *err)
{
	int *n = arg;

	(void)err;
	(void)name;
	assert_true((*commit == '\0') == (*problem != '\0'));
	++*n;
	return 0;
}

static int branches_of(const char *dir)
{
	struct git_repo *r = open_repo(dir);
	struct fw_err err = { 0 };
	int n = 0;

	if (git_repo_branches(r, count, &n, &err) < 0)
		fail_msg("%s", err.text);
	git_repo_close(r);
	return n;
}

static void fetch(const char *from, const char *to)
{
	struct fw_err err = { 0 };

	if (mirror_update(path_of(from), path_of(to), NULL, NULL, &err) != 0)
		fail_msg("%s", err.text);
}

static void mirrors_recover(void **state)
{
	(void)state;
	gitrepo_checkout("co");
	fetch("co", "m");
	assert_int_equal(branches_of("m"), 1);
	GIT("co", "branch", "two");
	gitrepo_write("m/refs/heads/two.lock", "");
	gitrepo_write("m/HEAD.lock", "");
	gitrepo_write("m/objects/pack/tmp_pack_x", "half");
	fetch("co", "m");
	assert_int_equal(branches_of("m"), 2);
	assert_int_equal(access(path_of("m/objects/pack/tmp_pack_x"), F_OK), -1);
	/* killed while the first file grew */
	GITREPO_RUN(".", "mv", "m", "m.new");
	GITREPO_RUN("m.new", "rm", "config");
	fetch("co", "m");
	assert_int_equal(branches_of("m"), 2);
	assert_int_equal(access(path_of("m.new"), F_OK), -1);
	/* killed after the marker */
	GITREPO_RUN("m", "rm", "-rf", "HEAD", "refs");
	fetch("co", "m");
	assert_int_equal(branches_of("m"), 2);
	/* a ref that names a commit which is not there */
	gitrepo_write("m/refs/heads/main", UNKNOWN);
	fetch("co", "m");
	assert_string_equal(GIT("m", "rev-parse", "main"), GIT("co", "rev-parse", "main"));
}

static void mirrors_preserve_foreign_files(void **state)
{
	struct fw_err err = { 0 };

	(void)state;
	gitrepo_checkout("co");
	gitrepo_checkout("mine");
	assert_int_equal(mirror_update(path_of("co"), path_of("mine"), NULL, NULL, &err), -1);
	assert_int_equal(err.code, ERR_INVALID);
	assert_int_equal(access(path_of("mine/a"), F_OK), 0);
	err_clear(&err);
	assert_int_equal(mirror_update("http://localhost/x", path_of("m"), NULL, NULL, &err), -1);
	assert_int_equal(err.code, ERR_INVALID);
	assert_int_equal(access(path_of("m.lock"), F_OK), -1);
	/* a failing source leaves the mirror unchanged */
	fetch("co", "m");
	GITREPO_RUN(".", "mv", "co", "away");
	err_clear(&err);
	assert_int_equal(mirror_update(path_of("co"), path_of("m"), NULL, NULL, &err), -1);
	assert_int_equal(branches_of("m"), 1);
}

static void blobs_have_a_limit(void **state)
{
	struct fw_err err = { 0 };
	struct git_item item;
	struct git_repo *r;
	struct buf out;
	char tree[65];

	(void)state;
	gitrepo_checkout("co");
	snprintf(tree, sizeof tree, "%s", GIT("co", "rev-parse", "HEAD^{tree}"));
	r = open_repo("co");
	assert_int_equal(git_repo_find(r, tree, "a", &item, &err), 1);
	assert_int_equal(item.kind, GIT_KIND_BLOB);
	assert_int_equal(git_repo_find(r, tree, "a/b", &item, &err), 0);
	assert_int_equal(git_repo_find(r, tree, "nope", &item, &err), 0);
	assert_int_equal(git_repo_find(r, tree, "a", &item, &err), 1);
	buf_init(&out, 100);
	assert_int_equal(git_repo_blob(r, item.oid, 3, &out, &err), -1);
	assert_int_equal(err.code, ERR_UNSUPPORTED);
	err_clear(&err);
	assert_int_equal(git_repo_blob(r, item.oid, 4, &out, &err), 0);
	assert_string_equal(out.data, "one\n");
	buf_fini(&out);
	git_repo_close(r);
}

static void snapshots(void **state)
{
	char commit[65], head[65], again[65];
	struct fw_err err = { 0 };
	struct git_repo *r;

	(void)state;
	gitrepo_checkout("co");
	r = open_repo("co");
	assert_int_equal(git_repo_snapshot(r, commit, head, &err), 0);
	assert_string_equal(commit, head);
	gitrepo_write("co/new", "x");
	gitrepo_write("co/a", "changed");
	assert_int_equal(git_repo_snapshot(r, commit, head, &err), 0);
	assert_string_not_equal(commit, head);
	assert_int_equal(git_repo_snapshot(r, again, head, &err), 0);
	assert_string_equal(again, commit);
	assert_string_equal(GIT("co", "for-each-ref", "--contains", commit), "");
	assert_string_equal(GIT("co", "diff", "--name-only"), "a");
	assert_string_equal(GIT("co", "status", "--porcelain", "new"), "?? new");
	gitrepo_write("co/a", "one\n");
	GITREPO_RUN("co", "rm", "new");
	assert_int_equal(git_repo_snapshot(r, commit, head, &err), 0);
	assert_string_equal(commit, head);
	git_repo_close(r);
}

static void notes(void **state)
{
	struct fw_err err = { 0 };
	struct git_repo *r;
	char sha[65];

	(void)state;
	gitrepo_checkout("co");
	snprintf(sha, sizeof sha, "%s", GIT("co", "rev-parse", "HEAD"));
	r = open_repo("co");
	assert_int_equal(git_repo_note(r, sha, "first\n", &err), 0);
	assert_int_equal(git_repo_note(r, sha, "second\n", &err), 0);
	assert_int_equal(git_repo_note(r, UNKNOWN, "x\n", &err), -1);
	git_repo_close(r);
	assert_string_equal(GIT("co", "notes", "--ref", "flopwatch", "show", sha), "second");
}

/* libgit2 1.5 leaks the matches of its regular expressions; that is not fixed here. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libpcre2\n";
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, gitrepo_setup, gitrepo_teardown)
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_byte_round_trips), cmocka_unit_test(bad_escapes_are_refused),
		cmocka_unit_test(display_shows_what_hides), cmocka_unit_test(urls), cmocka_unit_test(servers),
		cmocka_unit_test(links_stay_inside), cmocka_unit_test(paths_that_ustar_can_hold), TEST(archives_are_read_by_tar),
		TEST(commits_and_bases), TEST(opening_reports_the_error), TEST(raw_hostile_trees), TEST(mirrors_recover),
		TEST(mirrors_preserve_foreign_files), TEST(blobs_have_a_limit), TEST(snapshots), TEST(notes) };
	struct fw_err err = { 0 };
	int failed;

	if (git_repo_library_start(NULL, &err) != 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	git_repo_library_stop();
	return failed;
}
