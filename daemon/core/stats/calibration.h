/**
 * calibration.h - what comparisons of equal builds say about a cell on a device: how far runs noise although nothing
 * changed, and which losses it can therefore see. Pure: no I/O, no clock, no state.
 */
#ifndef CORE_STATS_CALIBRATION_H
#define CORE_STATS_CALIBRATION_H

#include <stdbool.h>

#include "core/stats/stats.h"

enum {
	CALIBRATION_RUNS_MIN = 6,   /* a cell in a calibrating comparison, at least */
	CALIBRATION_PARTS_MAX = 64, /* comparisons that are kept of a cell */
	CALIBRATION_DAYS_MAX = 30   /* after which a comparison says nothing of a device any more */
};

/** Runs of equal builds: of one comparison, or of several pooled. Zeros: none yet. */
struct calibration {
	int runs;
	int freedom;     /* runs less comparisons */
	double squares;  /* of run estimates around the mean of their comparison */
	double variance; /* sum of the variances inside runs */
};

/** Pool the runs of one more comparison. Fewer than two say nothing. */
void calibration_add(struct calibration *c, const struct run_estimate *e, int n);

/**
 * What is remembered of a cell: its newest comparisons until they hold 40 degrees of freedom. What is older than the newest ten degrees
 * counts only where it scattered at most three times as much: a busy hour is forgotten once the quiet ones after it are known.
 * Shape: part[n], newest first.
 */
struct calibration calibration_pool(const struct calibration *part, int n);

/** The whole noise of runs, as their estimates show it: log ratio; 0: none is known. */
double calibration_noise(const struct calibration *c);

/**
 * What the rule of this cell is told once 5 degrees of freedom are known: the noise of its runs (at least 0.01 %), and how often
 * it was seen (20 at most, since a device changes). False: too little is known, and the rule's own prior holds.
 */
bool calibration_learned(const struct calibration *c, double *tau0, double *nu0);

/**
 * Smallest loss in percent that a full set of runs would call, `theta` being the threshold. False: the cell is underpowered, as
 * its runs noise so much that this is more than twice the threshold, or that the rule ends undecided. A cell that has
 * not been calibrated (5 degrees of freedom) is not called underpowered.
 */
bool calibration_sees(const struct calibration *c, const struct rule *r, double theta, double *mde_pct);

#endif
