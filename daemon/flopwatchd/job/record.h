/** record.h - what is written about a job as it goes on: its state, its log line and its event, in one transaction. */
#ifndef FLOPWATCHD_JOB_RECORD_H
#define FLOPWATCHD_JOB_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "flopwatchd/runtime/txn.h"
#include "db/store/job.h"
#include "core/state/jobstate.h"

/* Inside a transaction. */
/** Move a job and tell: state, event "job.state" and (with a reason) a log line. Err: ERR_CONFLICT it has ended already. */
int job_move(struct txn *g, const struct store_job *job, enum jobstate to, const char *why, int64_t now_ms, struct fw_err *err);
/** Back to queued without counting the attempt. */
int job_release(struct txn *g, const struct store_job *job, const char *why, int64_t now_ms, struct fw_err *err);
/** A queued job waits for something of ours; told once, however often it is tried. */
int job_wait(struct txn *g, const struct store_job *job, const char *why, int64_t now_ms, struct fw_err *err);

/** job_move in a transaction of its own. */
int job_move_now(struct txn *g, const struct store_job *job, enum jobstate to, const char *why, struct fw_err *err);

#endif
