/**
 * candidate.h - steps of a series that are worth a direct comparison of two commits. Pure: no I/O, no clock, no state.
 *
 * changepoint.h finds two levels. A slope and drifting noise have them too, and a direct comparison confirms neither. A
 * candidate is a step that a slope explains worse; after each unconfirmed one its cell pauses, twice as long each time.
 */
#ifndef STATS_CANDIDATE_H
#define STATS_CANDIDATE_H

#include <stdbool.h>

#include "stats/changepoint.h"

enum {
	CANDIDATE_PAUSE = 3,      /* points after the first unconfirmed candidate; doubled by each further one */
	CANDIDATE_PAUSE_MAX = 60, /* points */
	CANDIDATE_NEAR = 12       /* points on each side of a step in its neighbourhood */
};

/** The unconfirmed candidates of a series since its last confirmed step. */
struct candidate_past {
	int n;
	int points;  /* points of the cell when the last of them was dropped */
	double step; /* the size of the largest */
};

/**
 * Find a step for a direct comparison: changepoint_find reports it in the whole series or in the newest 16 points; its two
 * levels leave less than 0.7 of a line's residual (all points; 0.8 if the step is below 3.5 times the noise and its levels
 * leave no more than the noise of single points), or less than 0.55 (its neighbourhood, which must show the step alone); two
 * neighbours there differ by the step within 5 times the noise; and no straight rise over four or more commits leaves less than
 * 0.8 of their residual. During a pause only a step 1.5 times as large as any unconfirmed one counts. Shape: x[n], the series
 * since the last confirmed step; `points`: of the cell's whole series. out->step is that of the neighbourhood.
 */
bool candidate_find(const double *x, int n, int points, const struct candidate_past *past, struct changepoint *out);

/**
 * Choose the neighbours to compare directly in attempt `tried` (0 to CHANGEPOINT_PAIRS - 1) for a step at `at`: `first`
 * receives the index of the first. Returns false if there are no such points, too few after them, or a step there leaves more
 * than one noise more than a step at `at`.
 */
bool candidate_pair(const double *x, int n, int at, int tried, int *first);

#endif
