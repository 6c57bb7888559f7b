/**
 * night.h - suites that are too large for a push: what of them was measured, part by part. A part's job has its number in `part`; part 0 is the
 * push's. Loop only; reads alone.
 */
#ifndef DB_FIND_NIGHT_H
#define DB_FIND_NIGHT_H

#include "core/suite/shard.h"
#include "db/sqlite/db.h"

/** The newest whole comparison of a branch with one such suite on one class of devices, one of which can run. Texts are valid inside the callback. */
struct find_night_suite {
	int64_t suite, device_class;
	const char *name, *target_sha;
	struct suite_size size;
};
typedef void find_night_suite_fn(void *arg, const struct find_night_suite *row);
/** `branch` is percent-encoded. Programs of their own have no parts. */
int find_night_suites(struct db *db, int64_t repo, const char *branch, find_night_suite_fn *each, void *arg, struct fw_err *err);

/** A part that was measured, or asked for with the newest commit. */
struct find_night_part {
	int part;
	int64_t measured_at;    /* 0: never */
	const char *target_sha; /* of its last comparison; "" none */
	bool is_alert_update;   /* which found a change, or failed */
	bool is_asked;          /* with `target_sha` of the question */
};
typedef void find_night_part_fn(void *arg, const struct find_night_part *row);
/** Of `like`, in the order of parts; what was measured before the branch's pushes had another suite by that name does not count. */
int find_night_parts(struct db *db, int64_t repo, const char *branch, const struct find_night_suite *like,
	find_night_part_fn *each, void *arg, struct fw_err *err);

#endif
