/** alert_profile.h - asks why, in the transaction that raises an alert: a profile of the cells that lost most. */
#ifndef FLOPWATCHD_ALERT_ALERT_PROFILE_H
#define FLOPWATCHD_ALERT_ALERT_PROFILE_H

#include "db/store/alert.h"
#include "flopwatchd/job/profile_cells.h"
#include "flopwatchd/runtime/config.h"

/**
 * After the alert `a` was opened, or got cells, by its comparison: queue a profile of the worst of these cells, as far as the alert has
 * not asked for EVIDENCE_CELLS_MAX yet. Nothing where the configuration wants none, where no time was lost, or nothing ran.
 */
int alert_profile(struct db *db, const struct config *config, const struct store_alert *a, int64_t now_ms, struct fw_err *err);

/** The worst `most` of the cells that `cells_json` names, as in an alert, by what the comparison timed; none where it timed none of them. */
int alert_profile_choose(
	struct db *db, int64_t comparison, const char *cells_json, int most, struct profile_cells *out, struct fw_err *err);

#endif
