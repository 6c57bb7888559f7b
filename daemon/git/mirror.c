/* mirror.c - creates and updates mirrors, safe against a kill at any time; documented in internal.h. */
#include "git/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#define NOTES_REF  "refs/notes/flopwatch"
#define NOTES_LOCK "/" NOTES_REF ".lock"

struct mirror {
	const char *url, *dir;
	const struct git_access *access;
	struct pulls *pulls;  /* NULL: none */
	char fresh[PATH_MAX]; /* folder in which a new mirror is built */
	int lock_fd;
};

static int join(char *out, const char *dir, const char *rest, struct fw_err *err)
{
	if ((size_t)snprintf(out, PATH_MAX, "%s%s", dir, rest) >= PATH_MAX)
		return err_set(err, ERR_INVALID, "mirror %s: path too long", dir);
	return 0;
}

static int delete_one(const char *path, const struct stat *st, int flag, struct FTW *where)
{
	(void)st;
	(void)flag;
	(void)where;
	return remove(path);
}

static int delete_tree(const char *path, struct fw_err *err)
{
	if (nftw(path, delete_one, 32, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) < 0 && errno != ENOENT)
		return err_sys(err, "delete %s", path);
	return 0;
}

static bool ends_with(const char *text, const char *end)
{
	size_t a = strlen(text), b = strlen(end);

	return a >= b && strcmp(text + a - b, end) == 0;
}

/* Return whether `path` is the lock of a process that writes notes, for which it needs no lock of the mirror. */
static bool is_note_at_work(const char *path)
{
	char dir[PATH_MAX];
	size_t len = strlen(path);

	if (!ends_with(path, NOTES_LOCK))
		return false;
	snprintf(dir, sizeof dir, "%.*s", (int)(len - strlen(NOTES_LOCK)), path);
	return refwrite_is_busy(dir, NOTES_REF);
}

/*
 * Remove lock files, which would block every later run, and partial packs of a killed run. This process has the lock of the
 * mirror, so no running process uses them.
 */
static int delete_leaked_state(const char *path, const struct stat *st, int flag, struct FTW *where)
{
	(void)st;
	(void)where;
	if (flag != FTW_F || is_note_at_work(path))
		return 0;
	if (ends_with(path, ".lock") || (strstr(path, "/objects/pack/") && !ends_with(path, ".pack") && !ends_with(path, ".idx")))
		unlink(path);
	return 0;
}

