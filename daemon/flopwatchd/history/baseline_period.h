/**
 * baseline_period.h - the baseline period of a result in its repository's history, and the result's ratio to the period's
 * reference commit. Absolute times change with driver, compiler, suite and power limit, and slightly from day to day; the ratio
 * to a pinned commit timed in the same runs does not. Upstream commits are therefore measured against a reference commit, and a
 * new environment starts a new baseline period with the same reference commit: an event, never an alert. Inside the judge's
 * transaction; loop only.
 */
#ifndef FLOPWATCHD_HISTORY_BASELINE_PERIOD_H
#define FLOPWATCHD_HISTORY_BASELINE_PERIOD_H

#include "db/baseline_period.h"
#include "db/job.h"
#include "db/result.h"
#include "flopwatchd/job/result.h"

struct baseline_period {
	struct store_baseline_period row; /* row.id 0: none, the result belongs to no history */
	enum role against;                /* role of the reference commit in this result */
	double clock_mhz;                 /* typical clock of this result; NAN unknown */
};

/**
 * Find or start the baseline period of a result measured in `environment`. The first result of the upstream branch pins its
 * base as the reference commit; a new environment takes the reference commit over and queues its measurement there, unless this
 * result has one.
 */
int baseline_period_enter(struct db *db, const struct result *r, const struct store_job *job, int64_t environment, int64_t now_ms,
	struct baseline_period *out, struct fw_err *err);

/**
 * Fill a judged cell's history: baseline period, time at the held clock, and change against the period's first reference
 * commit. Ratios to later reference commits are chained to it with their errors. `x` and `se`: NAN without a ratio.
 */
int baseline_period_cell(struct db *db, const struct baseline_period *e, const struct result *r, int cell, struct store_cell *c,
	double *x, double *se, struct fw_err *err);

/** Store the time of a judged cell's reference commit, if its clock was observed and no other device confirmed the cell. */
int baseline_period_reference_time(struct db *db, const struct baseline_period *e, const struct result *r, int cell,
	const struct store_cell *c, int64_t device, struct fw_err *err);

#endif
