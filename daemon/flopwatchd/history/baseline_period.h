/**
 * baseline_period.h - where a result stands in the history of its repository: its baseline period, and its ratio to the baseline period's reference commit.
 *
 * Absolute times change with driver, compiler, suite and power limit, and a little with the day; the ratio to a pinned commit
 * that is timed in the same runs does not. So main's commits are measured against a reference commit, and a new environment is a new
 * baseline period of the same reference commit: an event, never an alert. Inside the judge's transaction; loop only.
 */
#ifndef FLOPWATCHD_HISTORY_BASELINE_PERIOD_H
#define FLOPWATCHD_HISTORY_BASELINE_PERIOD_H

#include "db/store/baseline_period.h"
#include "db/store/job.h"
#include "db/store/result.h"
#include "flopwatchd/job/result.h"

struct baseline_period {
	struct store_baseline_period row; /* row.id 0: none, nothing of this result belongs to a history */
	enum role against;                /* that stands for the reference commit in this result */
	double clock_mhz;                 /* typical clock of this result; NAN unknown */
};

/**
 * The baseline period of a result that was measured in `environment`. The first result of the upstream branch pins its base as the
 * reference commit; a new environment takes the reference commit over and has it measured there, unless this result did that.
 */
int baseline_period_enter(struct db *db, const struct result *r, const struct store_job *job, int64_t environment, int64_t now_ms,
	struct baseline_period *out, struct fw_err *err);

/**
 * Fill a judged cell's history: baseline period, time at the held clock, and change against the baseline period's first reference commit, to which later ones are
 * chained with their error. `x` and `se`: NAN without a ratio.
 */
int baseline_period_cell(struct db *db, const struct baseline_period *e, const struct result *r, int cell, struct store_cell *c,
	double *x, double *se, struct fw_err *err);

/**
 * Of a cell with a ratio that is judged, its comparison and device known: note what its reference commit took there, where it was seen at a clock and
 * no other device confirmed it.
 */
int baseline_period_reference_time(struct db *db, const struct baseline_period *e, const struct result *r, int cell,
	const struct store_cell *c, int64_t device, struct fw_err *err);

#endif
