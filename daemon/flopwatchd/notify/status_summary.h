/** status_summary.h - the summary status of a commit: pending until all its suites have ended, then the worst of them. */
#ifndef FLOPWATCHD_NOTIFICATION_STATUS_SUMMARY_H
#define FLOPWATCHD_NOTIFICATION_STATUS_SUMMARY_H

#include <stdint.h>

#include "db/db.h"

/** Queue the summary; no effect before the commit has a plan. `repo_name` as in outbox rows. */
int status_summary_enqueue(
	struct db *db, int64_t repo, const char *repo_name, const char *sha, int64_t now_ms, struct fw_err *err);

#endif
