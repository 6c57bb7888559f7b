/**
 * interim.h - test whether the evidence of all runs is overwhelming, at a few fixed numbers of runs. Pure.
 *
 * A look takes all runs of a cell, of both sets, as one sample. With n runs of mean m, v is the moderated variance of one,
 *
 *     v  = max((nu0 (s0^2 + q) + sum (d_i - m)^2) / (nu0 + n - 1), q)
 *     se = sqrt(v / n + placement^2 + se_slope^2 + se_clock^2)
 *
 * and a change is overwhelming if P(t > (m - theta) / se) lies below rule.p_look, with nu0 + n - 1 degrees of freedom. s0 and
 * nu0 are rule.look of the pairing; for modules without clocks tau0 and nu0; for a cell with learned noise, the learned values.
 * Each look may be wrong in p_look of equal cells, so that six looks are wrong in 6e-6.
 *
 * That holds if runs are as noisy as expected: for modules with known clocks, and cells with learned noise. Others may be many
 * times as noisy on a busy machine, and few runs then agree by chance far more often: for them a plain t test of the runs, with
 * n - 1 degrees of freedom, must also show the change, with p_alone.
 */
#ifndef STATS_INTERIM_H
#define STATS_INTERIM_H

#include "stats/stats.h"

/** Evidence of some runs: probabilities that chance shows at least this change if the true change equals the threshold. */
struct interim {
	double m, se, degrees;
	double p_loss, p_gain;
	double p_loss_alone, p_gain_alone; /* from these runs alone, without a prior */
};

/** Compute the evidence of n runs. None: every p is 1; one: those by runs alone. Shape: e[n]. */
void interim_look(const struct rule *r, double theta, const struct run_estimate *e, int n, struct interim *out);

/**
 * Return whether the evidence decides at once: after 2, 3, 4, 6, 8, 12, 16, 24 or 32 runs, for programs from the third on,
 * never before rule.runs_ok_min. Between two of these numbers the runs up to the lower one count; `is_over`: no further run
 * follows, and all count. A loss is DECISION_REGRESSION, a gain DECISION_IMPROVEMENT; for programs DECISION_OK if neither a
 * loss nor a gain beyond the threshold remains, by the same probability; else DECISION_MORE. stats_decide decides unchanged
 * modules.
 */
enum decision interim_decide(const struct rule *r, double theta, const struct run_estimate *e, int n, bool is_over);

/**
 * Return the final decision for runs of programs: DECISION_REGRESSION, DECISION_IMPROVEMENT or DECISION_OK by the 95 %
 * interval, DECISION_UNDECIDED if that contains the threshold, or with fewer runs than INTERIM_PROGRAMS_MIN. If the standard
 * error is above se_max, or with fewer than six runs, the plain t test must show a change with a probability of 1e-4, or
 * exclude a loss with one of 0.01.
 */
enum decision interim_last(const struct rule *r, double theta, const struct run_estimate *e, int n);

enum { INTERIM_PROGRAMS_MIN = 3 };

#endif
