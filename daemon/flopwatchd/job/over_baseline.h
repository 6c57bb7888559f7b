/**
 * over_baseline.h - the speed of a cell relative to its baseline cell, both timed in the same runs: one ratio for each run, so
 * that effects on a whole run cancel.
 */
#ifndef FLOPWATCHD_JOB_OVER_BASELINE_H
#define FLOPWATCHD_JOB_OVER_BASELINE_H

#include "db/sample.h"

struct over_baseline {
	int runs;        /* that timed both; 0: none is stored */
	double speed[2]; /* of base and target, as a factor; NAN without runs */
};

/** Compare two cells of one comparison in the deciding series. `runs` is 0 if their calls were thinned. */
int over_baseline_read(
	struct db *db, int64_t cell, int64_t baseline, enum series series, struct over_baseline *out, struct fw_err *err);

#endif
