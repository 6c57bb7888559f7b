/**
 * interim.h - whether the evidence of all runs together is overwhelming, at a few numbers of runs that are fixed before. Pure.
 *
 * A look takes all runs of a cell, of both sets, as one sample. With n runs of mean m, v is the moderated variance of one,
 *
 *     v  = max((nu0 (s0^2 + q) + sum (d_i - m)^2) / (nu0 + n - 1), q)
 *     se = sqrt(v / n + placement^2 + se_slope^2 + se_clock^2)
 *
 * and a change is overwhelming where P(t > (m - theta) / se) lies below rule.p_look, with nu0 + n - 1 degrees of freedom. s0 and nu0 are
 * rule.look of the pairing; of modules without clocks tau0 and nu0; of a cell whose noise is learned, what was learned. Each look may be wrong in
 * p_look of equal cells, so that six of them are wrong in 6e-6.
 *
 * That holds where runs noise as is expected. Modules whose clocks are known do, and cells whose noise is learned. Others may noise by
 * many times as much on a busy machine, and few runs then agree by chance far more often: of them a plain t test of the runs,
 * with n - 1 degrees of freedom, has to say the same with p_alone.
 */
#ifndef CORE_STATS_INTERIM_H
#define CORE_STATS_INTERIM_H

#include "core/stats/stats.h"

/** The evidence of some runs: probabilities that chance shows as much of a change, or more, where it only just reaches the threshold. */
struct interim {
	double m, se, degrees;
	double p_loss, p_gain;
	double p_loss_alone, p_gain_alone; /* by these runs alone, whatever is expected of their noise */
};

/** Look at n runs. None: every p is 1; one: those by runs alone. Shape: e[n]. */
void interim_look(const struct rule *r, double theta, const struct run_estimate *e, int n, struct interim *out);

/**
 * Whether the evidence decides at once: after 2, 3, 4, 6, 8, 12, 16, 24 or 32 runs, of programs from the third on, never before
 * rule.runs_ok_min. Between two of these numbers the runs up to the lower one are looked at; `is_over`: no further run will
 * come, and all are looked at. A loss is DECISION_REGRESSION, a gain DECISION_IMPROVEMENT; of programs DECISION_OK where neither a loss nor
 * a gain beyond the threshold is left, by the same chance; else DECISION_MORE. Modules that did not change are decided by stats_decide.
 */
enum decision interim_decide(const struct rule *r, double theta, const struct run_estimate *e, int n, bool is_over);

/**
 * What the runs of programs show when no further one will come: DECISION_REGRESSION, DECISION_IMPROVEMENT or DECISION_OK by the 95 %
 * interval, DECISION_UNDECIDED where that holds the threshold, or where runs are fewer than INTERIM_PROGRAMS_MIN. Where the standard
 * error is above se_max, or runs are fewer than six, the plain t test has to show a change with a chance of 1e-4, or exclude a loss with one of 0.01.
 */
enum decision interim_last(const struct rule *r, double theta, const struct run_estimate *e, int n);

enum { INTERIM_PROGRAMS_MIN = 3 };

#endif
