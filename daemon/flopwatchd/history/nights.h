/**
 * nights.h - the off-peak schedule: cells of large suites that no push measures. Each job measures one shard of the upstream
 * branch against the commit at which the shard was last measured, in the configured hours and while no other job waits. Inside
 * the caller's transaction; loop only.
 */
#ifndef FLOPWATCHD_HISTORY_NIGHTS_H
#define FLOPWATCHD_HISTORY_NIGHTS_H

#include "db/db.h"
#include "flopwatchd/config/config.h"

/** True during the configured hours; `since_ms` is their start. Units: ms since 1970; for `idle` the last day. */
bool nights_is_now(const struct config *c, int64_t now_ms, int64_t *since_ms);

/**
 * Queue the due shard for each device class that no job waits for; `is_share`: only this night's share. Returns the number, -1.
 */
int nights_due(struct db *db, const struct config *c, const struct config_repo *repo, int64_t repo_id, bool is_share,
	int64_t now_ms, struct fw_err *err);

#endif
