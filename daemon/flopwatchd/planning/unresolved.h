/** unresolved.h - which job is resolved next, so that one push does not wait for a thousand that came before it. */
#ifndef FLOPWATCHD_PLANNING_UNRESOLVED_H
#define FLOPWATCHD_PLANNING_UNRESOLVED_H

#include "base/buf.h"
#include "db/store/job.h"

struct unresolved {
	struct store_job_turn turn;
	struct buf passed; /* jobs that were tried in vain, "12,15," */
};

void unresolved_init(struct unresolved *u);
void unresolved_fini(struct unresolved *u);
/** The next one that is not among busy[n] (0: none) and was not passed over. 1, 0, -1. */
int unresolved_next(struct unresolved *u, struct db *db, const int64_t *busy, int n, struct store_job *out, struct fw_err *err);
/** Tried in vain: it has its turn after unresolved_again. */
void unresolved_pass(struct unresolved *u, int64_t job);
/** All of them may be tried again. */
void unresolved_again(struct unresolved *u);

#endif
