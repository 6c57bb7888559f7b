/**
 * candidate.h - which steps of a series are worth a direct comparison of two commits. Pure: no I/O, no clock, no state.
 *
 * changepoint.h finds that a series has two levels. A slope and noise that wanders have them too, and a direct comparison confirms
 * neither. A candidate is a step that a slope explains worse, and after each one that was not confirmed its cell pauses, twice as long
 * each time.
 */
#ifndef CORE_STATS_CANDIDATE_H
#define CORE_STATS_CANDIDATE_H

#include <stdbool.h>

#include "core/stats/changepoint.h"

enum {
	CANDIDATE_PAUSE = 3,      /* points after the first candidate that was not confirmed; doubled by each one after it */
	CANDIDATE_PAUSE_MAX = 60, /* points */
	CANDIDATE_NEAR = 12       /* points on each side of a step that its neighbourhood has */
};

/** The candidates of a series, since its last confirmed step, that were not confirmed. */
struct candidate_past {
	int n;
	int points;  /* that the cell had when the last of them was dropped */
	double step; /* the largest of them, its size */
};

/**
 * Find a step that should be compared directly: changepoint_find has it in the whole series or in the newest 16 points, its two levels
 * leave less than 0.7 of what a line leaves (all points; 0.8 where the step is below 3.5 varies and its levels leave no more than the
 * noise of single points does), or less than 0.55 (its neighbourhood, which has to show the step by itself), two neighbours there lie
 * apart by the step but for 5 varies, and no straight rise over four commits or more leaves less than 0.8 of what they leave. During a pause only a step 1.5 times as
 * large as any that was not confirmed counts. Shape: x[n], the series since the last confirmed step; `points`: of the cell's whole
 * series. out->step is that of the neighbourhood.
 */
bool candidate_find(const double *x, int n, int points, const struct candidate_past *past, struct changepoint *out);

/**
 * The neighbours to compare directly in attempt `tried` (0 to CHANGEPOINT_PAIRS - 1) for a step at `at`: `first` gets the index of the
 * first of the two. False: there are no such points, there are too few after them, or a step there leaves more than one noise more
 * than a step at `at`, so that it is not there.
 */
bool candidate_pair(const double *x, int n, int at, int tried, int *first);

#endif
