/**
 * calibration.h - noise of a cell's equal builds on a device, and the regressions that it can detect. Pure: no I/O, no clock,
 * no state.
 */
#ifndef STATS_CALIBRATION_H
#define STATS_CALIBRATION_H

#include <stdbool.h>

#include "stats/stats.h"

enum {
	CALIBRATION_RUNS_MIN = 6,   /* per cell in a calibrating comparison, at least */
	CALIBRATION_PARTS_MAX = 64, /* stored comparisons of a cell */
	CALIBRATION_DAYS_MAX = 30   /* age limit of a comparison */
};

/** Runs of equal builds: of one comparison, or of several pooled. Zeros: none yet. */
struct calibration {
	int runs;
	int freedom;     /* runs minus comparisons */
	double squares;  /* of run estimates around the mean of their comparison */
	double variance; /* sum of the variances within runs */
};

/** Pool the runs of one more comparison. Fewer than two are ignored. */
void calibration_add(struct calibration *c, const struct run_estimate *e, int n);

/**
 * Pool the newest comparisons of a cell up to 40 degrees of freedom. Those older than the newest ten degrees count only if they
 * are at most three times as noisy: a busy hour is dropped once quiet ones follow. Shape: part[n], newest first.
 */
struct calibration calibration_pool(const struct calibration *part, int n);

/** Return the total noise of runs from their estimates: log ratio; 0: unknown. */
double calibration_noise(const struct calibration *c);

/**
 * Give the learned values for this cell's rule, from 5 degrees of freedom on: the noise of its runs (at least 0.01 %), and its
 * degrees of freedom (20 at most, since a device changes). Returns false with fewer; the rule's own prior applies then.
 */
bool calibration_learned(const struct calibration *c, double *tau0, double *nu0);

/**
 * Compute the smallest loss in percent that a full set of runs would detect, with threshold `theta`. Returns false if the cell
 * is underpowered: that loss exceeds twice the threshold, or the rule would end undecided. A cell that has not been calibrated
 * (5 degrees of freedom) is not underpowered.
 */
bool calibration_sees(const struct calibration *c, const struct rule *r, double theta, double *mde_pct);

#endif
