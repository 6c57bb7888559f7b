/**
 * search.h - which commit to measure next, and which ones are to blame, from what was measured so far. Pure.
 *
 * Commits are numbered along first parents, 0 the good end, n the bad one. Every commit is measured against the good end, so
 * each cell has a curve of log time ratios m[0] = 0 .. m[n]. Every measurement counts that has a mean and a standard error, whatever
 * its verdict, and the less the larger its error. A stretch between two measured neighbours with a probability of a loss above half
 * the threshold is divided at its middle, or as near to it as a commit can be measured; several culprits show as several stretches.
 * A stretch that cannot be divided is measured directly, its two ends beside each other, again where that leaves it open, and named
 * where these comparisons show a loss above half the threshold with a probability above BISECT_NAMED and the curve agrees. So one
 * measurement alone, however far off, names nobody. What remains of a loss without a culprit (many small steps, or too much noise) is
 * reported as the shortest range that holds nearly all of it.
 */
#ifndef FLOPWATCHD_BISECT_SEARCH_H
#define FLOPWATCHD_BISECT_SEARCH_H

#include <stdbool.h>

#include "core/case/case.h"
#include "core/verdict/verdict.h"

enum { BISECT_COMMITS_MAX = 257, BISECT_CELLS_MAX = 64, BISECT_FINDINGS_MAX = 64, BISECT_DIRECT_MAX = 128 };

#define BISECT_NAMED 0.999 /* probability above which a commit is named */

enum bisect_point_state { BISECT_UNKNOWN, BISECT_KNOWN, BISECT_SKIPPED };

/** All measurements of two commits. */
struct bisect_evidence {
	int n;
	double m, se;          /* log time ratio, and its standard error */
	double weight, spread; /* sum of 1 / se^2, and of squared distances from the mean in standard errors */
};

struct bisect_point {
	enum bisect_point_state state;
	double m; /* log time ratio to commit 0 */
	struct bisect_evidence e;
};

/** Two commits measured beside each other: what that said. */
struct bisect_direct {
	int from, to;
	struct bisect_evidence e;
	int jobs;           /* of the search's own, that compared them and have ended */
	int64_t comparison; /* the latest, 0: none */
};

/** One cell that was lost. */
struct bisect_track {
	char key[CASE_KEY_SIZE];
	double threshold; /* smallest m that counts as lost, > 0 */
	struct bisect_point point[BISECT_COMMITS_MAX];
	int n_direct;
	struct bisect_direct direct[BISECT_DIRECT_MAX];
};

struct bisect_search {
	int n;        /* number of the bad end */
	bool certain; /* points are no measurements (m is 0 or 1), and need no proof */
	int n_tracks;
	struct bisect_track track[BISECT_CELLS_MAX];
};

/** A culprit: the loss came with a commit after `from`, at the latest with `to`. */
struct bisect_finding {
	int from, to;
	bool confirmed; /* measured directly; false: deduced from neighbours */
	int n_tracks;
	int track[BISECT_CELLS_MAX];
	double m;           /* largest loss of a track here */
	double probability; /* that it is more than half the threshold; NAN: it is a range, or no measurement */
	double change_pct;  /* the same as change of throughput */
	int64_t comparison; /* of `from` and `to`, 0 none */
};

/**
 * Add a measurement of a commit against commit 0: any with finite `m` and `se` but those that failed or were rejected, whose times are
 * not believed. False: it says nothing, and the point stays as it is.
 */
bool bisect_timed_point(struct bisect_point *p, enum verdict v, double m, double se);
/** How a cell places a commit where failing is what is looked for: m is 1 where it failed. */
struct bisect_point bisect_failed_point(enum verdict v);
/** Note a direct comparison of two commits, and add what it measured, if it did. */
void bisect_direct_put(struct bisect_track *t, int from, int to, enum verdict v, double m, double se, int64_t comparison);
/** A job of the search for these two commits has ended, with a measurement or without. */
void bisect_job_ended(struct bisect_track *t, int from, int to);

/** The next pair to measure. False: there is nothing left to find out. Shape: *base < *target. */
bool bisect_next(const struct bisect_search *s, int *base, int *target);
/** Whether the track needs that measurement. */
bool bisect_wants(const struct bisect_track *t, int n, int base, int target);
/** Culprits in order of commits, tracks with the same stretch together. Shape: out[BISECT_FINDINGS_MAX]. */
int bisect_findings(const struct bisect_search *s, struct bisect_finding *out);

#endif