static int lock(struct mirror *m, struct fw_err *err)
{
	char path[PATH_MAX];

	if (join(path, m->dir, ".lock", err) != 0 || join(m->fresh, m->dir, ".new", err) != 0)
		return -1;
	m->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (m->lock_fd < 0)
		return err_sys(err, "lock mirror %s", m->dir);
	if (flock(m->lock_fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? err_set(err, ERR_BUSY, "mirror %s: another fetch is running", m->dir)
					    : err_sys(err, "lock mirror %s", m->dir);
	return 0;
}

static int write_marker(const char *dir, struct fw_err *err)
{
	char path[PATH_MAX];
	int fd;

	if (join(path, dir, "/" MIRROR_MARKER, err) != 0)
		return -1;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644);
	if (fd < 0)
		return err_sys(err, "create %s", path);
	close(fd);
	return 0;
}

/* Return 1 if the folder is a mirror, 0 if it is missing or empty, -1 with `err` if it has other contents. */
static int get_owner(const char *dir, struct fw_err *err)
{
	char path[PATH_MAX];

	if (join(path, dir, "/" MIRROR_MARKER, err) != 0)
		return -1;
	if (access(path, F_OK) == 0)
		return 1;
	if (rmdir(dir) == 0 || errno == ENOENT)
		return 0;
	return err_set(err, ERR_INVALID, "%s exists and is not a mirror of flopwatch; move it away", dir);
}

static int note_broken(void *arg, const char *name, const char *commit, const char *problem, struct fw_err *err)
{
	struct git_commit_info info;
	struct git_repo *repo = arg;

	if (*problem)
		return err_set(err, ERR_DAMAGED, "branch %.200s: %s", name, problem);
	if (git_repo_commit(repo, commit, &info, err) != 0)
		return -1;
	git_commit_info_fini(&info);
	return 0;
}

static int flush_one(const char *path, const struct stat *st, int flag, struct FTW *where)
{
	int fd, status;

	(void)st;
	(void)where;
	if (flag != FTW_F && flag != FTW_DP)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -1;
	status = fsync(fd);
	close(fd);
	return status;
}

/* Flush all files: after a power failure, a name that was flushed before its file would name an empty file. */
static int flush_tree(const char *path, struct fw_err *err)
{
	return nftw(path, flush_one, 32, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) != 0 ? err_sys(err, "flush %s", path) : 0;
}

static int flush_parent(const char *path, struct fw_err *err)
{
	char parent[PATH_MAX];
	struct stat st = { 0 };
	char *slash;

	snprintf(parent, sizeof parent, "%s", path);
	slash = strrchr(parent, '/');
	if (!slash)
		snprintf(parent, sizeof parent, ".");
	else
		slash[slash == parent] = '\0';
	return flush_one(parent, &st, FTW_DP, NULL) != 0 ? err_sys(err, "flush %s", parent) : 0;
}

/* Build a new mirror. `broken`: the damage of the existing mirror, which is then replaced; NULL: there is none. */
static int grow_new(struct mirror *m, const char *broken, struct fw_err *err)
{
	struct git_repo *repo = NULL;
	int result;

	if (delete_tree(m->fresh, err) != 0)
		return -1;
	if (mkdir(m->fresh, 0700) < 0)
		return err_sys(err, "create %s", m->fresh);
	result = write_marker(m->fresh, err);
	if (result == 0)
		result = git_repo_create(m->fresh, &repo, err);
	if (result == 0)
		result = git_repo_fetch(repo, m->url, m->access, m->pulls, err);
	git_repo_close(repo);
	if (result == 0 && broken)
		result = mirror_rebuild_note(m->dir, m->fresh, broken, err);
	if (result == 0)
		result = flush_tree(m->fresh, err);
	if (result == 0 && broken)
		result = delete_tree(m->dir, err);
	if (result == 0 && rename(m->fresh, m->dir) < 0)
		result = err_sys(err, "rename %s to %s", m->fresh, m->dir);
	if (result == 0)
		result = flush_parent(m->dir, err);
	if (result != 0)
		delete_tree(m->fresh, NULL);
	return result;
}

static int update(struct mirror *m, struct fw_err *err)
{
	struct git_repo *repo = NULL;
	struct fw_err broken = { 0 };
	int ours = get_owner(m->dir, err), result = 0;

	if (ours < 0)
		return -1;
	if (!ours)
		return grow_new(m, NULL, err);
	if (mirror_rebuild_is_requested(m->dir, &broken))
		return grow_new(m, broken.text, err);
	nftw(m->dir, delete_leaked_state, 32, FTW_PHYS | FTW_MOUNT);
	if (git_repo_open(m->dir, false, &repo, &broken) != 0 || git_repo_branches(repo, note_broken, repo, &broken) < 0 ||
		git_repo_fetch(repo, m->url, m->access, m->pulls, &broken) != 0)
		result = -1;
	git_repo_close(repo);
	if (result == 0)
		return 0;
	/* if the new mirror has the damage, too, the server caused it */
	if (!repo || broken.code == ERR_DAMAGED)
		return grow_new(m, broken.text, err);
	return err_set(err, broken.code, "%s", broken.text);
}

int mirror_update(const char *url, const char *dir, const struct git_access *access, struct pulls *pulls, struct fw_err *err)
{
	struct mirror m = { .url = url, .dir = dir, .access = access, .pulls = pulls, .lock_fd = -1 };
	int result;

	if (url_check(url, err) != 0)
		return -1;
	result = lock(&m, err);
	if (result == 0)
		result = update(&m, err);
	if (m.lock_fd >= 0)
		close(m.lock_fd);
	return result;
}
