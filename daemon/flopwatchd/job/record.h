/** record.h - changes of a job: state, log line and event, in one transaction. */
#ifndef FLOPWATCHD_JOB_RECORD_H
#define FLOPWATCHD_JOB_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "flopwatchd/config/txn.h"
#include "db/job.h"
#include "model/jobstate.h"

/** Move a job inside a transaction, with event and (given a reason) log line. Err: ERR_CONFLICT it has ended already. */
int job_move(struct txn *g, const struct store_job *job, enum jobstate to, const char *why, int64_t now_ms, struct fw_err *err);
/** Return the job to queued without counting the attempt. */
int job_release(struct txn *g, const struct store_job *job, const char *why, int64_t now_ms, struct fw_err *err);
/** Store what a queued job waits for; repeated reasons are stored once. */
int job_wait(struct txn *g, const struct store_job *job, const char *why, int64_t now_ms, struct fw_err *err);

/** Call job_move in a new transaction. */
int job_move_now(struct txn *g, const struct store_job *job, enum jobstate to, const char *why, struct fw_err *err);

#endif
