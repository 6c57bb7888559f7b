/**
 * gone_cells.h - which cells a branch had measured of a suite and measures no more, also those of them that only nights measure: of a
 * suite in parts a comparison has a few, so there the files are held against each other. Inside the caller's transaction; loop only.
 */
#ifndef FLOPWATCHD_ALERT_GONE_CELLS_H
#define FLOPWATCHD_ALERT_GONE_CELLS_H

#include "db/find/gone.h"

/**
 * Cells that the suite of the branch's whole comparison before `c` had, that were measured there by a push or at night, and that `c`'s
 * suite lacks; of a suite that is measured whole, that `c` lacks. In the order of the suite.
 */
int gone_cells(
	struct db *db, const struct store_comparison *c, const char *suite, find_gone_fn *each, void *arg, struct fw_err *err);
/** All cells of a suite that is named no more, as the branch had it before the commit of `job`, each with its last comparison. */
int gone_cells_of_suite(
	struct db *db, const struct store_job *job, const char *suite, find_gone_fn *each, void *arg, struct fw_err *err);

#endif
