/**
 * gone_cells.h - cells of a suite that a branch measured before and measures no more, including cells that only off-peak jobs
 * measure. A comparison of a sharded suite has only some cells, so there the suite files are compared. Inside the caller's
 * transaction; loop only.
 */
#ifndef FLOPWATCHD_ALERT_GONE_CELLS_H
#define FLOPWATCHD_ALERT_GONE_CELLS_H

#include "db/gone.h"

/**
 * List cells that are in the suite of the branch's last whole comparison before `c`, were measured there by a push or off-peak,
 * and are missing from `c`'s suite (from `c` itself if the suite is not sharded). In the order of the suite.
 */
int gone_cells(
	struct db *db, const struct store_comparison *c, const char *suite, find_gone_fn *each, void *arg, struct fw_err *err);
/**
 * List all cells of a suite that the branch no longer names, as the branch had it before the commit of `job`, each with its
 * last comparison.
 */
int gone_cells_of_suite(
	struct db *db, const struct store_job *job, const char *suite, find_gone_fn *each, void *arg, struct fw_err *err);

#endif
