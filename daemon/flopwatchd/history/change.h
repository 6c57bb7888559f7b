/** change.h - confirmation of a candidate change point: direct comparisons, backfill between unmeasured commits, the alert. */
#ifndef FLOPWATCHD_HISTORY_CHANGE_H
#define FLOPWATCHD_HISTORY_CHANGE_H

#include "flopwatchd/config/config.h"
#include "db/change.h"
#include "db/baseline_period.h"
#include "db/job.h"
#include "db/result.h"

struct trend {
	struct db *db;
	const struct config *config; /* NULL: no notifications */
	int64_t now_ms;
};

/** Queue a job of a baseline period: sets suite, device and base_how. `why`: one line for its log. */
int trend_enqueue(
	const struct trend *t, const struct store_baseline_period *e, struct store_job *job, const char *why, struct fw_err *err);

/** Queue the direct comparison of the next pair of commits around a candidate; drops the candidate if none is left. */
int trend_verify(const struct trend *t, struct store_change *c, const struct store_baseline_period *e, struct fw_err *err);

/** Update the change points that wait for a job from its comparison `c`; no effect if none waits. */
int trend_answer(const struct trend *t, const struct store_job *job, const struct store_comparison *c, struct fw_err *err);

/** Continue an open change point whose job ended without a result. */
int trend_go_on(const struct trend *t, struct store_change *c, struct fw_err *err);

/** Report a confirmed change point: an event, and an alert if it is slower. */
int trend_report(const struct trend *t, struct store_change *c, struct fw_err *err);

#endif
