/** change.h - a candidate's way to a change point: direct comparisons, placing among unmeasured commits, the alert. */
#ifndef FLOPWATCHD_HISTORY_CHANGE_H
#define FLOPWATCHD_HISTORY_CHANGE_H

#include "flopwatchd/runtime/config.h"
#include "db/store/change.h"
#include "db/store/baseline_period.h"
#include "db/store/job.h"
#include "db/store/result.h"

struct trend {
	struct db *db;
	const struct config *config; /* NULL: no webhook is told */
	int64_t now_ms;
};

/** Queue a job of a baseline period: fills suite, device and how its base was found. `why`: one line for its log. */
int trend_enqueue(
	const struct trend *t, const struct store_baseline_period *e, struct store_job *job, const char *why, struct fw_err *err);

/** Have the next pair of commits around a candidate compared directly; when none is left it is dropped. */
int trend_verify(const struct trend *t, struct store_change *c, const struct store_baseline_period *e, struct fw_err *err);

/** What the comparison `c` of a job says about the change points that wait for it; nothing where none does. */
int trend_answer(const struct trend *t, const struct store_job *job, const struct store_comparison *c, struct fw_err *err);

/** An open change point whose job brought nothing goes on without it. */
int trend_go_on(const struct trend *t, struct store_change *c, struct fw_err *err);

/** Tell of a confirmed change point: an event, and an alert where it is slower. */
int trend_tell(const struct trend *t, struct store_change *c, struct fw_err *err);

#endif
