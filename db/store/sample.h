/** sample.h - runs of a finished job and every timed call, and reading them back to judge again. */
#ifndef DB_STORE_SAMPLE_H
#define DB_STORE_SAMPLE_H

#include "core/protocol/protocol.h"
#include "core/stats/stats.h"
#include "core/verdict/mean.h"
#include "db/sqlite/db.h"

int store_run_insert(struct db *db, int64_t comparison, int n, int set, uint64_t seed, int64_t *id, struct fw_err *err);
/** One row per subject of `m`. The run's estimate `e` (NULL: none) stands on the row of ROLE_TARGET. */
int store_samples_insert(struct db *db, int64_t process_run, int64_t cell, const struct msg_cell *m, const struct run_estimate *e,
	struct fw_err *err);
/** A stored cell's runs of one series, in their order: to judge again. */
struct store_runs {
	int n;
	bool raw; /* pairs are there, from the database or the archive; false: gone, only the estimates are */
	struct run_estimate estimate[STATS_RUNS_MAX];
	struct run_pairs pairs[STATS_RUNS_MAX]; /* point into `values` */
	int64_t process_run[STATS_RUNS_MAX];    /* rows, for store_sample_estimate */
	struct msg_device_check device_check
		[STATS_RUNS_MAX]; /* what decides whether a run is believed, power and temperature; the rest is unknown */
	struct run_pairs host[STATS_RUNS_MAX]; /* the host's time of enqueue in us in place of ms; NULL where unknown */
	struct buf values;
};
/** Err: ERR_INVALID rows that do not fit together; as archive_read. Own: buf_fini(&out->values) in any case. */
int store_cell_runs(struct db *db, int64_t cell, enum series series, struct store_runs *out, struct fw_err *err);
/** Write anew what a stored run says of a cell in one series. */
int store_sample_estimate(
	struct db *db, int64_t cell, int64_t process_run, enum series series, const struct run_estimate *e, struct fw_err *err);

/** What was counted of a cell's slow calls, which outlives its samples. A set without calls is left as it is. Shape: tail[MEAN_SETS]. */
int store_slow_calls_put(struct db *db, int64_t cell, const struct tail *tail, struct fw_err *err);
/** As kept; zeros where nothing was. Shape: tail[MEAN_SETS]. */
int store_slow_calls_get(struct db *db, int64_t cell, struct tail *tail, struct fw_err *err);

#endif
