/**
 * cached_build.h - which builds lie in the cache that a worker's allocations share, where builds have allocations of their own: what waits for
 * those, and what only for a device. All calls: loop only; writes inside the caller's transaction.
 */
#ifndef DB_CACHED_BUILD_CACHED_BUILD_H
#define DB_CACHED_BUILD_CACHED_BUILD_H

#include "core/state/device_kind.h"
#include "db/sqlite/db.h"

enum { STORE_SOURCE_SIZE = 65, STORE_MADE_BY_SIZE = 512 };

enum store_cached_build_which {
	STORE_CACHED_BUILD_ANY,    /* builds are no question */
	STORE_CACHED_BUILD_THERE,  /* everything it is built from is kept */
	STORE_CACHED_BUILD_MISSING /* something is not; neither holds as long as nobody has looked what that is */
};

/** Whose jobs are looked for. */
struct store_cached_build_request {
	enum device_kind kind;
	const char *worker;
	const char *held;    /* repositories whose jobs are passed over, a JSON array of ids */
	const char *besides; /* jobs that are passed over, a JSON array of ids */
	enum store_cached_build_which which;
	int64_t after; /* jobs up to this id are passed over; 0 none */
};

struct store_job_place {
	int64_t id;
	int priority;
	char host[64]; /* that its device asks for; "" any */
};

/**
 * The first jobs, at most `most`, in the order of store_job_next, of those that are wished for and that the worker could run: jobs for a
 * device that it does not know are passed over. Shape: out[most]; *n counts them.
 */
int store_job_places(struct db *db, const struct store_cached_build_request *request, int most, struct store_job_place *out,
	int *n, struct fw_err *err);

/** The newest job that there is; 0 none. */
int store_job_newest(struct db *db, int64_t *id, struct fw_err *err);

/** A job is built from these, and from nothing else. Shape: source[n]. */
int store_cached_build_plan(struct db *db, int64_t job, const char (*source)[STORE_SOURCE_SIZE], int n, struct fw_err *err);
/** Nobody can say what a job is built from: whoever builds it finds out. */
int store_cached_build_unknown(struct db *db, int64_t job, struct fw_err *err);
/** The oldest job above `after` that waits to run and of which nobody has looked what it is built from. 1, 0 none, -1. */
int store_cached_build_next_unknown(struct db *db, int64_t after, int64_t *job, struct fw_err *err);
/** Whether everything that a job is built from is kept for this worker. 1, 0, -1. */
int store_cached_build_all(struct db *db, const char *worker, int64_t job, struct fw_err *err);
/** queued -> sent, to be built: attempt + 1, nonce; no device, and nobody's turn. Err: ERR_CONFLICT it is not queued any more. */
int store_cached_build_send(struct db *db, int64_t job, const char *nonce, int64_t now_ms, struct fw_err *err);
/** A source was built, or found built. Those used longest ago are forgotten beyond what a cache keeps. */
int store_cached_build_put(
	struct db *db, const char *worker, const char *source, const char *made_by, int64_t now_ms, struct fw_err *err);
/** What a kept source was built by. 1, 0 it is not kept, -1. Shape: made_by[STORE_MADE_BY_SIZE]. */
int store_cached_build_get(struct db *db, const char *worker, const char *source, char *made_by, struct fw_err *err);
/** It is not there after all; `source` "": nothing is. */
int store_cached_build_forget(struct db *db, const char *worker, const char *source, struct fw_err *err);
/** What others than `made_by` built is of no use any more. */
int store_cached_build_only(struct db *db, const char *worker, const char *made_by, struct fw_err *err);

#endif
