/** unresolved.h - the order in which jobs are resolved: a push does not wait for a thousand earlier jobs. */
#ifndef FLOPWATCHD_PLAN_UNRESOLVED_H
#define FLOPWATCHD_PLAN_UNRESOLVED_H

#include "lib/buf.h"
#include "db/job.h"

struct unresolved {
	struct store_job_turn turn;
	struct buf passed; /* jobs that failed for now, "12,15," */
};

void unresolved_init(struct unresolved *u);
void unresolved_fini(struct unresolved *u);
/** Find the next job that is not in busy[n] (0: none) and was not passed. 1, 0, -1. */
int unresolved_next(struct unresolved *u, struct db *db, const int64_t *busy, int n, struct store_job *out, struct fw_err *err);
/** Skip a job that failed for now, until unresolved_again. */
void unresolved_pass(struct unresolved *u, int64_t job);
/** Retry all skipped jobs. */
void unresolved_again(struct unresolved *u);

#endif
