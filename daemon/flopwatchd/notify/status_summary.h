/**
 * status_summary.h - what the forge is told of a commit in sum: pending until all its suites have ended, then the worst of them.
 */
#ifndef FLOPWATCHD_NOTIFICATION_STATUS_SUMMARY_H
#define FLOPWATCHD_NOTIFICATION_STATUS_SUMMARY_H

#include <stdint.h>

#include "db/sqlite/db.h"

/** Nothing is owed of a commit of which no plan was made yet. `repo_name` as outbox rows name it. */
int status_summary_enqueue(
	struct db *db, int64_t repo, const char *repo_name, const char *sha, int64_t now_ms, struct fw_err *err);

#endif
