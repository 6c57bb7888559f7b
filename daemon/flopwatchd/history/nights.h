/**
 * nights.h - what no push measures of a large suite: one job a part, of the upstream branch beside what it was when the part was last
 * measured, in the hours that the configuration gives, while nothing else waits. Inside the caller's transaction; loop only.
 */
#ifndef FLOPWATCHD_HISTORY_NIGHTS_H
#define FLOPWATCHD_HISTORY_NIGHTS_H

#include "db/sqlite/db.h"
#include "flopwatchd/runtime/config.h"

/** Whether it is night by the configuration, and since when. Units: ms since 1970; of `idle` the last day. */
bool nights_is_now(const struct config *c, int64_t now_ms, int64_t *since_ms);

/** Queue the part that is due on each class of devices that nothing waits for; `is_share`: of this night's share alone. The count, -1. */
int nights_due(struct db *db, const struct config *c, const struct config_repo *repo, int64_t repo_id, bool is_share,
	int64_t now_ms, struct fw_err *err);

#endif
