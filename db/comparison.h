/**
 * comparison.h - views for API and pages: rows as structs, passed to a callback one by one. Views of final rows are here; those of changing
 * rows (jobs, alerts, devices, events) are in live.h.
 *
 * Texts in a row are valid inside the callback only. A callback must not start the same view again (other views are fine).
 * Lists come newest first; `before` is the last id the reader has (0: from the newest) and `limit` at most VIEW_ROWS_MAX.
 * Absent numbers are NAN, absent times and ids 0, absent texts "". Loop only; no call needs a transaction.
 */
#ifndef DB_COMPARISON_H
#define DB_COMPARISON_H

#include <math.h>

#include "verdict/verdict.h"
#include "db/db.h"
#include "db/live.h"

/** Useful FLOPs in a time. Units: TFLOP/s; NAN when either is unknown. */
static inline double view_tflops(double flops, double ms)
{
	return ms > 0 && flops > 0 ? flops / ms * 1e-9 : NAN;
}

/* ---- repositories, commits --------------------------------------------------------------------------------- */

struct view_repo {
	int64_t id;
	const char *name, *url, *upstream, *state, *error;
	bool is_local;
	int64_t fetched_at;
	int branches, open_alerts; /* branches that are watched and not gone; alerts open or acknowledged */
};
typedef void view_repo_fn(void *arg, const struct view_repo *row);
/** By name. */
int view_repos(struct db *db, view_repo_fn *each, void *arg, struct fw_err *err);
/** Id of a repository by name. ERR_NOT_FOUND. */
int view_repo_id(struct db *db, const char *name, int64_t *id, struct fw_err *err);

struct view_commit {
	int64_t repo_id;
	const char *repo, *sha, *tree, *first_parent, *author, *subject;
	int64_t committed_at;
};
typedef void view_commit_fn(void *arg, const struct view_commit *row);
/** Commits of all repositories whose sha begins with `prefix` (lower-case hex; else none); at most `limit`. */
int view_commits(struct db *db, const char *prefix, int limit, view_commit_fn *each, void *arg, struct fw_err *err);

/* ---- comparisons ------------------------------------------------------------------------------------------------------ */

struct view_comparison {
	int64_t id, job;
	enum jobkind kind;
	enum verdict verdict;
	const char *repo, *branch, *suite, *base, *base_how, *target, *subject, *author; /* both of the target */
	const char *identical_by, *device, *etag;
	int cells, regressions, runs;
	double worst_pct; /* lowest change of a timed cell */
	const char *worst_cell;
	double best_pct; /* highest change, where the verdict is improvement; else NAN */
	const char *best_cell;
	double gpu_s, wall_s;
	int64_t finished_at;
};
typedef void view_comparison_fn(void *arg, const struct view_comparison *row);

/** Which rows; NULL or "" takes any. A branch needs its repo. `target` is a whole sha and needs its repo. */
struct view_filter {
	const char *repo, *branch, *verdict, *target;
	bool has_regressions; /* any cell is a regression, whatever the verdict; not together with verdict or target */
	int64_t before;
	int limit;
};
/** ERR_INVALID for a combination that is not offered. An unknown repo gives no rows. */
int view_comparisons(struct db *db, const struct view_filter *f, view_comparison_fn *each, void *arg, struct fw_err *err);
/** One row. ERR_NOT_FOUND. */
int view_comparison(struct db *db, int64_t id, view_comparison_fn *each, void *arg, struct fw_err *err);
/** The stored body and its ETag. Shape: etag[65]. ERR_NOT_FOUND. */
int view_body(struct db *db, int64_t id, struct buf *body, char *etag, struct fw_err *err);
/** ETag and length of the body, without reading it. Shape: etag[65]. Units: *len in bytes. ERR_NOT_FOUND. */
int view_body_tag(struct db *db, int64_t id, size_t *len, char *etag, struct fw_err *err);
/**
 * Latest comparison of two commits (whole shas) with a suite, not of kind peer, config or environment. `suite` NULL or "": the
 * latest of each suite, of these the one with the worst verdict. ERR_NOT_FOUND.
 */
int view_compare(struct db *db, const char *repo, const char *base, const char *target, const char *suite, int64_t *id,
	struct fw_err *err);

struct view_cell {
	int64_t id, device, confirmed_on; /* device: 0 not timed; confirmed_on: another device of its confirming set, 0 none */
	int n;
	enum verdict verdict;
	const char *key, *group, *title, *line, *baseline, *shape, *direction, *input_sha, *failure, *reason;
	int64_t size;
	double pieces, flops, bytes, threshold_pct, m, m_raw, se, beta, m_code, se_clock;
	int runs, samples;
	double base_median_ms, target_median_ms, base_tflops, target_tflops, change_pct, ci_low_pct, ci_high_pct, mde_pct;
	int flags;          /* bits of verdict/flag.h */
	const char *series; /* series that decides */
	enum decider decided_by;
	double decided_m;        /* log time ratio that the verdict is based on */
	double tau0, nu0;        /* calibrated noise between runs, and its degrees of freedom; NAN: none */
	double underpowered_pct; /* smallest detectable slowdown, where it exceeds the threshold; 0: it does not */
	double mean_m, mean_se;  /* of the mean call, where slow calls became more or less frequent; else NAN */
	double slow_share[2], slow_longer;
};
typedef void view_cell_fn(void *arg, const struct view_cell *row);
/** Cells of a comparison in the order of the suite. */
int view_cells(struct db *db, int64_t comparison, view_cell_fn *each, void *arg, struct fw_err *err);

typedef void view_metric_fn(void *arg, const char *name, const char *unit, double value);
/** Metrics of a cell in the order of insertion. */
int view_metrics(struct db *db, int64_t cell, view_metric_fn *each, void *arg, struct fw_err *err);
/** Appends the bytes. ERR_NOT_FOUND. */
int view_artifact(struct db *db, const char *owner_kind, int64_t owner, const char *kind, struct buf *out, struct fw_err *err);

/** Append the folders of modules of a device's worker, as protocol_put_location writes them. ERR_NOT_FOUND: never reported. */
int view_position(struct db *db, const char *device_uuid, struct buf *out, struct fw_err *err);
/** The suite of a comparison, which never changes. 1, 0 no such comparison, -1. */
int view_suite(struct db *db, int64_t comparison, int64_t *suite, struct fw_err *err);
/** Append the text of a comparison's suite. ERR_NOT_FOUND. */
int view_suite_text(struct db *db, int64_t comparison, struct buf *out, struct fw_err *err);

struct view_environment {
	int64_t id, first_at;
	const char *hash, *uuid, *kind, *name, *driver, *toolkit, *cudnn, *timing, *isolation, *suite_sha;
	double power_limit_w, peak_gb_s; /* peak_gb_s: of the device's memory; NAN unknown */
};
typedef void view_environment_fn(void *arg, const struct view_environment *row);
/** Environment and device of a comparison. ERR_NOT_FOUND when nothing ran. */
int view_environment(struct db *db, int64_t comparison, view_environment_fn *each, void *arg, struct fw_err *err);

struct view_build {
	int64_t id;
	const char *inputs_hash, *toolchain, *device_kind, *module_sha, *state, *detail;
	int exit_status, exit_signal;
	int64_t duration_ms, built_at;
	const void *log;
	size_t log_len; /* bytes, not necessarily text */
};
typedef void view_build_fn(void *arg, const struct view_build *row);
/** Build of one side of a comparison, `side` "base" or "target". ERR_NOT_FOUND when that side was not built. */
int view_build(struct db *db, int64_t comparison, const char *side, view_build_fn *each, void *arg, struct fw_err *err);

#endif
