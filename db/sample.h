/** sample.h - runs of a job with every timed call, written once and read to judge again. */
#ifndef DB_SAMPLE_H
#define DB_SAMPLE_H

#include "protocol/protocol.h"
#include "stats/stats.h"
#include "verdict/mean.h"
#include "db/db.h"

int store_run_insert(struct db *db, int64_t comparison, int n, int set, uint64_t seed, int64_t *id, struct fw_err *err);
/** Insert one row per side of `m`. The run's estimate `e` (NULL: none) is stored in the row of ROLE_TARGET. */
int store_samples_insert(struct db *db, int64_t process_run, int64_t cell, const struct msg_cell *m, const struct run_estimate *e,
	struct fw_err *err);
/** A stored cell's runs of one series, in order. */
struct store_runs {
	int n;
	bool raw; /* times exist, in the database or the archive; false: only the estimates do */
	struct run_estimate estimate[STATS_RUNS_MAX];
	struct run_pairs pairs[STATS_RUNS_MAX]; /* point into `values` */
	int64_t process_run[STATS_RUNS_MAX];    /* rows, for store_sample_estimate */
	struct msg_device_check
		device_check[STATS_RUNS_MAX];  /* fields that reject a run, power and temperature; the others are unknown */
	struct run_pairs host[STATS_RUNS_MAX]; /* enqueue times of the host in us instead of ms; NULL unknown */
	struct buf values;
};
/** Err: ERR_INVALID inconsistent rows; as archive_read. Own: buf_fini(&out->values) in any case. */
int store_cell_runs(struct db *db, int64_t cell, enum series series, struct store_runs *out, struct fw_err *err);
/** Replace the estimate of a stored run for a cell in one series. */
int store_sample_estimate(
	struct db *db, int64_t cell, int64_t process_run, enum series series, const struct run_estimate *e, struct fw_err *err);

/** Store the slow calls of a cell, which outlive its samples. A set without calls is not written. Shape: tail[MEAN_SETS]. */
int store_slow_calls_put(struct db *db, int64_t cell, const struct tail *tail, struct fw_err *err);
/** Read the slow calls of a cell; zeros where none are stored. Shape: tail[MEAN_SETS]. */
int store_slow_calls_get(struct db *db, int64_t cell, struct tail *tail, struct fw_err *err);

#endif
