/**
 * watch.h - detection of pushes: compares the branch tips of every configured repository with the stored ones and queues jobs.
 * A local repository is read in place when inotify reports a change of its refs; a remote one is fetched into a mirror. Child
 * processes (flopwatch-git) with deadlines do all git work, so the loop never blocks. A repository that fails stores its error,
 * is retried with growing delays (up to 5 minutes), and never delays the others.
 */
#ifndef FLOPWATCHD_WATCH_WATCH_H
#define FLOPWATCHD_WATCH_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/err.h"
#include "flopwatchd/config/config.h"
#include "lib/loop.h"
#include "db/db.h"

struct watch;

/**
 * Store the configured repositories, retire others, and start watching. `on_new_job(arg)` is called after each transaction that
 * queued a job. `l`, `c` and `db` must outlive the watch. Own: `*out` ends in watch_stop. Err: only failures that concern every
 * repository (database, state folder).
 */
int watch_start(struct loop *l, const struct config *c, struct db *db, void (*on_new_job)(void *arg), void *arg,
	struct watch **out, struct fw_err *err);
/**
 * Check this repository now, for a webhook or a user. Returns the number of the first check that starts after this call: a
 * running check may have read the tips before the push in question. 0: unknown name.
 */
int64_t watch_trigger(struct watch *w, const char *repo_name);

/** Result of the newest check. Own: the watch's, until the loop continues. */
struct watch_looked {
	const char *error; /* why the repository could not be read; "": it was read */
	const char *held;  /* names, one a line, of branches whose stored tip is older than git's */
};

enum watch_look {
	WATCH_LOOK_UNKNOWN, /* a number of an earlier daemon */
	WATCH_LOOK_OPEN,    /* not started, or running */
	WATCH_LOOK_ENDED    /* this check or a later one has ended */
};

/** Status of the check with that number. `out` describes the newest check, all "" unless WATCH_LOOK_ENDED. */
enum watch_look watch_looked(struct watch *w, const char *repo_name, int64_t look, struct watch_looked *out);
/** Stop all timers and kill running children; accepts NULL. */
void watch_stop(struct watch *w);

#endif
