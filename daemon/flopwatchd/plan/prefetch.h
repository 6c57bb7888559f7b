/**
 * prefetch.h - sources of queued jobs that already have base and suite, such as retried ones: resolved one after the other, so
 * that a job with cached modules requests no build. Only if a worker builds in separate allocations.
 */
#ifndef FLOPWATCHD_PLAN_PREFETCH_H
#define FLOPWATCHD_PLAN_PREFETCH_H

#include "flopwatchd/plan/resolve.h"
#include "flopwatchd/config/txn.h"

struct prefetch {
	struct loop *loop;
	struct txn *txn;
	const struct config *config;
	void (*found)(void *arg); /* called when sources were stored */
	void *arg;
	int64_t job; /* being resolved; 0 none */
	struct resolve *resolve;
};

/** Resolve the next job, unless one is being resolved. Err: the database. */
int prefetch_more(struct prefetch *f, struct fw_err *err);
/** Stop resolving. */
void prefetch_stop(struct prefetch *f);

#endif
