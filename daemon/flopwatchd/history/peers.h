/**
 * peers.h - the upstream branch beside its peers: jobs of kind peer, whose base is the target's own commit by the provider
 * that is a yardstick. Inside the caller's transaction; loop only.
 */
#ifndef FLOPWATCHD_HISTORY_PEERS_H
#define FLOPWATCHD_HISTORY_PEERS_H

#include "flopwatchd/runtime/config.h"
#include "db/store/job.h"

/**
 * Queue what is due: the newest measured commit of the upstream branch, on each device that nothing waits for, beside each peer of the configuration, else
 * of its base's manifest, once a module and environment. The count, -1.
 */
int peerjobs_due(struct db *db, const struct config_repo *repo, int64_t repo_id, int64_t now_ms, struct fw_err *err);

/**
 * Queue `like`, which holds repo, target_sha and, as wanted, suite, device_kind, device_uuid, priority and origin, beside each of
 * `peers`. Shape: jobs[peers->n]. 0, -1.
 */
int peerjobs_ask(struct db *db, const struct store_job *like, const struct peers *peers, int64_t now_ms, int64_t *jobs,
	struct fw_err *err);

/** Bodies of comparisons that a judged comparison against a peer says something about are written anew. */
int peerjobs_tell(struct db *db, int64_t comparison, struct fw_err *err);

#endif
