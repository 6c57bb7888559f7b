/**
 * cached_build.h - builds in the cache that a worker's allocations share, where builds run in separate allocations: decides which
 * jobs need a build and which only a device. All calls: loop only; writes inside the caller's transaction.
 */
#ifndef DB_CACHED_BUILD_H
#define DB_CACHED_BUILD_H

#include "model/device_kind.h"
#include "db/db.h"

enum { STORE_SOURCE_SIZE = 65, STORE_MADE_BY_SIZE = 512 };

enum store_cached_build_which {
	STORE_CACHED_BUILD_ANY,    /* any job */
	STORE_CACHED_BUILD_THERE,  /* jobs whose sources are resolved and all cached */
	STORE_CACHED_BUILD_MISSING /* jobs whose sources are resolved and not all cached */
};

/** Which jobs store_job_positions returns. */
struct store_cached_build_request {
	enum device_kind kind;
	const char *worker;
	const char *held;    /* repositories to skip, a JSON array of ids */
	const char *besides; /* jobs to skip, a JSON array of ids */
	enum store_cached_build_which which;
	int64_t after; /* jobs up to this id are skipped; 0 none */
};

struct store_job_position {
	int64_t id;
	int priority;
	char host[64]; /* machine of the requested device; "" any */
};

/**
 * The first `most` requested jobs that the worker can run, in the order of store_job_next; jobs for a device that it never had are skipped.
 * Shape: out[most]; *n counts them.
 */
int store_job_positions(struct db *db, const struct store_cached_build_request *request, int most, struct store_job_position *out,
	int *n, struct fw_err *err);

/** Id of the newest job; 0 none. */
int store_job_newest(struct db *db, int64_t *id, struct fw_err *err);

/** Store all sources of a job. Shape: source[n]. */
int store_cached_build_plan(struct db *db, int64_t job, const char (*source)[STORE_SOURCE_SIZE], int n, struct fw_err *err);
/** Mark the sources of a job as unknown: only the worker that builds it can resolve them. */
int store_cached_build_unknown(struct db *db, int64_t job, struct fw_err *err);
/** The oldest queued, resolved job above `after` whose sources were not resolved yet. 1, 0 none, -1. */
int store_cached_build_next_unknown(struct db *db, int64_t after, int64_t *job, struct fw_err *err);
/** Whether all sources of a job are cached for this worker. 1, 0, -1. */
int store_cached_build_all(struct db *db, const char *worker, int64_t job, struct fw_err *err);
/**
 * queued -> assigned, to be built: attempt + 1, nonce; no device and no turn of its branch. Err: ERR_CONFLICT it is not queued
 * any more.
 */
int store_cached_build_send(struct db *db, int64_t job, const char *nonce, int64_t now_ms, struct fw_err *err);
/** Add a source that was built or found in the cache; deletes the least recently used rows beyond the size of a cache. */
int store_cached_build_put(
	struct db *db, const char *worker, const char *source, const char *made_by, int64_t now_ms, struct fw_err *err);
/** Toolchain that built a cached source. 1, 0 not cached, -1. Shape: made_by[STORE_MADE_BY_SIZE]. */
int store_cached_build_get(struct db *db, const char *worker, const char *source, char *made_by, struct fw_err *err);
/** Delete a source that the cache does not have; `source` "": all. */
int store_cached_build_forget(struct db *db, const char *worker, const char *source, struct fw_err *err);
/** Delete sources that another toolchain than `made_by` built. */
int store_cached_build_only(struct db *db, const char *worker, const char *made_by, struct fw_err *err);

#endif
