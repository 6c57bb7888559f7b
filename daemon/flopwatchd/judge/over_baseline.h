/**
 * over_baseline.h - how much faster a cell is than the one that it is held against, where both were timed in the same runs: one ratio a
 * run, so that what a whole run does to both goes out of it.
 */
#ifndef FLOPWATCHD_JUDGE_OVER_BASELINE_H
#define FLOPWATCHD_JUDGE_OVER_BASELINE_H

#include "db/store/sample.h"

struct over_baseline {
	int runs;        /* that timed both; 0: none is stored */
	double speed[2]; /* of base and target, times as fast; NAN without runs */
};

/** Of two cells of one comparison, in the series that decides. Their calls must not have been thinned: else `runs` is 0. */
int over_baseline_read(
	struct db *db, int64_t cell, int64_t baseline, enum series series, struct over_baseline *out, struct fw_err *err);

#endif
