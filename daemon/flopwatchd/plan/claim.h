/** claim.h - the next device and job of a free worker; a claimed job is marked as sent. */
#ifndef FLOPWATCHD_PLAN_CLAIM_H
#define FLOPWATCHD_PLAN_CLAIM_H

#include <stdbool.h>

#include "protocol/protocol.h"
#include "db/cached_build.h"
#include "db/job.h"
#include "flopwatchd/config/config.h"
#include "flopwatchd/config/txn.h"

struct claim {
	struct db *db;
	const struct config_worker *worker;
	const struct msg_hello *hello;
	bool (*is_taken)(void *arg, const char *uuid);
	void *arg;
	const char *held; /* repositories whose jobs must wait, a JSON array of ids */
};

/** Device kind that the worker measures: as configured, else that of its first device. */
enum device_kind claim_kind(const struct config_worker *w, const struct msg_hello *hello);
/** True if the configuration lets the worker measure on this device. */
bool claim_wants(const struct config_worker *w, const struct msg_device *d);

/** Worker whose cache must hold a job's modules: itself if its builds run in separate allocations, "" any. */
const char *claim_cache(const struct config_worker *w);

/** Find a free device whose health check was requested. 1, 0 none, -1. */
int claim_health_check(const struct claim *c, struct msg_device *out, int64_t *id, struct fw_err *err);
/** Find a free device (`uuid` "": any) of the wanted kind in state ok, and a job for it. 1, 0 none, -1. */
int claim_job_on(
	const struct claim *c, const char *uuid, struct msg_device *out, int64_t *id, struct store_job *job, struct fw_err *err);
/** Claim the next job to build and mark it as sent. 1, 0 none, -1: the database; the job stays queued. */
int claim_build(struct txn *g, const struct store_cached_build_request *request, struct store_job *job, struct fw_err *err);
/** Find the first free device in state ok, from index `from` of the hello on. Returns its index + 1, 0 none, -1. */
int claim_free_device(const struct claim *c, int from, int64_t *id, struct fw_err *err);
/** Find another free device in state ok that this job may use. 1, 0 none, -1. */
int claim_other_device(const struct claim *c, int64_t job, struct msg_device *out, int64_t *id, struct fw_err *err);
/** Store that the job moved to another device than it was sent to. Err: the database; ERR_CONFLICT the job has ended. */
int claim_mark_bound(struct txn *g, const char *worker, const struct msg_device *device, int64_t device_id, struct store_job *job,
	struct fw_err *err);
/** Mark the job as sent with a new nonce, and read it again. Err: the database; the job stays queued. */
int claim_mark_sent(struct txn *g, const char *worker, const struct msg_device *device, int64_t device_id, struct store_job *job,
	struct fw_err *err);

#endif
