/** alert_profile.h - asks why, in the transaction that raises an alert: a profile of the cells that lost most. */
#ifndef FLOPWATCHD_ALERT_ALERT_PROFILE_H
#define FLOPWATCHD_ALERT_ALERT_PROFILE_H

#include "db/store/alert.h"
#include "flopwatchd/runtime/config.h"

/**
 * After the alert `a` was opened, or got cells, by its comparison: queue a profile of the worst of these cells, as far as the alert has
 * not asked for EVIDENCE_CELLS_MAX yet. Nothing where the configuration wants none, where no time was lost, or nothing ran.
 */
int alert_profile(
	struct db *db, const struct config *config, const struct store_alert *a, int64_t now_ms, struct fw_err *err);

#endif
