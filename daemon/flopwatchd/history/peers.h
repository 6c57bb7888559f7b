/**
 * peers.h - comparisons of the upstream branch with its peers: jobs of kind peer, whose base is the target's own commit with
 * the peer's provider. Inside the caller's transaction; loop only.
 */
#ifndef FLOPWATCHD_HISTORY_PEERS_H
#define FLOPWATCHD_HISTORY_PEERS_H

#include "flopwatchd/config/config.h"
#include "db/job.h"

/**
 * Queue what is due: the newest measured upstream commit against each peer of the configuration, else of its base's manifest,
 * on each device that no job waits for, once for each module and environment. Returns the number, -1.
 */
int peerjobs_due(struct db *db, const struct config_repo *repo, int64_t repo_id, int64_t now_ms, struct fw_err *err);

/**
 * Queue `like` against each of `peers`. `like` holds repo, target_sha and optionally suite, device_kind, device_uuid, priority
 * and origin. Shape: jobs[peers->n]. 0, -1.
 */
int peerjobs_request(struct db *db, const struct store_job *like, const struct peers *peers, int64_t now_ms, int64_t *jobs,
	struct fw_err *err);

/** Rewrite the stored bodies of comparisons that a judged peer comparison affects. */
int peerjobs_report(struct db *db, int64_t comparison, struct fw_err *err);

#endif
