/**
 * import.h - figures that were measured elsewhere become a comparison of kind "import".
 *
 * It holds medians and nothing about how they noise, so each cell is `undecided` and says why; it opens no alert, is no base and
 * enters no anchored history. Ctx: loop only.
 */
#ifndef FLOPWATCHD_IMPORT_H
#define FLOPWATCHD_IMPORT_H

#include "flopwatchd/runtime/txn.h"
#include "core/ask/figures.h"

/**
 * Store `figures` for repository `repo` in one transaction of its own. The same figures again give the comparison that holds
 * them, and `is_new` false.
 */
int import_store(struct txn *g, int64_t repo, const struct foreign_figures *figures, int64_t *comparison, bool *is_new,
	struct fw_err *err);

#endif
