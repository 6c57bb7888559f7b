/**
 * prefetch.h - what jobs are built from that came with base and suite, as those that are asked again: looked up one after the other, so that
 * one whose modules are there asks for no build. Where no worker has its builds apart nobody looks.
 */
#ifndef FLOPWATCHD_PLANNING_PREFETCH_H
#define FLOPWATCHD_PLANNING_PREFETCH_H

#include "flopwatchd/planning/resolve.h"
#include "flopwatchd/runtime/txn.h"

struct prefetch {
	struct loop *loop;
	struct txn *txn;
	const struct config *config;
	void (*found)(void *arg); /* something is known that was not */
	void *arg;
	int64_t job; /* looked at; 0 none */
	struct resolve *resolve;
};

/** Look at the next one, where none is looked at. Err: the database. */
int prefetch_more(struct prefetch *f, struct fw_err *err);
/** Leave what is looked at. */
void prefetch_stop(struct prefetch *f);

#endif
