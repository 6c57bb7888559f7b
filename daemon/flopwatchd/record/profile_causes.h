/** profile_causes.h - causes of a profiled cell, computed by core/cause from its evidence and times, and stored. */
#ifndef FLOPWATCHD_RECORD_PROFILE_CAUSES_H
#define FLOPWATCHD_RECORD_PROFILE_CAUSES_H

#include "db/result.h"
#include "flopwatchd/job/result.h"
#include "flopwatchd/record/diagnostics.h"

/** Store causes of cell `i` as rows of profile cell `row`. `timed` NULL: not compared, the kernels' times count. */
int profile_causes(struct db *db, const struct result *r, int i, const struct store_cell *timed, const struct diagnostics *said,
	int64_t row, struct fw_err *err);

#endif
