/**
 * import.h - results measured elsewhere, stored as a comparison of kind "import". They are medians without noise, so each cell
 * is `undecided` with that reason; the comparison opens no alert, is no base and enters no history. Ctx: loop only.
 */
#ifndef FLOPWATCHD_IMPORT_H
#define FLOPWATCHD_IMPORT_H

#include "flopwatchd/config/txn.h"
#include "model/imported_results.h"

/** Store `figures` for repository `repo` in a transaction. Equal ones give the existing comparison, and `is_new` false. */
int import_store(struct txn *g, int64_t repo, const struct foreign_figures *figures, int64_t *comparison, bool *is_new,
	struct fw_err *err);

#endif
