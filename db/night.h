/**
 * night.h - sharded suites: the measured shards. A shard's job has its number in `part`; shard 0 is the one of a push. Loop only;
 * reads only.
 */
#ifndef DB_NIGHT_H
#define DB_NIGHT_H

#include "model/shard.h"
#include "db/db.h"

/**
 * The newest whole comparison of a branch with a sharded suite on a class that has a device in state ok. Texts are valid inside
 * the callback.
 */
struct find_night_suite {
	int64_t suite, device_class;
	const char *name, *target_sha;
	struct suite_size size;
};
typedef void find_night_suite_fn(void *arg, const struct find_night_suite *row);
/** `branch` is percent-encoded. Benchmark programs have no shards. */
int find_night_suites(struct db *db, int64_t repo, const char *branch, find_night_suite_fn *each, void *arg, struct fw_err *err);

/** A shard that was measured, or has a job for the newest commit. */
struct find_night_part {
	int part;
	int64_t measured_at;    /* 0: never */
	const char *target_sha; /* of its last comparison; "" none */
	bool is_alert_update;   /* its last comparison found a change, or failed */
	bool is_requested;      /* a job exists for like->target_sha */
};
typedef void find_night_part_fn(void *arg, const struct find_night_part *row);
/** Shards of `like` in order, without comparisons from before the branch's pushes had another suite by that name. */
int find_night_parts(struct db *db, int64_t repo, const char *branch, const struct find_night_suite *like,
	find_night_part_fn *each, void *arg, struct fw_err *err);

#endif
