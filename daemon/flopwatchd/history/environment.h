/**
 * environment.h - the effect of a changed environment on times: paired, if one commit built by the old and the new toolchain
 * ran together; unpaired, by the reference commit against the previous baseline period at its clock. Messages name an unpaired
 * result as such. Inside the judge's transaction.
 */
#ifndef FLOPWATCHD_HISTORY_ENVIRONMENT_H
#define FLOPWATCHD_HISTORY_ENVIRONMENT_H

#include "db/result.h"
#include "flopwatchd/alert/alert_cells.h"
#include "flopwatchd/job/result.h"
#include "flopwatchd/config/config.h"

/** An unpaired loss below this is day-to-day variation. Units: percent. */
#define ENVIRONMENT_UNPAIRED_PCT 3.0

/**
 * If a stored result measures a change, store its effect on each cell and open an alert of kind environment if cells lost.
 * `lost`: regressions of a paired comparison, and cells that fail in the new build. *alert: its row, 0 none.
 */
int environment_follow(struct db *db, const struct config *config, const struct result *r, const struct store_comparison *c,
	struct alert_cells *lost, int64_t now_ms, int64_t *alert, struct fw_err *err);

#endif
