/**
 * result.h - what a finished job leaves: builds, comparison, cells, metrics, artifacts; its runs and samples are in sample.h.
 *
 * All calls: loop only; inside the caller's one transaction. Facts are written once; only verdicts are updated, by judging the
 * stored samples again.
 */
#ifndef DB_STORE_RESULT_H
#define DB_STORE_RESULT_H

#include "core/verdict/mean.h"
#include "core/protocol/protocol.h"
#include "core/verdict/verdict.h"
#include "db/sqlite/db.h"

struct store_comparison {
	int64_t id, job, repo, base_build, target_build, suite, environment, device; /* 0: none; device: the first of several */
	enum jobkind kind;
	char branch[1024], base_sha[65], base_how[16], target_sha[65], identical_by[8];
	bool rows_unknown; /* of a program: no run of the target wrote all of its rows; the one cell may stand for them */
	const char *rule_json;
	enum verdict verdict;
	double gpu_s, wall_s;
	int64_t finished_at;
};

/** The change of the mean call, where slow calls became more, or less, frequent. */
struct store_mean {
	double m, se;    /* log ratio, and its standard error */
	double share[2]; /* of calls that are slow; by enum tail_which */
	double longer;   /* as mean_longer says; 0: there is nothing to say, and the rest is not known */
};

enum { STORE_SHAPE_SIZE = 2560 };

struct store_cell {
	int64_t id, comparison, device,
		confirmed_on; /* device: 0 that of its comparison, until it is stored; confirmed_on: 0 the same, or none */
	int n;
	char key[160], input_sha[65];
	char group[16], title[48], line[48], direction[16], baseline[160]; /* as in struct cell */
	char shape[STORE_SHAPE_SIZE];                                      /* canonical JSON; "" of a foreign benchmark */
	int64_t size;
	double pieces;
	double flops, bytes,
		threshold_pct;     /* useful ones of a call, by which it is shown to be fast; NAN where it is not by those */
	double m, m_raw, se, beta; /* NAN: none */
	double m_code, se_clock;   /* m at equal clocks, and the standard error of the rest; NAN: none */
	struct store_mean mean;
	enum decider decider;
	double decided_m, decided_se, decided_pct; /* m, se and change_pct of what decided; NAN: none */
	int runs, samples;
	double base_median_ms, target_median_ms, change_pct, ci_low_pct, ci_high_pct, mde_pct; /* NAN: none */
	enum verdict verdict;
	char failure[16];
	char reason[512];
	char history_branch[1024]; /* branch whose history it belongs to; "": the comparison's */
	int64_t baseline_period;   /* 0: none */
	double held_ms;            /* target's median at the baseline period's clock; NAN: no clock is known */
	double reference_change_pct, reference_ci_low_pct,
		reference_ci_high_pct; /* throughput against the reference commit's; NAN: none */
	double tau0, nu0;              /* learned, as in struct cell; NAN: the rule's */
	double underpowered_pct;       /* cannot see its threshold, only losses above this; 0: sees */
	int flags;                     /* bits of core/verdict/flag.h */
	enum series series;            /* that decides */
};

/** A build that said ok, cached or failed; a cached one that is stored already is found again by its inputs and module. */
int store_build_put(struct db *db, const char *inputs_hash, enum device_kind kind, const struct msg_build *b, int64_t now_ms,
	int64_t *id, struct fw_err *err);
/** Append what an equal build printed, the newest that printed anything. 1, 0 none is stored, -1. */
int store_build_log(struct db *db, const char *inputs_hash, enum device_kind kind, const struct msg_build *b, struct buf *log,
	struct fw_err *err);
/** Sets c->id. Err: a second comparison of one job does not fit in. */
int store_comparison_insert(struct db *db, struct store_comparison *c, struct fw_err *err);
int store_comparison_body(struct db *db, int64_t id, const void *body, size_t len, const char *etag, struct fw_err *err);
/** Set the verdict, and count the comparison's cells: how many, how many regressions, the worst. */
int store_comparison_verdict(struct db *db, int64_t id, enum verdict v, struct fw_err *err);
/** As inserted, with `rule` appended (out->rule_json points into it). ERR_NOT_FOUND. */
int store_comparison_get(struct db *db, int64_t id, struct store_comparison *out, struct buf *rule, struct fw_err *err);

/** Sets c->id; repository, branch, target, device and time are copied from the comparison's row. */
int store_cell_insert(struct db *db, struct store_cell *c, struct fw_err *err);
/** Store what judging found: everything from `m` on. */
int store_cell_verdict(struct db *db, const struct store_cell *c, struct fw_err *err);
/** The cell of `comparison` with the smallest n above `after_n` (-1: the first). 1, 0, -1. */
int store_cell_next(struct db *db, int64_t comparison, int after_n, struct store_cell *out, struct fw_err *err);

/** Set a number of a cell; not finite: nothing is stored. */
int store_metric(struct db *db, int64_t cell, const char *name, const char *unit, double value, struct fw_err *err);
/** Text or bytes of a thing. owner_kind: cell comparison device. */
int store_artifact(struct db *db, const char *owner_kind, int64_t owner, const char *kind, const void *bytes, size_t len,
	struct fw_err *err);

#endif
