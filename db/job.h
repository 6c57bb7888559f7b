/** job.h - the queue: jobs, their states and logs. All calls: loop only; writes inside the caller's transaction. */
#ifndef DB_JOB_H
#define DB_JOB_H

#include "model/device_kind.h"
#include "model/jobkind.h"
#include "model/jobstate.h"
#include "model/toolchain_override.h"
#include "db/db.h"
#include "db/words.h"

enum { STORE_JOB_CELLS_SIZE = 4096, STORE_JOB_NAME_SIZE = 256 };

/** SQL condition: a job counts for its commit's verdict. It is a whole comparison against a base that the rules chose. */
#define STORE_JOB_COUNTS "kind IN ('compare', 'selfcheck') AND base_how <> 'given' AND quick = 0 AND NOT some_cells "

/* ---- SQL shared by statements about the queue, for `job AS j` ---- */

/* One index lookup; NULL (never served) sorts before every time. */
#define STORE_JOB_BRANCH_SERVED                                                                                                  \
	"(SELECT max(started_at) FROM job AS served WHERE served.repo = j.repo AND served.branch = j.branch)"

/* Branches of a repository take turns by the later of queueing and last service. Every other turn of a repository goes to its newest branch
 * that was not served since it was queued, so that one push does not wait for a thousand earlier ones. */
#define STORE_JOB_FIRST                                                                                                          \
	"ORDER BY j.priority DESC, (SELECT max(started_at) FROM job AS served WHERE served.repo = j.repo), CASE WHEN "           \
	"(SELECT interleave FROM repo AS mine WHERE mine.id = j.repo) % 2 = 1 AND coalesce(" STORE_JOB_BRANCH_SERVED             \
	", 0) < j.queued_at THEN -j.id ELSE max(j.queued_at, coalesce(" STORE_JOB_BRANCH_SERVED ", 0)) END, j.id "

/* Cells and peers of a job as text. */
#define STORE_JOB_CELLS WORDS_TEXT("job_cell", "job", "j.id")
#define STORE_JOB_PEERS WORDS_TEXT("job_peer", "job", "j.id")

#define STORE_JOB_RESOLVED "j.base_sha <> '' AND j.base_how <> '' AND j.suite <> '' "

/* The sources of the job are resolved. */
#define STORE_JOB_KNOWN "EXISTS (SELECT 1 FROM job_source s WHERE s.job = j.id) "

/* All sources of the job are recorded in the cache of worker :cache. */
#define STORE_JOB_KEPT                                                                                                           \
	"(" STORE_JOB_KNOWN "AND NOT EXISTS (SELECT 1 FROM job_source s WHERE s.job = j.id AND s.source <> '' AND NOT "          \
	"EXISTS (SELECT 1 FROM cached_build k WHERE k.worker = :cache AND k.source = s.source))) "

struct store_job {
	int64_t id, repo, device, comparison; /* 0: none */
	char repo_name[128];
	char branch[1024];                                                     /* percent-encoded; "" none */
	char base_name[STORE_JOB_NAME_SIZE], target_name[STORE_JOB_NAME_SIZE]; /* as the user named the sides; "" not named */
	char target_sha[65], base_sha[65];
	enum jobkind kind;
	char base_how[16], suite[64], origin[16];
	enum device_kind device_kind;                       /* requested kind */
	char base_provider[48], target_provider[48];        /* requested provider; "": the module's default */
	char base_config[160], target_config[160];          /* requested configuration; "": the provider chooses */
	struct toolchain_override base_tools, target_tools; /* empty: the worker's own */
	char peers[512];                                    /* of the base's manifest, as model/peers.h writes them */
	char cells_glob[STORE_JOB_CELLS_SIZE];              /* globs separated by spaces; "" all cells */
	char device_uuid[64];                               /* requested device; "" any */
	int64_t device_class;                               /* requested class; 0 any */
	double threshold_pct;                               /* overrides the suite's; not above 0: the suite's */
	int64_t plan;                                       /* first job of the same request; 0: the request named this suite */
	enum jobstate state;
	char state_why[512];
	char nonce[33];
	int part;               /* shard of its suite; 0 the one of a push */
	bool quick, every_cell; /* every_cell: profile all cells instead of three */
	int priority, attempt;
	int64_t queued_at, started_at, ended_at;
};

/** Insert a queued job; sets id, queued_at and state. One without a suite starts a plan: `plan` is its id. */
int store_job_insert(struct db *db, struct store_job *j, int64_t now_ms, struct fw_err *err);
int store_job_get(struct db *db, int64_t id, struct store_job *out, struct fw_err *err);
/**
 * Add a cell to a queued job with the repository, commits, kind, suite, device class and queued_at of `j` whose list has room for the key.
 * Its threshold becomes the lower of both. 1 and j->id, 0 there is no such job, -1.
 */
int store_job_add_cell(struct db *db, struct store_job *j, const char *key, struct fw_err *err);
/**
 * Supersede the queued jobs of origin push and retry that are older than `newer` and have its repository, branch and suite but another
 * target; an unresolved suite counts as equal. *n counts them.
 */
int store_job_supersede(struct db *db, int64_t newer, int64_t now_ms, int *n, struct fw_err *err);
/** End the queued jobs of origin push and retry of a deleted branch in `state` with `why`. *n counts them. */
int store_job_drop(struct db *db, int64_t repo, const char *branch, enum jobstate state, const char *why, int64_t now_ms, int *n,
	struct fw_err *err);
