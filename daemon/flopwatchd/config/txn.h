/** txn.h - write transactions of the daemon, each with its events, and the state of the database: writable or not. */
#ifndef FLOPWATCHD_CONFIG_TXN_H
#define FLOPWATCHD_CONFIG_TXN_H

#include <stdbool.h>
#include <stdint.h>

#include "db/db.h"
#include "flopwatchd/config/config.h"

struct txn {
	struct db *db;
	const struct config *config; /* receivers of notifications; NULL: none */
	void (*on_event)(void *arg); /* called after a transaction that may have written events; may be NULL */
	void *arg;
	bool is_broken; /* the last write failed for a reason other than the job */
	struct fw_err why;
	int64_t written;  /* rows at the start of the open transaction: one that writes nothing proves nothing */
	int64_t tried_ns; /* last attempt of txn_is_well */
};

int txn_begin(struct txn *g, struct fw_err *err);
/** Commit if `result` is 0, else roll back and return -1 with `err` unchanged. Updates is_broken and logs its changes. */
int txn_end(struct txn *g, int result, struct fw_err *err);
/** True if the database is writable. After a failed write, tries at most once a second. */
bool txn_is_well(struct txn *g);
/** True if the failure is due to disk or database, so that the same write may succeed later. */
bool txn_is_outage(const struct fw_err *err);

#endif
