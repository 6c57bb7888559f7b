/**
 * watch.h - notices pushes: compares the branch tips of every configured repository with the stored ones and queues jobs.
 *
 * A local repository is read in place when inotify sees its refs change; a remote one is fetched into a mirror. All git work
 * is done by children (flopwatch-git) with deadlines; nothing here blocks. A repository that fails shows its error in the
 * database, is tried again with growing pauses (up to 5 minutes), and never holds up the others.
 */
#ifndef FLOPWATCHD_INTAKE_WATCH_H
#define FLOPWATCHD_INTAKE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "flopwatchd/runtime/config.h"
#include "flopwatchd/runtime/loop.h"
#include "db/sqlite/db.h"

struct watch;

/**
 * Store the configured repositories, retire others, and begin watching. `on_new_job(arg)` is called after the transaction
 * that queued at least one job. `l`, `c` and `db` must outlive the watch.
 * Own: `*out` ends in watch_stop. Err: only what keeps every repository from being watched (database, state folder).
 */
int watch_start(struct loop *l, const struct config *c, struct db *db, void (*on_new_job)(void *arg), void *arg,
	struct watch **out, struct fw_err *err);
/**
 * Look at this repository now (a webhook or a person asked). The number of the first look that begins after this call: a look that runs
 * already may have read the tips before the push that the caller knows of. 0: the name is unknown, and nothing is done.
 */
int64_t watch_trigger(struct watch *w, const char *repo_name);

/** How the newest look ended. Own: the watch's, until the loop goes on. */
struct watch_looked {
	const char *error; /* why the repository could not be read; "" it was */
	const char *held;  /* names, one a line, of branches whose stored tip is older than the one that git has */
};

enum watch_look {
	WATCH_LOOK_UNKNOWN, /* this watch has given no such number: another one gave it, before a restart */
	WATCH_LOOK_OPEN,    /* it has not begun, or it runs */
	WATCH_LOOK_ENDED    /* it or a later one has ended */
};

/** Where the look of that number stands. `out` is how the newest ended, all "" unless WATCH_LOOK_ENDED. */
enum watch_look watch_looked(struct watch *w, const char *repo_name, int64_t look, struct watch_looked *out);
/** Forget all timers and kill running children; accepts NULL. */
void watch_stop(struct watch *w);

#endif
