/** metrics.h - statistics of the whole database for monitoring. Loop only; no call needs a transaction. */
#ifndef DB_METRICS_H
#define DB_METRICS_H

#include "db/db.h"

enum { VIEW_DURATION_BUCKETS = 10 };
/** Upper bounds of the buckets. Units: s. */
extern const int view_duration_bound_s[VIEW_DURATION_BUCKETS];

struct view_durations {
	int64_t n;
	double sum_s;
	int64_t below[VIEW_DURATION_BUCKETS]; /* jobs that took at most bound i, cumulative */
};
/** Durations of done and failed jobs from start to end. */
int view_durations(struct db *db, struct view_durations *out, struct fw_err *err);

typedef void view_fetch_fn(void *arg, const char *repo, int64_t failures, int64_t fetched_at);
/** Configured repositories by name, with failed fetches and the time of the last successful one (0 never). */
int view_fetches(struct db *db, view_fetch_fn *each, void *arg, struct fw_err *err);

/** Size of the database file without its WAL. Units: bytes. */
int view_size(struct db *db, int64_t *bytes, struct fw_err *err);

#endif
