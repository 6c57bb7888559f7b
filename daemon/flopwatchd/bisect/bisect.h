/** bisect.h - find the commit that changed a cell. */
#ifndef FLOPWATCHD_BISECT_BISECT_H
#define FLOPWATCHD_BISECT_BISECT_H

#include <stdbool.h>

#include "db/db.h"
#include "flopwatchd/config/config.h"
#include "flopwatchd/job/job.h"
#include "lib/lib.h"
#include "model/model.h"
#include "verdict/verdict.h"

/*
 * ---- bisect ----
 * Bisects: a bisect lists the commits, requests one measurement at a time and names the culprits. Every bisect,
 * commit, job and comparison is a row, and each step is computed from the rows alone. So the daemon resumes after a crash and
 * requests no measurement twice. Bisect jobs run after all others but those that fill gaps in the history, and measure only the
 * regressed cells.
 */

/** priority of bisect jobs: below pushes (0), above jobs that fill gaps (-10) */
enum { BISECT_PRIORITY = -5, BISECT_JOBS_MAX = 64 };

struct bisects;

/** Start with the open bisects. `on_job(arg)`: a job was queued. Own: borrows all arguments. */
struct bisects *bisects_start(struct loop *l, const struct config *c, struct txn *txn, void (*on_job)(void *arg), void *arg);
/** Call it when a job may have ended or a bisect begun. */
void bisects_wake(struct bisects *b);
void bisects_stop(struct bisects *b);

/**
 * Start a bisect inside the verdict's transaction: comparison `c` of `r` has just opened alert `a` (kind regression or failing).
 */
int bisect_begin(struct db *db, const struct store_alert *a, const struct store_comparison *c, const struct result *r,
	int64_t now_ms, struct fw_err *err);

/*
 * ---- search ----
 * The choice of the next commit to measure, and of the culprits, from the measurements so far. Pure. Commits are numbered along
 * first parents, 0 the good end, n the bad one. Each commit is measured against the good end, so each cell has a curve of log
 * time ratios m[0] = 0 .. m[n]. Every measurement with a mean and a standard error counts, whatever its verdict, weighted by its
 * error. If the probability of a regression above half the threshold between two measured neighbours is high enough, the stretch
 * is divided at its middle, or at the nearest commit that can be measured; several culprits show as several stretches. The two
 * ends of an indivisible stretch are compared directly, again if that is inconclusive. A commit is named if these comparisons
 * show a regression above half the threshold with a probability above BISECT_NAMED and the curve agrees, so a single outlier
 * names no commit. A regression without a culprit (many small steps, or too much noise) is reported as the shortest range that
 * contains nearly all of it.
 */

enum { BISECT_COMMITS_MAX = 257, BISECT_CELLS_MAX = 64, BISECT_FINDINGS_MAX = 64, BISECT_DIRECT_MAX = 128 };

#define BISECT_NAMED 0.999 /* probability above which a commit is named */

enum bisect_point_state { BISECT_UNKNOWN, BISECT_KNOWN, BISECT_SKIPPED };

/** All measurements of one pair of commits. */
struct bisect_evidence {
	int n;
	double m, se;          /* log time ratio, and its standard error */
	double weight, spread; /* sum of 1 / se^2; sum of squared distances from the mean in standard errors */
};

struct bisect_point {
	enum bisect_point_state state;
	double m; /* log time ratio to commit 0 */
	struct bisect_evidence e;
};

/** Direct comparisons of two commits. */
struct bisect_direct {
	int from, to;
	struct bisect_evidence e;
	int jobs;           /* ended jobs of the bisect that compared them */
	int64_t comparison; /* the latest one, 0: none */
};

struct bisect_track {
	char key[CASE_KEY_SIZE];
	double threshold; /* smallest m that counts as a regression, > 0 */
	struct bisect_point point[BISECT_COMMITS_MAX];
	int n_direct;
	struct bisect_direct direct[BISECT_DIRECT_MAX];
};

struct bisect_search {
	int n;        /* number of the bad end */
	bool certain; /* m is 0 or 1 (passed or failed): without noise, no confirmation is needed */
	int n_tracks;
	struct bisect_track track[BISECT_CELLS_MAX];
};

/** A culprit: the regression came after `from`, with `to` at the latest. */
struct bisect_finding {
	int from, to;
	bool confirmed; /* measured directly; false: inferred from neighbours */
	int n_tracks;
	int track[BISECT_CELLS_MAX];
	double m;           /* largest m of a track here */
	double probability; /* that the regression exceeds half the threshold; NAN: a range, or nothing measured */
	double change_pct;  /* m as change of throughput */
	int64_t comparison; /* of `from` and `to`, 0 none */
};

/**
 * Add a measurement of a commit against commit 0. False, and the point is unchanged, if `m` or `se` is not finite, or the
 * measurement failed or was rejected.
 */
bool bisect_timed_point(struct bisect_point *p, enum verdict v, double m, double se);
/** The point of a cell in a bisect for a failure: m is 1 if the cell failed. */
struct bisect_point bisect_failed_point(enum verdict v);
/** Add a direct comparison of two commits, with its measurement if it has one. */
void bisect_direct_put(struct bisect_track *t, int from, int to, enum verdict v, double m, double se, int64_t comparison);
/** Count an ended job of the bisect for these two commits, with or without a measurement. */
void bisect_job_ended(struct bisect_track *t, int from, int to);

/** Choose the next pair to measure. False: the bisect is complete. Shape: *base < *target. */
bool bisect_next(const struct bisect_search *s, int *base, int *target);
/** True if the track needs that measurement. */
bool bisect_wants(const struct bisect_track *t, int n, int base, int target);
/** List culprits in order of commits; tracks with the same stretch share one. Shape: out[BISECT_FINDINGS_MAX]. */
int bisect_findings(const struct bisect_search *s, struct bisect_finding *out);

/* ---- report: Findings of a bisect as text, and as JSON for alerts and bisects. ---- */

/**
 * Append the array of culprits: {"from","to","commits","skipped","subject","author","confirmed","change_pct","probability",
 * "comparison","cells"}. `commits` is 1 if one commit is named, `to`; `skipped` counts the commits between that could not be
 * measured.
 */
int bisect_report_json(struct db *db, const struct store_bisect *b, const struct bisect_search *s,
	const struct bisect_finding *findings, int n, struct buf *out, struct fw_err *err);

/**
 * Write one line: "89abcdef0123 subject (-3.1 %), named with probability 0.9995; between 0123.. and 4567.. (3 commits, 2 of
 * them not measured)". Shape: out[size].
 */
int bisect_report_line(struct db *db, const struct store_bisect *b, const struct bisect_search *s,
	const struct bisect_finding *findings, int n, char *out, size_t size, struct fw_err *err);

/**
 * Append the culprit of a comparison whose base is the target's first parent, which needs no bisect. `cells_json`: the cells of
 * its alert. 1 appended, 0 a bisect is needed, -1.
 */
int bisect_report_only(struct db *db, const struct store_comparison *c, double worst_pct, const char *cells_json, struct buf *out,
	struct fw_err *err);

/**
 * Append one culprit from the history: the slowdown of `cell` (change_pct of throughput) came after `from_sha`, within `commits`
 * commits up to `to_sha`, `skipped` of which were not measured. `comparison`: of these two, 0 none.
 */
int bisect_report_range(struct db *db, int64_t repo, const char *from_sha, const char *to_sha, int commits, int skipped,
	double change_pct, int64_t comparison, const char *cell, struct buf *out, struct fw_err *err);

#endif
