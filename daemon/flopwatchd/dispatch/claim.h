/** claim.h - what a worker that is free gets next: one of its devices, and a job that is marked as sent there. */
#ifndef FLOPWATCHD_DISPATCH_CLAIM_H
#define FLOPWATCHD_DISPATCH_CLAIM_H

#include <stdbool.h>

#include "core/protocol/protocol.h"
#include "db/store/job.h"
#include "flopwatchd/runtime/txn.h"

/** Whose devices, and which of them are free. */
struct claim {
	struct db *db;
	const struct msg_hello *hello;
	enum device_kind kind; /* as configured */
	bool (*is_taken)(void *arg, const char *uuid);
	void *arg;
};

/** A free device of any kind whose canary was asked for. 1, 0 none, -1. */
int claim_canary(const struct claim *c, struct msg_device *out, int64_t *id, struct fw_err *err);
/** First device of the wanted kind that is in order and free. 1, 0 none, -1. DEVICE_ANY is the kind that the worker names first. */
int claim_device(const struct claim *c, struct msg_device *out, int64_t *id, struct fw_err *err);
/** Write that the job is sent, under a nonce of its own, and read it again. Err: the database; the job stays queued. */
int claim_mark_sent(struct txn *g, const char *worker, const struct msg_device *device, int64_t device_id, struct store_job *job,
	struct fw_err *err);

#endif
