/** claim.h - what a worker that is free gets next: one of its devices, and a job that is marked as sent there. */
#ifndef FLOPWATCHD_DISPATCH_CLAIM_H
#define FLOPWATCHD_DISPATCH_CLAIM_H

#include <stdbool.h>

#include "core/protocol/protocol.h"
#include "db/cached_build/cached_build.h"
#include "db/store/job.h"
#include "flopwatchd/runtime/config.h"
#include "flopwatchd/runtime/txn.h"

/** Whose devices, and which of them are free. */
struct claim {
	struct db *db;
	const struct config_worker *worker;
	const struct msg_hello *hello;
	bool (*is_taken)(void *arg, const char *uuid);
	void *arg;
	const char *held; /* repositories whose jobs wait, a JSON array of ids */
};

/** The kind that it measures on: as configured, else what it names first. */
enum device_kind claim_kind(const struct config_worker *w, const struct msg_hello *hello);
/** Whether the configuration lets it measure on this one. */
bool claim_wants(const struct config_worker *w, const struct msg_device *d);

/** Whose cache the modules of its jobs have to lie in before it may measure: its own, where builds have allocations of their own; "" no matter. */
const char *claim_cache(const struct config_worker *w);

/** A free device of any kind whose health check was asked for. 1, 0 none, -1. */
int claim_health_check(const struct claim *c, struct msg_device *out, int64_t *id, struct fw_err *err);
/**
 * The first device of the wanted kind (`uuid`: this one alone; "": any) that is in order, free and has a job waiting, and that job. 1, 0
 * none, -1.
 */
int claim_job_on(
	const struct claim *c, const char *uuid, struct msg_device *out, int64_t *id, struct store_job *job, struct fw_err *err);
/** The next job that is wished for, to be built, marked as sent there. 1, 0 none, -1: the database; the job stays queued. */
int claim_build(struct txn *g, const struct store_cached_build_request *request, struct store_job *job, struct fw_err *err);
/** The first free device in order from place `from` of the hello on: its place and one, 0 there is none, -1. */
int claim_free_device(const struct claim *c, int from, int64_t *id, struct fw_err *err);
/** A free device in order that this job may have as well. 1, 0 none, -1. */
int claim_other_device(const struct claim *c, int64_t job, struct msg_device *out, int64_t *id, struct fw_err *err);
/** Write that the job has another device than it was sent to. Err: the database; ERR_CONFLICT it has ended. */
int claim_mark_bound(struct txn *g, const char *worker, const struct msg_device *device, int64_t device_id, struct store_job *job,
	struct fw_err *err);
/** Write that the job is sent, under a nonce of its own, and read it again. Err: the database; the job stays queued. */
int claim_mark_sent(struct txn *g, const char *worker, const struct msg_device *device, int64_t device_id, struct store_job *job,
	struct fw_err *err);

#endif
