/** record.h - store the results of a job, in one transaction. */
#ifndef FLOPWATCHD_RECORD_RECORD_H
#define FLOPWATCHD_RECORD_RECORD_H

#include "db/db.h"
#include "flopwatchd/config/config.h"
#include "flopwatchd/job/job.h"
#include "verdict/verdict.h"

/*
 * ---- retry ----
 * Retries: a comparison that is undecided only because of noise between runs is queued once more, at another hour. Inside the
 * caller's transaction; loop only.
 */

/** After a verdict on a whole change: store the time of its retry, if it gets one. */
int retry_schedule(struct db *db, const struct config *config, const struct store_job *job, const struct store_comparison *c,
	int64_t now_ms, struct fw_err *err);

/** Queue due retries below jobs that wait for a first result; with a delay of 0 delete all. Returns the number, -1. */
int retry_queue_due(struct db *db, const struct config *config, int64_t now_ms, struct fw_err *err);

/*
 * ---- judge ----
 * The rows of a finished job: measurements, verdicts, alerts and notifications. All rows, including the job's end, are written
 * inside the caller's transaction, completely or not at all. Verdicts are computed here from the samples, by the rule that was
 * sent with the job; the worker's own judgement does not count. Ctx: loop only.
 */

/** Result of judging a job. */
struct judge_outcome {
	int64_t comparison;
	enum verdict verdict;
	int64_t alert;     /* 0: none */
	bool alert_is_new; /* opened by this comparison */
	int n_recovered;   /* alerts that this comparison resolved */
	int64_t recovered[STORE_ALERT_RECOVER_MAX];
};

/**
 * Store and judge the result of the job `r->plan.request.job`: suite, environment, builds, comparison, cells, runs, samples,
 * metrics, graph nodes, verdicts, alert or recovery, notifications for every webhook of `config` (NULL: none), events, the job's
 * state done, JSON and ETag. Only whole comparisons of a branch (kind compare, not quick) open and resolve alerts. Err: -1, and
 * the caller rolls back; ERR_CONFLICT the job has ended meanwhile.
 */
int judge_finish(struct db *db, const struct config *config, const struct result *r, int64_t now_ms, struct judge_outcome *out,
	struct fw_err *err);

/** As above, for a job that runs nothing: equal inputs, or a dropped benchmark. Own: takes over the plan's contents. */
int judge_unrun(struct db *db, const struct config *config, struct plan *plan, int64_t now_ms, struct judge_outcome *out,
	struct fw_err *err);

/**
 * Judge a stored comparison again from its samples (in the database or archive, else from each run's estimate) with its stored
 * rule, and rewrite its JSON. Verdicts of cells without times stay; alerts are unchanged, since users answered them. `changed`: a
 * verdict changed. Err: ERR_NOT_FOUND.
 */
int judge_again(struct db *db, int64_t comparison, bool *changed, struct fw_err *err);

/*
 * ---- profile_finish ----
 * The end of a profile: stores its findings and updates the alert that requested it. It changes no verdict, comparison or status.
 */

/** Store the profile of a job and mark the job as done, inside the caller's transaction. `config` NULL: no notifications. */
int profile_finish(
	struct db *db, const struct config *config, const struct result *r, int64_t now_ms, int64_t *profile, struct fw_err *err);
/** As above, for a plan that needs no worker. Own: takes over the plan's contents. */
int profile_unrun(
	struct db *db, const struct config *config, struct plan *plan, int64_t now_ms, int64_t *profile, struct fw_err *err);

#endif