/** Number of queued jobs. */
int store_job_waiting(struct db *db, int64_t *n, struct fw_err *err);
/** Whether a plan of all suites exists for a commit of a branch, with a job that is open or done. 1, 0, -1. */
int store_job_planned(struct db *db, int64_t repo, const char *target_sha, struct fw_err *err);
/**
 * Whether another job that counts measures the target of `like` for its branch with `suite`: an open one, or, for a push, a done one. 1, 0,
 * -1.
 */
int store_job_covers(struct db *db, const struct store_job *like, const char *suite, struct fw_err *err);
/**
 * The next queued and resolved job for a device: highest priority, then the least recently served repository; of its branches alternately
 * the least recently queued or served one and the newest one. Skips jobs that request another kind, class or device, jobs that do not name
 * this device while it deviates from its class and another one fits, and repositories in `held`, a JSON array of ids. 1, 0 none, -1.
 */
int store_job_next(struct db *db, enum device_kind kind, const char *device_uuid, const char *held, struct store_job *out,
	struct fw_err *err);
/** As store_job_next, for jobs whose modules are all in the cache of worker `cache` (db/cached_build.h); "": all jobs. */
int store_job_next_cached(struct db *db, enum device_kind kind, const char *device_uuid, const char *held, const char *cache,
	struct store_job *out, struct fw_err *err);
/** Whether a job may run on this device by kind, class and deviation from the class; the state of the device is ignored. 1, 0, -1. */
int store_job_fits(struct db *db, int64_t job, enum device_kind kind, const char *device_uuid, struct fw_err *err);
/** Whether a job runs on this device, or a queued one may run on it. 1, 0, -1. */
int store_job_wants_device(struct db *db, const char *device_uuid, struct fw_err *err);
/** Whether no device of a class is idle: each has a job, or a queued job may run on them. 1, 0, -1. */
int store_job_wants_class(struct db *db, int64_t device_class, struct fw_err *err);
/** Position of the round robin over unresolved jobs; zeros at the beginning. */
struct store_job_turn {
	int64_t repo;      /* of the previous job */
	bool takes_newest; /* in this round over the repositories */
};
/**
 * The next queued job whose base or suite is unresolved and that is not in `besides`, a JSON array of ids. By priority; then
 * repositories in turn, and of each alternately its oldest and its newest job. Advances `turn`. 1, 0, -1.
 */
int store_job_next_unresolved(
	struct db *db, struct store_job_turn *turn, const char *besides, struct store_job *out, struct fw_err *err);
int store_job_resolve(struct db *db, int64_t id, const char *base_sha, const char *how, enum jobkind kind, const char *suite,
	struct fw_err *err);
/** queued -> assigned: attempt + 1, nonce, device (0: none), started_at. Err: ERR_CONFLICT it is not queued any more. */
int store_job_assign(struct db *db, int64_t id, int64_t device, const char *nonce, int64_t now_ms, struct fw_err *err);
/** The same, and count a turn of the job's repository. */
int store_job_send(struct db *db, int64_t id, int64_t device, const char *nonce, int64_t now_ms, struct fw_err *err);
/** Change the device of an assigned job. Err: ERR_CONFLICT it is not assigned any more. */
int store_job_bind(struct db *db, int64_t id, int64_t device, struct fw_err *err);
/** Move to another state; a final one sets ended_at. Err: ERR_CONFLICT it has ended already. */
int store_job_state(struct db *db, int64_t id, enum jobstate state, const char *why, int64_t now_ms, struct fw_err *err);
int store_job_progress(struct db *db, int64_t id, const char *progress_json, struct fw_err *err);
/** Move an open job to done. Err: ERR_CONFLICT it has ended already. */
int store_job_done(struct db *db, int64_t id, int64_t now_ms, struct fw_err *err);
/** Times that the daemon may be killed or crash while a job runs before that job is suspected as the cause. */
enum { STORE_JOB_DAEMON_ENDS_MAX = 20 };
/**
 * At the daemon's start: jobs in assigned..measuring return to queued, and the attempt does not count, since neither worker nor
 * job ended it; the STORE_JOB_DAEMON_ENDS_MAX-th time they fail as "interrupted".
 */
int store_job_recover(struct db *db, int64_t now_ms, int *requeued, int *failed, struct fw_err *err);
int store_job_log(struct db *db, int64_t id, int64_t now_ms, const char *line, struct fw_err *err);
/** Event `kind` with {"job","repo","branch","commit"}, "state" where it is not JOBSTATE_N and "why" where it is not NULL. */
int store_job_report(struct db *db, const struct store_job *job, const char *kind, enum jobstate state, const char *why,
	int64_t now_ms, struct fw_err *err);
/** Event "job.state" and, with a reason, a log line. */
int store_job_report_state(
	struct db *db, const struct store_job *job, enum jobstate state, const char *why, int64_t now_ms, struct fw_err *err);

/** Store the id of a received webhook. 1 new, 0 seen before, -1. */
int store_notification(struct db *db, const char *id, int64_t now_ms, struct fw_err *err);

/** Delete ids of webhooks before `before`, and of later ones all but the newest `kept`; at most `limit`. *n counts them. */
int store_notification_prune(struct db *db, int64_t before, int kept, int limit, int *n, struct fw_err *err);

/** Return a job to queued, as if it was never assigned. Err: ERR_CONFLICT it has ended already. */
int store_job_release(struct db *db, int64_t id, const char *why, struct fw_err *err);
int store_job_nonce(struct db *db, int64_t id, const char *nonce, struct fw_err *err);
/** The comparison of a commit's import with this nonce. 1, 0, -1. */
int store_job_imported(
	struct db *db, int64_t repo, const char *target_sha, const char *nonce, int64_t *comparison, struct fw_err *err);

#endif
