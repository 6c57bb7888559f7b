/**
 * bisect.h - searches for culprits: lists the commits, asks for one measurement after the other, names who did it.
 *
 * Everything is in rows: the search, its commits, its jobs and their comparisons. Each step is worked out anew from these, so
 * a daemon that dies at any moment goes on where it was, and measurements that are there already are not asked for. Its jobs
 * come after everybody's but those that fill gaps in the history, and only look at the cells that were lost.
 */
#ifndef FLOPWATCHD_BISECT_BISECT_H
#define FLOPWATCHD_BISECT_BISECT_H

#include "flopwatchd/runtime/config.h"
#include "db/store/alert.h"
#include "db/store/result.h"
#include "flopwatchd/runtime/txn.h"
#include "flopwatchd/runtime/loop.h"
#include "flopwatchd/job/result.h"

/** Of a search's jobs: below pushes (0), above the filling of gaps (-10). */
enum { BISECT_PRIORITY = -5, BISECT_JOBS_MAX = 64 };

struct bisects;

/** Begin with the searches that are open. `on_job(arg)`: there is a new job. Own: borrows all. */
int bisects_start(struct loop *l, const struct config *c, struct txn *g, void (*on_job)(void *arg), void *arg,
	struct bisects **out, struct fw_err *err);
/** A job may have ended, or a search begun. */
void bisects_wake(struct bisects *b);
/** Accepts NULL. */
void bisects_stop(struct bisects *b);

/** Inside the verdict's transaction: alert `a` (kind regression or broken) was just opened by comparison `c` of `r`. */
int bisect_begin(struct db *db, const struct store_alert *a, const struct store_comparison *c, const struct result *r,
	int64_t now_ms, struct fw_err *err);

#endif
