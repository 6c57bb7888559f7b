/**
 * record.h - the daemon's writes about jobs: each is one transaction that carries its event and its log line, and the one
 * place that knows whether the database can be written at all.
 */
#ifndef FLOPWATCHD_JOB_RECORD_H
#define FLOPWATCHD_JOB_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "flopwatchd/runtime/config.h"
#include "db/sqlite/db.h"
#include "db/store/job.h"
#include "flopwatchd/job/jobstate.h"

struct ledger {
	struct db *db;
	const struct config *config; /* whom to tell; NULL: nobody */
	void (*on_event)(void *arg); /* called after a transaction that may have written events; may be NULL */
	void *arg;
	bool is_broken; /* the last write failed for a reason that is not the job's */
	struct fw_err why;
	int64_t written;  /* rows, when the open transaction began: one that writes nothing proves nothing */
	int64_t tried_ns; /* by ledger_is_well */
};

/** Begin a transaction. */
int ledger_begin(struct ledger *g, struct fw_err *err);
/** Commit when `result` is 0, else roll back and return -1 with `err` as it is. Keeps is_broken, and logs when it changes. */
int ledger_end(struct ledger *g, int result, struct fw_err *err);
/** Whether it can be written; tried, at most once a second, where the last write failed. */
bool ledger_is_well(struct ledger *g);
/** Whether the failure lies in disk or database, so that the same write may work later. */
bool ledger_is_outage(const struct fw_err *err);

/* Inside a transaction. */
/** Move a job and tell: state, event "job.state" and (with a reason) a log line. Err: ERR_CONFLICT it has ended already. */
int ledger_move(
	struct ledger *g, const struct store_job *job, enum jobstate to, const char *why, int64_t now_ms, struct fw_err *err);
/** Back to queued without counting the attempt. */
int ledger_release(struct ledger *g, const struct store_job *job, const char *why, int64_t now_ms, struct fw_err *err);
/** A queued job waits for something of ours; told once, however often it is tried. */
int ledger_wait(struct ledger *g, const struct store_job *job, const char *why, int64_t now_ms, struct fw_err *err);
/** Event `kind` with {"job","repo","branch","commit"} and, where not NULL, "state" and "why". */
int ledger_tell(struct ledger *g, const struct store_job *job, const char *kind, const char *state, const char *why,
	int64_t now_ms, struct fw_err *err);

/** ledger_move in a transaction of its own. */
int ledger_move_now(struct ledger *g, const struct store_job *job, enum jobstate to, const char *why, struct fw_err *err);

#endif
