/**
 * profile_causes.h - the causes of a profiled cell: passes its evidence and the comparison's times to core/cause and stores the
 * result.
 */
#ifndef FLOPWATCHD_PROFILE_PROFILE_CAUSES_H
#define FLOPWATCHD_PROFILE_PROFILE_CAUSES_H

#include "db/store/result.h"
#include "flopwatchd/job/result.h"
#include "flopwatchd/profile/diagnostics.h"

/**
 * Store causes of cell `i` of `r` as rows of profile cell `row`. `timed`: the comparison's cell; NULL: it was never compared,
 * and the kernels' own times count.
 */
int profile_causes(struct db *db, const struct result *r, int i, const struct store_cell *timed, const struct diagnostics *said,
	int64_t row, struct fw_err *err);

#endif
