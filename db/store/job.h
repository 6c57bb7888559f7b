/** job.h - the queue: jobs, their states and logs. All calls: loop only; writes inside the caller's transaction. */
#ifndef DB_STORE_JOB_H
#define DB_STORE_JOB_H

#include "core/state/device_kind.h"
#include "core/state/jobkind.h"
#include "core/state/jobstate.h"
#include "core/suite/toolchain_override.h"
#include "db/sqlite/db.h"

enum { STORE_JOB_CELLS_SIZE = 4096, STORE_JOB_NAME_SIZE = 256 };

/** SQL that says whether a job counts for its commit's verdict: a whole comparison against the base that the rules give. */
#define STORE_JOB_COUNTS "kind IN ('compare', 'selfcheck') AND base_how <> 'given' AND quick = 0 AND NOT some_cells "

/* ---- SQL that statements about the queue share, for `job AS j`: whose turn it is, what can be run at all ---- */

/* Each "served" is one look at the end of an index; NULL (never served) sorts before every time. */
#define STORE_JOB_BRANCH_SERVED                                                                                                  \
	"(SELECT max(started_at) FROM job AS served WHERE served.repo = j.repo AND served.branch = j.branch)"

/* A branch stands where it came, or, once it was served, where that was: it waits for all that were there by then. Every other turn
 * of a repository goes to who came last and was not served since, so that one push does not wait for a thousand that came before it. */
#define STORE_JOB_FIRST                                                                                                          \
	"ORDER BY j.priority DESC, (SELECT max(started_at) FROM job AS served WHERE served.repo = j.repo), "                     \
	"CASE WHEN (SELECT interleave FROM repo AS mine WHERE mine.id = j.repo) % 2 = 1 AND coalesce(" STORE_JOB_BRANCH_SERVED   \
	", 0) "                                                                                                                  \
	"< j.queued_at THEN -j.id ELSE max(j.queued_at, coalesce(" STORE_JOB_BRANCH_SERVED ", 0)) END, j.id "

#define STORE_JOB_RESOLVED "j.base_sha <> '' AND j.base_how <> '' AND j.suite <> '' "

/* Somebody has looked what it is built from. */
#define STORE_JOB_KNOWN "EXISTS (SELECT 1 FROM job_source s WHERE s.job = j.id) "

/* All that it is built from lies in the cache of worker :cache, as far as is known. */
#define STORE_JOB_KEPT                                                                                                           \
	"(" STORE_JOB_KNOWN "AND NOT EXISTS (SELECT 1 FROM job_source s WHERE s.job = j.id AND s.source <> '' AND NOT EXISTS "   \
	"(SELECT 1 FROM cached_build k WHERE k.worker = :cache AND k.source = s.source))) "

struct store_job {
	int64_t id, repo, device, comparison; /* 0: none */
	char repo_name[128];
	char branch[1024];                                                     /* percent-encoded; "" none */
	char base_name[STORE_JOB_NAME_SIZE], target_name[STORE_JOB_NAME_SIZE]; /* as a person named the sides; "" nobody did */
	char target_sha[65], base_sha[65];
	enum jobkind kind;
	char base_how[16], suite[64], origin[16];
	enum device_kind device_kind;                       /* that was asked for */
	char base_provider[48], target_provider[48];        /* asked for by name; "": the module's default */
	char base_config[160], target_config[160];          /* that a person wants; "": the provider chooses */
	struct toolchain_override base_tools, target_tools; /* that build them; none: the worker's own */
	char peers[512];                       /* that the base's manifest names, as core/suite/peers.h writes them */
	char cells_glob[STORE_JOB_CELLS_SIZE]; /* globs separated by spaces; "" all cells */
	char device_uuid[64];                  /* wanted device; "" any */
	int64_t device_class;                  /* wanted class; 0 any */
	double threshold_pct;                  /* in place of the suite's; not above 0: the suite's */
	int64_t plan;                          /* first job of those that were asked for together; 0: this suite alone was */
	enum jobstate state;
	char state_why[512];
	char nonce[33];
	int part;               /* of its suite; 0 what a push measures */
	bool quick, every_cell; /* every_cell: of a profile, instead of three */
	int priority, attempt;
	int64_t queued_at, started_at, ended_at;
};

/** Insert a queued job (id, queued_at, state are set by the call). One without a suite begins a plan: its own id is set as `plan`. */
int store_job_insert(struct db *db, struct store_job *j, int64_t now_ms, struct fw_err *err);
int store_job_get(struct db *db, int64_t id, struct store_job *out, struct fw_err *err);
/**
 * Have a job measure one more cell: one with the repository, commits, kind, suite and device class of `j`, queued at j->queued_at and
 * not sent yet, whose list has room for the key. Its threshold becomes that of `j` where it is higher. 1 and j->id, 0 there is none, -1.
 */
int store_job_add_cell(struct db *db, struct store_job *j, const char *key, struct fw_err *err);
/**
 * Queued jobs of the same repo, branch and suite, with another target and older than `newer`, become superseded; a suite not
 * known yet counts as the same. Only jobs that a push asked for (origin push, retry) go. Returns -1 or 0; *n counts them.
 */
int store_job_supersede(struct db *db, int64_t newer, int64_t now_ms, int *n, struct fw_err *err);
/** A branch is gone: its queued jobs that a push asked for move to `state` with `why`. *n counts them. */
int store_job_drop(struct db *db, int64_t repo, const char *branch, enum jobstate state, const char *why, int64_t now_ms, int *n,
	struct fw_err *err);
