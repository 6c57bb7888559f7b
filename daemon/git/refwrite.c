/* refwrite.c - update of a ref; documented in internal.h. */
#include "git/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

enum { FILE_MODE = 0666, FOLDER_MODE = 0777 }; /* as created by git; the umask removes bits */

static int join(char *out, const char *a, const char *b, const char *c, struct fw_err *err)
{
	if ((size_t)snprintf(out, PATH_MAX, "%s%s%s", a, b, c) >= PATH_MAX)
		return err_set(err, ERR_INVALID, "%.200s: path too long", a);
	return 0;
}

/* Write the path of flopwatch's file, which is named after the ref: flopwatch-refs-notes-flopwatch. */
static int name_files(const char *common_dir, const char *ref, struct refwrite *w, struct fw_err *err)
{
	size_t len = strlen(common_dir);
	const char *slash = len && common_dir[len - 1] == '/' ? "" : "/";
	char dir[PATH_MAX];

	if (join(dir, common_dir, slash, "", err) != 0 || join(w->own, dir, "flopwatch-", ref, err) != 0 ||
		join(w->ref, dir, ref, "", err) != 0 || join(w->lock, w->ref, ".lock", "", err) != 0)
		return -1;
	for (char *at = w->own + strlen(dir); *at; at++)
		if (*at == '/')
			*at = '-';
	return 0;
}

/* Create the folders above the ref. */
static int make_folders(struct refwrite *w, size_t from, struct fw_err *err)
{
	for (char *slash = w->ref + from; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		if (mkdir(w->ref, FOLDER_MODE) < 0 && errno != EEXIST)
			return err_sys(err, "create %s", w->ref);
		*slash = '/';
	}
	return 0;
}

static int busy(const struct refwrite *w, struct fw_err *err)
{
	return err_set(
		err, ERR_BUSY, "%s is being written by another flopwatch (see doc/troubleshooting.md#two-writers)", w->ref);
}

/* Remove the file of a killed process, and the lock or ref that is a link to it. */
static int clear_own(struct refwrite *w, struct fw_err *err)
{
	int fd = open(w->own, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), result = 0;

	if (fd < 0)
		return errno == ENOENT ? 0 : err_sys(err, "open %s", w->own);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 || !filelock_is_at(fd, w->own))
		result = busy(w, err);
	else if ((filelock_is_at(fd, w->lock) && unlink(w->lock) < 0) || unlink(w->own) < 0)
		result = err_sys(err, "delete %s", w->lock);
	close(fd);
	return result;
}

/* Link the lock to flopwatch's file. Returns 0; 1 if the file system has no hard links; -1 on error. */
static int take_lock(struct refwrite *w, struct fw_err *err)
{
	if (link(w->own, w->lock) == 0)
		return 0;
	if (errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS || errno == EMLINK || errno == EXDEV)
		return 1;
	if (errno == EEXIST)
		return err_set(err, ERR_BUSY,
			"%s exists: another git process is running, or was killed; if none is running, delete it", w->lock);
	return err_sys(err, "lock %s", w->ref);
}

void refwrite_hold_signals(sigset_t *before)
{
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGHUP);
	sigaddset(&ends, SIGXCPU);
	sigprocmask(SIG_BLOCK, &ends, before);
}

static void leave(struct refwrite *w)
{
	if (w->fd >= 0) {
		if (filelock_is_at(w->fd, w->lock))
			unlink(w->lock);
		if (filelock_is_at(w->fd, w->own))
			unlink(w->own);
		close(w->fd);
	}
	w->fd = -1;
	sigprocmask(SIG_SETMASK, &w->before, NULL);
}

int refwrite_begin(const char *common_dir, const char *ref, struct refwrite *w, struct fw_err *err)
{
	int result = -1;

	w->fd = -1;
	if (name_files(common_dir, ref, w, err) != 0)
		return -1;
	refwrite_hold_signals(&w->before);
	if (make_folders(w, strlen(w->ref) - strlen(ref), err) == 0 && clear_own(w, err) == 0) {
		w->fd = open(w->own, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
		if (w->fd < 0)
			err_sys(err, "create %s", w->own);
		else if (flock(w->fd, LOCK_EX | LOCK_NB) < 0 || !filelock_is_at(w->fd, w->own))
			busy(w, err);
		else
			result = take_lock(w, err);
	}
	if (result != 0)
		leave(w);
	return result;
}

/* Flush the folder, so that the new ref survives a power failure. */
static int flush_folder(const struct refwrite *w, struct fw_err *err)
{
	char dir[PATH_MAX];
	int fd, result = 0;

	snprintf(dir, sizeof dir, "%.*s", (int)(strrchr(w->ref, '/') - w->ref), w->ref);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fsync(fd) < 0)
		result = err_sys(err, "flush %s", dir);
	if (fd >= 0)
		close(fd);
	return result;
}

int refwrite_commit(struct refwrite *w, const char *sha, struct fw_err *err)
{
	char line[80];
	int len = snprintf(line, sizeof line, "%s\n", sha), result = 0;

	if (write(w->fd, line, (size_t)len) != len || fsync(w->fd) < 0)
		result = err_sys(err, "write %s", w->lock);
	else if (rename(w->lock, w->ref) < 0)
		result = err_sys(err, "rename %s to %s", w->lock, w->ref);
	else
		result = flush_folder(w, err);
	leave(w);
	return result;
}

void refwrite_cancel(struct refwrite *w)
{
	leave(w);
}

bool refwrite_is_busy(const char *common_dir, const char *ref)
{
	struct refwrite w;
	int fd;
	bool held;

	if (name_files(common_dir, ref, &w, NULL) != 0)
		return false;
	fd = open(w.own, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	held = fd >= 0 && filelock_is_at(fd, w.lock) && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
	if (fd >= 0)
		close(fd);
	return held;
}
