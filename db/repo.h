/**
 * repo.h - repositories, branch tips, commits, suites, devices, environments. All calls: loop only; writes inside the caller's
 * transaction.
 */
#ifndef DB_REPO_H
#define DB_REPO_H

#include "model/shard.h"
#include "protocol/protocol.h"
#include "model/devicestate.h"
#include "db/db.h"

struct store_commit {
	char sha[65], tree[65], first_parent[65];
	char author[256], subject[512]; /* UTF-8; invalid bytes already U+FFFD */
	int64_t committed_at;
};

/** Insert or update a configured repository, and set *id. */
int store_repo_put(
	struct db *db, const char *name, const char *url, bool is_local, const char *upstream, int64_t *id, struct fw_err *err);
/** Id of a repository by name. 1, 0 none, -1. */
int store_repo_find(struct db *db, const char *name, int64_t *id, struct fw_err *err);
/** Set state gone for repositories that are not in ids[n]. */
int store_repo_retire(struct db *db, const int64_t *ids, int n, struct fw_err *err);
/** Set state "ok" or "error" with its text. An unchanged state writes nothing. */
int store_repo_state(struct db *db, int64_t repo, const char *state, const char *error, struct fw_err *err);
/** Set the time of the last successful fetch. */
int store_repo_fetched(struct db *db, int64_t repo, int64_t now_ms, struct fw_err *err);
/** Count a failed fetch. */
int store_repo_failed(struct db *db, int64_t repo, struct fw_err *err);

/** Stored tip of a branch. ERR_NOT_FOUND when it was never seen. Shape: sha[65]. */
int store_tip_get(struct db *db, int64_t repo, const char *name, char *sha, bool *gone, struct fw_err *err);
int store_tip_put(struct db *db, int64_t repo, const char *name, const char *display, const char *sha, bool watched,
	int64_t now_ms, struct fw_err *err);
/** Set whether the current configuration watches a stored branch. */
int store_tip_watch(struct db *db, int64_t repo, const char *name, bool watched, struct fw_err *err);
int store_tip_gone(struct db *db, int64_t repo, const char *name, struct fw_err *err);
/** Call `each` with every stored branch that is not gone. */
int store_tip_each(
	struct db *db, int64_t repo, void (*each)(void *arg, const char *name, const char *sha), void *arg, struct fw_err *err);

int store_commit_put(struct db *db, int64_t repo, const struct store_commit *c, struct fw_err *err);
/** ERR_NOT_FOUND when unknown. */
int store_commit_get(struct db *db, int64_t repo, const char *sha, struct store_commit *out, struct fw_err *err);

int store_suite_put(struct db *db, const char *sha, const char *name, const char *text, size_t len, const char *origin,
	int64_t *id, struct fw_err *err);
/** Store the size of a sharded suite. */
int store_suite_size(struct db *db, int64_t suite, const struct suite_size *p, struct fw_err *err);

/** Insert or update; of the states only absent changes, to ok. */
int store_device_put(struct db *db, const struct msg_device *d, int64_t now_ms, int64_t *id, struct fw_err *err);
/** Set worker and machine of a device; `on_call`: the worker has it only during an allocation of a scheduler. */
int store_device_through(struct db *db, int64_t device, const char *worker, const char *host, bool on_call, struct fw_err *err);
/** The machine of a device of this worker that is in state health_check. 1, 0 none, -1. Shape: host[64]. */
int store_device_health_check_host(struct db *db, const char *worker, char host[64], struct fw_err *err);
/** Store the folders of modules that a device's worker reported. */
int store_device_location(struct db *db, int64_t device, const struct msg_location *location, struct fw_err *err);
int store_device_state(
	struct db *db, int64_t device, enum devicestate state, const char *why, int64_t now_ms, struct fw_err *err);
/** Row and state of a device by uuid. ERR_NOT_FOUND. */
int store_device_get(struct db *db, const char *uuid, int64_t *id, enum devicestate *state, struct fw_err *err);
/** Uuid of a device; "" no such device. Shape: uuid[64]. */
int store_device_uuid(struct db *db, int64_t device, char *uuid, struct fw_err *err);
/** The environment of a device and suite, inserted where it is new (sets `is_new`). */
int store_environment_put(struct db *db, const struct msg_device *d, const char *suite_sha, const char *timing,
	const char *isolation, int64_t now_ms, int64_t *id, bool *is_new, struct fw_err *err);

/** Upstream branch of a repository as in the configuration. ERR_NOT_FOUND. */
int store_repo_upstream(struct db *db, int64_t repo, char *upstream, size_t size, struct fw_err *err);
/** Upstream branch, percent-encoded as in jobs; "" no such repository. Shape: branch[1024]. */
int store_repo_upstream_branch(struct db *db, int64_t repo, char *branch, struct fw_err *err);

#endif
