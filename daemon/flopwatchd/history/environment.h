/**
 * environment.h - what a changed environment did to the times: of a commit built by the old toolchain and by the new one, paired in one
 * run; of the reference commit, held against the baseline period before at its clock, which is not paired and said to be so. Inside the judge's transaction.
 */
#ifndef FLOPWATCHD_HISTORY_ENVIRONMENT_H
#define FLOPWATCHD_HISTORY_ENVIRONMENT_H

#include "db/store/result.h"
#include "flopwatchd/alert/alert_cells.h"
#include "flopwatchd/job/result.h"
#include "flopwatchd/runtime/config.h"

/** An unpaired loss below this is weather: other days, other temperatures. Units: percent. */
#define ENVIRONMENT_UNPAIRED_PCT 3.0

/**
 * Where a stored result measures a change: keep what it did to each cell, and open an alert of kind environment where cells lost. `lost`:
 * what a paired comparison calls regressions, and what fails as it is built now. *alert: its row, 0 none.
 */
int environment_follow(struct db *db, const struct config *config, const struct result *r, const struct store_comparison *c,
	struct alert_cells *lost, int64_t now_ms, int64_t *alert, struct fw_err *err);

#endif
