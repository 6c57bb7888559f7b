/**
 * calibration.h - what comparisons of equal builds say about a cell on a device: how far launches scatter although nothing
 * changed, and which losses it can therefore see. Pure: no I/O, no clock, no state.
 */
#ifndef CORE_CALIBRATION_H
#define CORE_CALIBRATION_H

#include <stdbool.h>

#include "core/stats.h"

enum { CALIBRATION_LAUNCHES_MIN = 6 }; /* launches a cell in a calibrating comparison, at least */

/** Launches of equal builds, pooled. Zeros: none yet. */
struct calibration {
	int launches;
	int freedom;     /* launches less comparisons */
	double squares;  /* of launch estimates around the mean of their comparison */
	double variance; /* sum of the variances inside launches */
};

/** Pool the launches of one more comparison. Fewer than two say nothing. */
void calibration_add(struct calibration *c, const struct launch_estimate *e, int n);

/** Scatter between launches that pairing leaves: sqrt(variance of estimates - mean variance inside launches), log ratio; 0: none. */
double calibration_tau(const struct calibration *c);

/** The whole scatter of launches, as their estimates show it: log ratio; 0: none is known. */
double calibration_scatter(const struct calibration *c);

/**
 * What the rule of this cell is told once 5 degrees of freedom are known: the scatter of its launches (at least 0.01 %), and how often
 * it was seen (20 at most, since a device changes). False: too little is known, and the rule's own prior holds.
 */
bool calibration_learned(const struct calibration *c, double *tau0, double *nu0);

/**
 * Smallest loss in percent that a full set of launches would call, `theta` being the threshold. False: the cell is blind, as
 * its launches scatter so much that this is more than twice the threshold, or that the rule ends undecided. A cell that has
 * not been calibrated (5 degrees of freedom) is not called blind.
 */
bool calibration_sees(const struct calibration *c, const struct rule *r, double theta, double *mde_pct);

#endif
