/**
 * refwrite.h - moves a ref of ours in a repository that is not ours, without a lock that stays behind for good.
 *
 * Git locks a ref by making REF.lock, and whoever is killed then leaves it; nobody can tell it from one that is in use. Here it is a
 * second name of a file of ours beside the refs, and that file is held by flock while its writer lives: the same file under both names,
 * held by nobody, is the lock of a run of ours that is no more, and the next one removes it. Signals that ask the process to end wait until
 * the ref is written.
 */
#ifndef GIT_REFWRITE_H
#define GIT_REFWRITE_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>

#include "lib/err.h"

struct refwrite {
	int fd;
	char own[PATH_MAX], ref[PATH_MAX], lock[PATH_MAX];
	sigset_t before; /* mask */
};

/**
 * Lock `ref` ("refs/notes/flopwatch") in the folder that holds refs/ of all worktrees. 1: this file system has no hard links, nothing is locked.
 * Own: on 0 `w` ends in refwrite_commit or refwrite_cancel. Err: ERR_BUSY another writer is at work, or left its lock.
 */
int refwrite_begin(const char *common_dir, const char *ref, struct refwrite *w, struct fw_err *err);
/** Let it name commit `sha`. The lock is gone when this returns. */
int refwrite_commit(struct refwrite *w, const char *sha, struct fw_err *err);
void refwrite_cancel(struct refwrite *w);
/** Let signals that ask the process to end wait; `before` is what sigprocmask sets back. */
void refwrite_hold_signals(sigset_t *before);
/** Whether a writer of ours is at work on it now. */
bool refwrite_is_busy(const char *common_dir, const char *ref);

#endif
