/**
 * judge.h - a finished job becomes rows: what was measured, what it means, and who has to hear of it.
 *
 * Everything is written inside the caller's one transaction, the job's end included: either all of it is there afterwards or
 * nothing. The verdicts are computed here, from the samples, with the rule that the job was sent; what the worker thought is
 * not asked. Ctx: loop only.
 */
#ifndef FLOPWATCHD_VERDICT_JUDGE_H
#define FLOPWATCHD_VERDICT_JUDGE_H

#include "flopwatchd/runtime/config.h"
#include "core/verdict/verdict.h"
#include "db/sqlite/db.h"
#include "db/store/alert.h"
#include "flopwatchd/job/result.h"

/** What a judged job left behind. */
struct judge_outcome {
	int64_t comparison;
	enum verdict verdict;
	int64_t alert;     /* 0: none */
	bool alert_is_new; /* opened by this comparison */
	int n_recovered;   /* alerts that this comparison resolved */
	int64_t recovered[STORE_ALERT_RECOVER_MAX];
};

/**
 * Store and judge the result of the job `r->plan.ask.job`: suite, environment, builds, comparison, cells, runs, samples,
 * metrics, graph nodes, verdicts, alert or recovery, outbox rows for every webhook of `config` (NULL: none), events, the job's
 * state done, body and ETag. Alerts are only opened and resolved by whole comparisons of a branch (kind change, not quick).
 * Err: -1 and the caller rolls back; ERR_CONFLICT the job has ended meanwhile.
 */
int judge_finish(struct db *db, const struct config *config, const struct result *r, int64_t now_ms, struct judge_outcome *out,
	struct fw_err *err);

/** The same for the job `plan->ask.job`, of which nothing has to run: both sides have equal inputs, or the target dropped what is measured. Own: takes over the plan's contents. */
int judge_unrun(struct db *db, const struct config *config, struct plan *plan, int64_t now_ms, struct judge_outcome *out,
	struct fw_err *err);

/**
 * Judge a stored comparison again from its stored samples (in the database or the archive; from each run's estimate where they are gone) with the rule
 * that stands beside it, and write its body anew. Cells that were never timed keep their verdicts; alerts, which people have
 * answered, are left alone. `changed`: some verdict became another. Err: ERR_NOT_FOUND.
 */
int judge_again(struct db *db, int64_t comparison, bool *changed, struct fw_err *err);

#endif
