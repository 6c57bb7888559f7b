/** plan.h - one job's plan: commits, trees, suite, cells. */
#ifndef FLOPWATCHD_PLAN_PLAN_H
#define FLOPWATCHD_PLAN_PLAN_H

#include <stdbool.h>

#include "db/db.h"
#include "flopwatchd/config/config.h"
#include "flopwatchd/job/job.h"
#include "flopwatchd/watch/watch.h"
#include "lib/lib.h"
#include "protocol/protocol.h"

/* ---- claim: The choice of the next device and job of a free worker; a claimed job is marked as sent. ---- */

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

/**
 * Return the worker whose cache must have a job's modules: the worker itself if its builds run in separate allocations, "" any.
 */
const char *claim_cache(const struct config_worker *w);

/** Find a free device with a requested health check. Returns 1, 0 none, -1. */
int claim_health_check(const struct claim *c, struct msg_device *out, int64_t *id, struct fw_err *err);
/** Find a free device (`uuid` "": any) of the wanted kind in state ok, and a job for it. Returns 1, 0 none, -1. */
int claim_job_on(
	const struct claim *c, const char *uuid, struct msg_device *out, int64_t *id, struct store_job *job, struct fw_err *err);
/** Claim the next job to build and mark it as sent. Returns 1, 0 none, -1: the database; the job stays queued. */
int claim_build(struct txn *txn, const struct store_cached_build_request *request, struct store_job *job, struct fw_err *err);
/** Find the first free device in state ok, from index `from` of the hello on. Returns its index + 1, 0 none, -1. */
int claim_free_device(const struct claim *c, int from, int64_t *id, struct fw_err *err);
/** Find another free device in state ok that this job may use. Returns 1, 0 none, -1. */
int claim_other_device(const struct claim *c, int64_t job, struct msg_device *out, int64_t *id, struct fw_err *err);
/** Store that the job was moved to another device than it was sent to. Err: the database; ERR_CONFLICT the job has ended. */
int claim_mark_bound(struct txn *txn, const char *worker, const struct msg_device *device, int64_t device_id,
	struct store_job *job, struct fw_err *err);
/** Mark the job as sent with a new nonce, and read it again. Err: the database; the job stays queued. */
int claim_mark_sent(struct txn *txn, const char *worker, const struct msg_device *device, int64_t device_id,
	struct store_job *job, struct fw_err *err);

/*
 * ---- devices_update ----
 * The devices of a worker's hello: new ones are stored, measurements of environment changes are queued, and devices that the
 * worker no longer has become absent. A worker that does not respond or has no device is no evidence. A scheduler grants devices
 * one by one: there, a device is absent if a month passed in which only others of the machine were seen.
 */

/**
 * Store the devices of worker `w` at `now_ms`, except those that the configuration excludes. Cancels the daemon's own queued jobs
 * for devices that no longer exist. *n counts the queued jobs. Runs its own transaction. Err: the database.
 */
int devices_update(struct txn *txn, const struct config_worker *w, const struct msg_hello *hello, int64_t now_ms, int *n,
	struct fw_err *err);
/** Mark devices of workers that are no longer configured as absent. Runs its own transaction. Err: the database. */
int devices_mark_unconfigured(struct txn *txn, int64_t now_ms, struct fw_err *err);

/*
 * ---- resolve ----
 * The plan of a job (a commit, optionally a base and a suite), made by queries to flopwatch-git in child processes. Without a
 * requested base: a branch gets its merge-base with the upstream branch. The upstream branch gets its newest first-parent
 * ancestor whose own comparison left no cell open (db/base.c), else its first parent; after a force-push the merge-base with its
 * last judged tip. Its first commit, and one whose base cannot be built or read, is measured against itself (kind selfcheck). A
 * branch without an upstream, without a common commit, or contained in the upstream branch is refused: compared with itself it
 * would pass. Reads the database and writes nothing.
 */

struct resolve;

struct resolve_suites {
	int n;
	char name[MANIFEST_SUITES_MAX][64];
};

enum { RESOLVE_RANGE_MAX = 256, RESOLVE_FILES_MAX = 5, RESOLVE_FILES_SIZE = 4096 };

struct resolve_answer {
	enum jobstate state; /* JOBSTATE_N: the plan is good; else the job's final state: cancelled, failed, target_missing */
	bool again;          /* the failure may be temporary (no memory, a deadline, a killed child): retry */
	bool crashed;        /* flopwatch-git crashed: a second crash is no coincidence */
	char why[1024];
	char note[512];                   /* one line for the job's log, "" none */
	struct plan plan;                 /* the callback may take its contents and leave it in the state of plan_init */
	struct store_commit target, base; /* sha "": unknown */
	int n_upstream;                   /* of an upstream commit: it and its first parents, newest first */
	char upstream[GITREAD_PARENTS_MAX + 1][65];
	int n_range; /* commits of the target that are not in the base, newest first; 0: not queried, or known before */
	char range[RESOLVE_RANGE_MAX][65];
	char files_json[RESOLVE_FILES_SIZE]; /* first changed files of a benchmark program; "": not queried, or known before */
	int n_files;                         /* all changed files */
	struct peers peers;                  /* of the base */
	int n_suites;                        /* suites of the commit; [0] is the plan's */
	char suite[MANIFEST_SUITES_MAX][64];
	struct resolve_suites before, after; /* named by the manifests of base and target; none if the configuration names them */
};

