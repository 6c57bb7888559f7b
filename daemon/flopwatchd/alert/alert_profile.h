/** alert_profile.h - the profile of an alert's worst cells, queued in the transaction that raises the alert. */
#ifndef FLOPWATCHD_ALERT_ALERT_PROFILE_H
#define FLOPWATCHD_ALERT_ALERT_PROFILE_H

#include "db/alert.h"
#include "flopwatchd/job/profile_cells.h"
#include "flopwatchd/config/config.h"

/**
 * Call it after a comparison opened or extended the alert `a`: queues a profile of its worst cells, at most EVIDENCE_CELLS_MAX
 * an alert. Does nothing if the configuration disables profiles, or no time was lost, or no cell ran.
 */
int alert_profile(struct db *db, const struct config *config, const struct store_alert *a, int64_t now_ms, struct fw_err *err);

/** Choose the worst `most` cells of `cells_json` (as in an alert) by the comparison's times; none if it timed none of them. */
int alert_profile_choose(
	struct db *db, int64_t comparison, const char *cells_json, int most, struct profile_cells *out, struct fw_err *err);

#endif
