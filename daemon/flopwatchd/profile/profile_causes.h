/** profile_causes.h - hands what a profile found of a cell, and what its comparison timed, to core/cause, and stores what that says. */
#ifndef FLOPWATCHD_PROFILE_PROFILE_CAUSES_H
#define FLOPWATCHD_PROFILE_PROFILE_CAUSES_H

#include "db/store/result.h"
#include "flopwatchd/job/result.h"
#include "flopwatchd/profile/diagnostics.h"

/** Causes of cell `i` of `r`, as rows of profile cell `row`. `timed`: the comparison's cell, NULL: it was never compared, and the kernels' own times count. */
int profile_causes(struct db *db, const struct result *r, int i, const struct store_cell *timed, const struct diagnostics *said,
	int64_t row, struct fw_err *err);

#endif
