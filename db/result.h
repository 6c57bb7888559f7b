/**
 * result.h - results of a job: builds, comparison, cells, metrics, artifacts; runs and samples are in sample.h.
 *
 * All calls: loop only; inside the caller's transaction. Facts are written once; only verdicts are updated, by judging the stored samples
 * again.
 */
#ifndef DB_RESULT_H
#define DB_RESULT_H

#include "verdict/mean.h"
#include "protocol/protocol.h"
#include "verdict/verdict.h"
#include "db/db.h"

struct store_comparison {
	int64_t id, job, repo, base_build, target_build, suite, environment, device; /* 0: none; device: the first of several */
	enum jobkind kind;
	char branch[1024], base_sha[65], base_how[16], target_sha[65], identical_by[8];
	bool rows_unknown; /* no run of the benchmark program's target wrote all rows; one cell may replace them */
	const char *rule_json;
	enum verdict verdict;
	double gpu_s, wall_s;
	int64_t finished_at;
};

/** The change of the mean call, where slow calls became more, or less, frequent. */
struct store_mean {
	double m, se;    /* log ratio, and its standard error */
	double share[2]; /* share of slow calls; by enum tail_which */
	double longer;   /* of mean_longer; 0: no change, and the other fields are unknown */
};

enum { STORE_SHAPE_SIZE = 2560 };

struct store_cell {
	int64_t id, comparison, device,
		confirmed_on; /* device: on insert 0 is the comparison's; confirmed_on: 0 the same, or no confirming set */
	int n;
	char key[160], input_sha[65];
	char group[16], title[48], line[48], direction[16], baseline[160]; /* as in struct cell */
	char shape[STORE_SHAPE_SIZE];                                      /* canonical JSON; "" of a foreign benchmark */
	int64_t size;
	double pieces;
	double flops, bytes, threshold_pct; /* flops, bytes: useful work of a call, for throughput; NAN: not shown */
	double m, m_raw, se, beta;          /* NAN: none */
	double m_code, se_clock;            /* m at equal clocks, and the standard error of m - m_code; NAN: none */
	struct store_mean mean;
	enum decider decider;
	double decided_m, decided_se, decided_pct; /* m, se and change_pct that the verdict is based on; NAN: none */
	int runs, samples;
	double base_median_ms, target_median_ms, change_pct, ci_low_pct, ci_high_pct, mde_pct; /* NAN: none */
	enum verdict verdict;
	char failure[16];
	char reason[512];
	char history_branch[1024]; /* branch of its history; "": the comparison's */
	int64_t baseline_period;   /* 0: none */
	double held_ms;            /* target's median at the baseline period's clock; NAN: unknown */
	double reference_change_pct, reference_ci_low_pct,
		reference_ci_high_pct; /* throughput relative to the reference commit; NAN: none */
	double tau0, nu0;              /* calibrated, as in struct cell; NAN: the rule's */
	double underpowered_pct;       /* smallest detectable slowdown, where it exceeds the threshold; 0: it does not */
	int flags;                     /* bits of verdict/flag.h */
	enum series series;            /* series that decides */
};

/** Insert a build that ended ok, cached or failed; a cached one that is stored already is found by its inputs and module. Sets *id. */
int store_build_put(struct db *db, const char *inputs_hash, enum device_kind kind, const struct msg_build *b, int64_t now_ms,
	int64_t *id, struct fw_err *err);
/** Append the log of the newest equal build with a log. 1, 0 none, -1. */
int store_build_log(struct db *db, const char *inputs_hash, enum device_kind kind, const struct msg_build *b, struct buf *log,
	struct fw_err *err);
/** Sets c->id. Err: the job has a comparison already. */
int store_comparison_insert(struct db *db, struct store_comparison *c, struct fw_err *err);
int store_comparison_body(struct db *db, int64_t id, const void *body, size_t len, const char *etag, struct fw_err *err);
/** Set the verdict, the counts of cells and regressions, and the worst cell. */
int store_comparison_verdict(struct db *db, int64_t id, enum verdict v, struct fw_err *err);
/** Read a comparison; appends its rule to `rule`, into which out->rule_json points. ERR_NOT_FOUND. */
int store_comparison_get(struct db *db, int64_t id, struct store_comparison *out, struct buf *rule, struct fw_err *err);

/** Sets c->id; repository, branch, target, device and time are copied from the comparison's row. */
int store_cell_insert(struct db *db, struct store_cell *c, struct fw_err *err);
/** Update the columns that judging writes (CELL_FOUND, verdict). */
int store_cell_verdict(struct db *db, const struct store_cell *c, struct fw_err *err);
/** The cell of `comparison` with the smallest n above `after_n` (-1: the first). 1, 0, -1. */
int store_cell_next(struct db *db, int64_t comparison, int after_n, struct store_cell *out, struct fw_err *err);

/** Set a number of a cell; not finite: nothing is stored. */
int store_metric(struct db *db, int64_t cell, const char *name, const char *unit, double value, struct fw_err *err);
/** Insert or replace text or bytes of an owner. owner_kind: cell comparison device. */
int store_artifact(struct db *db, const char *owner_kind, int64_t owner, const char *kind, const void *bytes, size_t len,
	struct fw_err *err);

#endif
