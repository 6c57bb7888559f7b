/**
 * txn.h - the daemon's writes: each is one transaction that carries its event, and the one place that knows whether the
 * database can be written at all.
 */
#ifndef FLOPWATCHD_RUNTIME_TXN_H
#define FLOPWATCHD_RUNTIME_TXN_H

#include <stdbool.h>
#include <stdint.h>

#include "db/sqlite/db.h"
#include "flopwatchd/runtime/config.h"

struct txn {
	struct db *db;
	const struct config *config; /* whom to tell; NULL: nobody */
	void (*on_event)(void *arg); /* called after a transaction that may have written events; may be NULL */
	void *arg;
	bool is_broken; /* the last write failed for a reason that is not the job's */
	struct fw_err why;
	int64_t written;  /* rows, when the open transaction began: one that writes nothing proves nothing */
	int64_t tried_ns; /* by txn_is_well */
};

/** Begin a transaction. */
int txn_begin(struct txn *g, struct fw_err *err);
/** Commit when `result` is 0, else roll back and return -1 with `err` as it is. Keeps is_broken, and logs when it changes. */
int txn_end(struct txn *g, int result, struct fw_err *err);
/** Whether it can be written; tried, at most once a second, where the last write failed. */
bool txn_is_well(struct txn *g);
/** Whether the failure lies in disk or database, so that the same write may work later. */
bool txn_is_outage(const struct fw_err *err);

#endif
