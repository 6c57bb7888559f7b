/** repo.h - repositories, branch tips, commits, suites, devices, environments. All calls: loop only; writes inside the caller's transaction. */
#ifndef DB_STORE_REPO_H
#define DB_STORE_REPO_H

#include "core/suite/shard.h"
#include "core/protocol/protocol.h"
#include "core/state/devicestate.h"
#include "db/sqlite/db.h"

struct store_commit {
	char sha[65], tree[65], first_parent[65];
	char author[256], subject[512]; /* UTF-8; invalid bytes already U+FFFD */
	int64_t committed_at;
};

/** Make or update a configured repository; its id. */
int store_repo_put(
	struct db *db, const char *name, const char *url, bool is_local, const char *upstream, int64_t *id, struct fw_err *err);
/** By its name: 1 and its id, 0 there is none, -1. */
int store_repo_find(struct db *db, const char *name, int64_t *id, struct fw_err *err);
/** Repositories not in ids[n] become state gone. */
int store_repo_retire(struct db *db, const int64_t *ids, int n, struct fw_err *err);
/** state "ok" or "error" with its text. An unchanged state writes nothing. */
int store_repo_state(struct db *db, int64_t repo, const char *state, const char *error, struct fw_err *err);
/** The repository was read just now without an error. */
int store_repo_fetched(struct db *db, int64_t repo, int64_t now_ms, struct fw_err *err);
/** It could not be read, once more. */
int store_repo_failed(struct db *db, int64_t repo, struct fw_err *err);

/** Stored tip of a branch. ERR_NOT_FOUND when it was never seen. Shape: sha[65]. */
int store_tip_get(struct db *db, int64_t repo, const char *name, char *sha, bool *gone, struct fw_err *err);
int store_tip_put(struct db *db, int64_t repo, const char *name, const char *display, const char *sha, bool watched,
	int64_t now_ms, struct fw_err *err);
/** Whether the configuration, as it is now, names a stored branch. */
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
/** Keep how large a stored suite is that is measured in parts. */
int store_suite_size(struct db *db, int64_t suite, const struct suite_size *p, struct fw_err *err);

/** Insert or refresh (keeps state paused and quarantined). */
int store_device_put(struct db *db, const struct msg_device *d, int64_t now_ms, int64_t *id, struct fw_err *err);
/** By which worker, and in which machine, it was last seen; `on_call`: the worker has it only while a scheduler gives it. */
int store_device_through(struct db *db, int64_t device, const char *worker, const char *host, bool on_call, struct fw_err *err);
/** The machine of a device of this worker that is to be tried. 1, 0 there is none, -1. Shape: host[64]. */
int store_device_health_check_host(struct db *db, const char *worker, char host[64], struct fw_err *err);
/** Keep where its worker has what it built. */
int store_device_place(struct db *db, int64_t device, const struct msg_place *place, struct fw_err *err);
int store_device_state(
	struct db *db, int64_t device, enum devicestate state, const char *why, int64_t now_ms, struct fw_err *err);
/** Row and state of a device by uuid. ERR_NOT_FOUND. */
int store_device_get(struct db *db, const char *uuid, int64_t *id, enum devicestate *state, struct fw_err *err);
/** How a device is called; "" there is none such. Shape: uuid[64]. */
int store_device_uuid(struct db *db, int64_t device, char *uuid, struct fw_err *err);
/** The row, made when new (`is_new` set): of the device's class, and all that else has to stay equal. */
int store_environment_put(struct db *db, const struct msg_device *d, const char *suite_sha, const char *timing,
	const char *isolation, int64_t now_ms, int64_t *id, bool *is_new, struct fw_err *err);

/** Upstream branch of a repository as the configuration writes it. ERR_NOT_FOUND. */
int store_repo_upstream(struct db *db, int64_t repo, char *upstream, size_t size, struct fw_err *err);
/** The same as jobs name it; "" there is no such repository. Shape: branch[1024]. */
int store_repo_upstream_branch(struct db *db, int64_t repo, char *branch, struct fw_err *err);

#endif