/** Number of queued jobs. */
int store_job_waiting(struct db *db, int64_t *n, struct fw_err *err);
/** Whether all suites of a commit of a branch were asked for, and a job of that plan is open or done. 1 yes, 0 no, -1. */
int store_job_planned(struct db *db, int64_t repo, const char *target_sha, struct fw_err *err);
/**
 * Whether another job measures the target of `like` for its branch with `suite`, as a part of its commit's verdict: one that is open, or
 * for a push one that is done. 1 yes, 0 no, -1.
 */
int store_job_covers(struct db *db, const struct store_job *like, const char *suite, struct fw_err *err);
/**
 * The next queued job to run, its base and suite resolved: higher priority first, then the repository that was served longest ago; of its
 * branches by turns the one that waits longest since it came or was served, and the one that came last.
 * Jobs that ask for another kind of device, another class or another device are passed over, also those that do not ask for this one by
 * name while it stands out of its class, and those of repositories in `held`, a JSON array of ids.
 * 1 found, 0 none, -1.
 */
int store_job_next(struct db *db, enum device_kind kind, const char *device_uuid, const char *held, struct store_job *out,
	struct fw_err *err);
/** The same of those whose modules lie in the cache of worker `cache` (db/cached_build/cached_build.h); "": of all. */
int store_job_next_cached(struct db *db, enum device_kind kind, const char *device_uuid, const char *held, const char *cache,
	struct store_job *out, struct fw_err *err);
/** Whether a job may have this device, in whatever state it is: its kind, its class, and that it does not stand out. 1, 0, -1. */
int store_job_fits(struct db *db, int64_t job, enum device_kind kind, const char *device_uuid, struct fw_err *err);
/** Whether a job runs on this device, or waits and may run on it. What waits for another device alone does not count. 1, 0, -1. */
int store_job_wants_device(struct db *db, const char *device_uuid, struct fw_err *err);
/** Whether no device of a class is idle: each has a job, or one waits that they may run. 1, 0, -1. */
int store_job_wants_class(struct db *db, int64_t device_class, struct fw_err *err);
/** Whose turn it is to be resolved; zeros at the beginning. */
struct store_job_turn {
	int64_t repo;      /* that had the last */
	bool takes_newest; /* in this round of the repositories */
};
/**
 * The next queued job whose base or suite is not resolved yet and that is not in `besides`, a JSON array of ids. By priority; then
 * repositories take turns, and of one of them by turns that which came first and that which came last. Moves `turn` on. 1, 0, -1.
 */
int store_job_next_unresolved(
	struct db *db, struct store_job_turn *turn, const char *besides, struct store_job *out, struct fw_err *err);
int store_job_resolve(struct db *db, int64_t id, const char *base_sha, const char *how, enum jobkind kind, const char *suite,
	struct fw_err *err);
/** queued -> sent: attempt + 1, nonce, device, started_at. Err: ERR_CONFLICT it is not queued any more. */
int store_job_send(struct db *db, int64_t id, int64_t device, const char *nonce, int64_t now_ms, struct fw_err *err);
/** A job that was sent has another device. Err: ERR_CONFLICT it is not waiting for its worker any more. */
int store_job_bind(struct db *db, int64_t id, int64_t device, struct fw_err *err);
/** Move to another state; a final one sets ended_at. Err: ERR_CONFLICT it has ended already. */
int store_job_state(struct db *db, int64_t id, enum jobstate state, const char *why, int64_t now_ms, struct fw_err *err);
int store_job_progress(struct db *db, int64_t id, const char *progress_json, struct fw_err *err);
/** An open job has its result. Err: ERR_CONFLICT it has ended already. */
int store_job_done(struct db *db, int64_t id, int64_t now_ms, struct fw_err *err);
/** How often the daemon may end without a word while a job runs before that job is suspected to be why. */
enum { STORE_JOB_DAEMON_ENDS_MAX = 20 };
/**
 * At start: jobs left in sent..measuring go back to queued and get their attempt back, since neither worker nor job ended it; the
 * STORE_JOB_DAEMON_ENDS_MAX-th time they become failed "interrupted".
 */
int store_job_recover(struct db *db, int64_t now_ms, int *requeued, int *failed, struct fw_err *err);
int store_job_log(struct db *db, int64_t id, int64_t now_ms, const char *line, struct fw_err *err);
/** Event `kind` with {"job","repo","branch","commit"}, "state" where it is not JOBSTATE_N and "why" where it is not NULL. */
int store_job_tell(struct db *db, const struct store_job *job, const char *kind, enum jobstate state, const char *why,
	int64_t now_ms, struct fw_err *err);
/** Event "job.state" and, with a reason, a log line. */
int store_job_tell_state(
	struct db *db, const struct store_job *job, enum jobstate state, const char *why, int64_t now_ms, struct fw_err *err);

/** 1 when this mark of a notification is new (and now stored), 0 when seen before, -1. */
int store_notification(struct db *db, const char *id, int64_t now_ms, struct fw_err *err);

/** Forget notifications from before `before`, and of later ones all but the newest `kept`; at most `limit`. *n counts them. */
int store_notification_prune(struct db *db, int64_t before, int kept, int limit, int *n, struct fw_err *err);

/** Back to queued, as if it had never been sent. Err: ERR_CONFLICT it has ended already. */
int store_job_release(struct db *db, int64_t id, const char *why, struct fw_err *err);
int store_job_nonce(struct db *db, int64_t id, const char *nonce, struct fw_err *err);
/** The comparison of the import with this nonce, of figures of that commit. 1, 0, -1. */
int store_job_imported(
	struct db *db, int64_t repo, const char *target_sha, const char *nonce, int64_t *comparison, struct fw_err *err);

#endif
