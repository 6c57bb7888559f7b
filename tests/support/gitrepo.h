/* gitrepo.h - for tests: a temporary folder, and git run in it with a fixed author and no configuration of this machine. */
#ifndef TESTS_GITREPO_H
#define TESTS_GITREPO_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/lib.h"

static char gitrepo_root[PATH_MAX]; /* the temporary folder */

/* Programs of ours are found in FW_BIN (default build/bin) before any other folder. */
static inline void gitrepo_use_our_programs(void)
{
	const char *bin = getenv("FW_BIN"), *path = getenv("PATH");
	char real[PATH_MAX], joined[2 * PATH_MAX];

	if (!realpath(bin ? bin : "build/bin", real))
		fail_msg("no folder %s: build the programs first, or set FW_BIN", bin ? bin : "build/bin");
	snprintf(joined, sizeof joined, "%s:%s", real, path ? path : "/usr/bin:/bin");
	setenv("PATH", joined, 1);
}

static inline int gitrepo_setup(void **state)
{
	(void)state;
	snprintf(gitrepo_root, sizeof gitrepo_root, "/tmp/flopwatch-git-XXXXXX");
	return mkdtemp(gitrepo_root) ? 0 : -1;
}

/* Run a program in root/`dir`; returns its output without the last LF, valid until the next call. A failure fails the test if
 * `must`. */
static inline const char *gitrepo_run_env(const char *dir, int must, int *status, const char *const *argv)
{
	static char text[1 << 16];
	char home[PATH_MAX + 8], cwd[2 * PATH_MAX], path[3 * PATH_MAX];
	const char *env[] = { path, home, "LANG=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=A U Thor",
		"GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=C O Mitter", "GIT_COMMITTER_EMAIL=c@example.org",
		"GIT_ALLOW_PROTOCOL=file", NULL };
	struct proc_spec spec = { .argv = argv, .env = env, .cwd = cwd };
	struct proc_exit how;
	struct fw_err why = { 0 };
	struct buf out;

	snprintf(path, sizeof path, "PATH=%s", getenv("PATH"));
	snprintf(home, sizeof home, "HOME=%s", gitrepo_root);
	snprintf(cwd, sizeof cwd, "%s/%s", gitrepo_root, dir);
	buf_init(&out, sizeof text - 1);
	if (proc_run(&spec, NULL, &out, &out, 60000, &how, &why) != 0)
		fail_msg("%s", why.text);
	memcpy(text, out.data, out.len + 1);
	if (out.len && text[out.len - 1] == '\n')
		text[out.len - 1] = '\0';
	buf_fini(&out);
	if (must && how.status != 0)
		fail_msg("%s %s %s: exit %d: %s", argv[0], argv[1], argv[2] ? argv[2] : "", how.status, text);
	if (status)
		*status = how.status;
	return text;
}

#define GITREPO_RUN(dir, ...)         gitrepo_run_env(dir, 1, NULL, (const char *const[]){ __VA_ARGS__, NULL })
#define GIT(dir, ...)                 GITREPO_RUN(dir, "git", __VA_ARGS__)
#define GITREPO_TRY(dir, status, ...) gitrepo_run_env(dir, 0, status, (const char *const[]){ __VA_ARGS__, NULL })

static inline int gitrepo_teardown(void **state)
{
	(void)state;
	GITREPO_RUN(".", "rm", "-rf", gitrepo_root);
	return 0;
}

static inline void gitrepo_write(const char *path, const char *text)
{
	char full[2 * PATH_MAX];
	FILE *f;

	snprintf(full, sizeof full, "%s/%s", gitrepo_root, path);
	f = fopen(full, "w");
	if (!f || fputs(text, f) < 0 || fclose(f) != 0)
		fail_msg("cannot write %s", full);
}

/* A checkout at root/`dir` with one commit on main. */
static inline void gitrepo_checkout(const char *dir)
{
	char file[PATH_MAX];

	GIT(".", "init", "-q", "-b", "main", dir);
	snprintf(file, sizeof file, "%s/a", dir);
	gitrepo_write(file, "one\n");
	GIT(dir, "add", ".");
	GIT(dir, "commit", "-qm", "first");
}

/* Another commit in a checkout; its hash. */
static inline const char *gitrepo_commit(const char *dir, const char *subject)
{
	char file[PATH_MAX];

	snprintf(file, sizeof file, "%s/a", dir);
	gitrepo_write(file, subject);
	GIT(dir, "commit", "-qam", subject);
	return GIT(dir, "rev-parse", "HEAD");
}

#endif