typedef void resolve_fn(void *arg, struct resolve_answer *answer);

/** Start. The loop calls `fn` once, later; the resolve is freed when it returns. Own: borrows l, db, c. */
int resolve_start(struct loop *l, struct db *db, const struct config *c, const struct store_job *job, resolve_fn *fn, void *arg,
	struct resolve **out, struct fw_err *err);
/**
 * As resolve_start, for a resolved job that has its device. Reads the stored plan, and adds rule, limits, calibration and, for an
 * upstream commit, the reference commit, whose tree is the only query. The response contains the plan, or the reason why there is
 * none.
 */
int resolve_for_device(struct loop *l, struct db *db, const struct config *c, const struct store_job *job, resolve_fn *fn,
	void *arg, struct resolve **out, struct fw_err *err);
/** Stop without a callback; accepts NULL. */
void resolve_cancel(struct resolve *r);

/*
 * ---- plan_alerts ----
 * Alerts about commits of the upstream branch before any measurement: suites that its manifest no longer names (kind missing),
 * and a plan that cannot be made (kind failing, without cells). Inside the caller's transaction. Ctx: loop only.
 */

/**
 * Open or resolve alerts for the answer to `job`: no plan, or suites that the base names and the target does not name. A later
 * commit that fixes them resolves them. Only pushes to the upstream branch count. Err: -1, and the caller rolls back.
 */
int plan_alerts(struct db *db, const struct config *config, const struct store_job *job, const struct resolve_answer *a,
	int64_t now_ms, struct fw_err *err);

/*
 * ---- refusal ----
 * Messages for a job that requests something missing: the setting or file with its line, and a remedy. Measuring something else
 * would give a verdict that was not requested. Pure.
 */

enum { REFUSAL_SIZE = 1024 };

/** The branch has no commit that is missing from its upstream. */
void refusal_contained(const struct config_repo *repo, const struct store_job *job, char why[REFUSAL_SIZE]);
/** The branch and its upstream have no common commit. */
void refusal_unrelated(const struct config_repo *repo, const struct store_job *job, char why[REFUSAL_SIZE]);

/** Write the position that names suite `name`, as a message prefix; "": a user requested the suite. */
void refusal_suite_position(const struct config_repo *repo, const struct manifest *m, const char *commit, const char *name,
	char position[REFUSAL_SIZE]);
/**
 * Check that all suites in a commit's own manifest can be measured: each is one of its benchmarks, or a valid suite of its tree
 * (requested as blobs) or installed. `base`: manifest of the base, for a suggestion. Err: ERR_INVALID.
 */
int refusal_of_suites(const struct config *config, const struct gitread_commit *c, const struct manifest *own,
	const struct manifest *base, struct fw_err *err);

/** Check that a manifest has a `build` for the modules that `suite` times. Err: ERR_INVALID, with the suite's position. */
int refusal_of_build(
	const struct config_repo *repo, const struct manifest *m, const char *commit, const char *suite, struct fw_err *err);

/** As above, for a peer. */
void refusal_peer_position(const struct config_repo *repo, const struct manifest *m, const char *commit, const char *provider,
	char position[REFUSAL_SIZE]);

/** Describe a provider missing from a module, or rows that a benchmark does not write. Returns false if it is neither. */
bool refusal_of_result(const struct result *r, const struct store_job *job, char why[REFUSAL_SIZE]);

/* ---- sources: Names of a job's sources, which identify a cached build if builds run in separate allocations. ---- */

/**
 * Name side `i` of a plan. Returns false if a cache cannot store it: a benchmark, or a module built before. Shape: hex[65].
 */
bool sources_name(const struct plan *p, int i, char hex[STORE_SOURCE_SIZE]);
/** Store the names of all sides as the job's sources. Err: the database. */
int sources_put(struct db *db, int64_t job, const struct plan *p, struct fw_err *err);
/**
 * Write the toolchain of a worker's builds, from its hello; workers with different toolchains share no build. Shape:
 * out[STORE_MADE_BY_SIZE].
 */
void sources_made_by(const struct msg_hello *hello, const struct msg_device *d, char *out);

/* ---- unresolved: The order in which jobs are resolved: a push does not wait for a thousand earlier jobs. ---- */

struct unresolved {
	struct store_job_round_robin next;
	struct buf passed; /* jobs that failed temporarily, "12,15," */
};

void unresolved_init(struct unresolved *u);
void unresolved_fini(struct unresolved *u);
/** Find the next job that is not in busy[n] (0: none) and was not skipped. Returns 1, 0, -1. */
int unresolved_next(struct unresolved *u, struct db *db, const int64_t *busy, int n, struct store_job *out, struct fw_err *err);
/** Skip a job that failed temporarily, until unresolved_again. */
void unresolved_pass(struct unresolved *u, int64_t job);
/** Retry all skipped jobs. */
void unresolved_again(struct unresolved *u);

#endif
