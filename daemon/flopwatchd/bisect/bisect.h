/**
 * bisect.h - searches for culprits: a search lists the commits, requests one measurement at a time and names the culprits.
 * Every search, commit, job and comparison is a row, and each step is computed from the rows alone: the daemon resumes after a
 * crash and requests no measurement twice. Bisect jobs run after all others but those that fill gaps in the history, and
 * measure only the lost cells.
 */
#ifndef FLOPWATCHD_BISECT_BISECT_H
#define FLOPWATCHD_BISECT_BISECT_H

#include "flopwatchd/config/config.h"
#include "db/alert.h"
#include "db/result.h"
#include "flopwatchd/config/txn.h"
#include "lib/loop.h"
#include "flopwatchd/job/result.h"

/** priority of bisect jobs: below pushes (0), above jobs that fill gaps (-10) */
enum { BISECT_PRIORITY = -5, BISECT_JOBS_MAX = 64 };

struct bisects;

/** Start with the open searches. `on_job(arg)`: a job was queued. Own: borrows all. */
int bisects_start(struct loop *l, const struct config *c, struct txn *g, void (*on_job)(void *arg), void *arg,
	struct bisects **out, struct fw_err *err);
/** Call it when a job may have ended or a search begun. */
void bisects_wake(struct bisects *b);
void bisects_stop(struct bisects *b);

/** Start a search inside the verdict's transaction: comparison `c` of `r` just opened alert `a` (kind regression or failing). */
int bisect_begin(struct db *db, const struct store_alert *a, const struct store_comparison *c, const struct result *r,
	int64_t now_ms, struct fw_err *err);

#endif
