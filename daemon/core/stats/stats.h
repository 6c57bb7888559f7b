/**
 * stats.h - from paired timings to an estimate and a decision. Pure: no I/O, no clock, no state.
 *
 * A pair is one base call beside one target call: y = ln(t_target / t_base), and z = ln(f_target / f_base), the clocks that
 * the two calls ran at. A run (one fresh process) gives a 25 % trimmed mean d of y - beta z with the Winsorised variance q
 * of that mean. Runs are combined with a moderated variance, because the noise between processes, not within them, is
 * what fools a benchmark. Positive = target slower.
 *
 * The change of a cell is the one that a clock on the wall sees: the change at equal clocks, and what the branch itself does to the
 * clock (clock.h), as far as that can be told from what the clock does by itself.
 */
#ifndef CORE_STATS_STATS_H
#define CORE_STATS_STATS_H

#include <stdbool.h>

#include "core/stats/clock.h"

enum {
	STATS_PAIRS_MAX = 240,
	STATS_RUNS_MAX = 64, /* of a cell, both sets */
	STATS_CALLS_MIN = 4  /* pairs of a run that are calls; fewer are whole processes */
};

/** How calls of the two sides are paired: it says what runs of equal builds may differ by. */
enum pairing_kind {
	PAIRING_MODULES,    /* two modules in one process, call by call */
	PAIRING_INTERLEAVE, /* two programs, each in its process, call by call */
	PAIRING_PROCESSES,  /* two programs, one whole process after the other */
	PAIRINGS
};

/** Noise of runs beside what their pairs say (log ratio), before any run is seen, and the weight of that in runs. */
struct run_prior {
	double s0, nu0;
};

/** What the 95 % interval takes for granted where clocks are known; decisions have priors of their own, which know less of odd branches. */
struct cover_prior {
	struct run_prior runs;        /* of modules whose cell is not known */
	double usual, odd, odd_share; /* of what branches do to the clock (clock.h) */
};

/** Constants of the procedure; they travel with the job and are stored with the result. */
struct rule {
	int version;              /* 5 */
	bool programs;            /* the sides are programs of their own; false: modules */
	double tau0;              /* prior run noise beside what pairs say, log ratio; 0.0025 */
	double tau0_clocked;      /* the same where the clock of each call is known; 0.0005 */
	double nu0;               /* weight of that prior in runs; 3 */
	bool learned;             /* tau0 is the whole noise of this cell's runs, seen nu0 times: of one cell, never of a job */
	double placement;         /* what two copies of one module may differ by however often they are timed; 0.0001 */
	double k;                 /* standard errors of a decision; 3.5 up to 20 cells, 3.8 up to 60, 4.1 beyond */
	double se_max;            /* above it at the last run: undecided; 0.0030 */
	int runs_ok_min;          /* 2 */
	int runs_regression_min;  /* 4 */
	int runs_max;             /* 12, per set; of programs 32 in all */
	int pairs_min, pairs_max; /* 4, 32; pairs_min where the clock of each call is known, else twice that */
	double pair_budget_s;     /* pairs = this / time of a pair, multiple of 4; 0.4 */
	int pairs_short;          /* of calls of which as many fit into short_budget_s, on a device that queues; 128 */
	double short_budget_s;    /* 0.02 */
	double beta_min;          /* beta lies between this and 0; -1.1. 0: clocks are not taken out */
	struct clock_prior clock; /* what a branch may do to the clock */
	double half_width_dense_pct, half_width_sparse_pct; /* go on to this 95 % half-width while budget is left; 0.4, 0.6 */
	bool confirm; /* a change that is not overwhelming needs a second set of runs; true */
	double p_look; /* chance that makes a change overwhelming in one look (interim.h); 1e-6. 0: no looks, as in rules before version 5 */
	double p_alone; /* the same by a plain t test, of runs whose noise is not known before; 1e-5 */
	struct cover_prior
		cover; /* 0.001 2; 0.0017, 0.03, 0.05. All 0: the interval of rules before version 5, by what decides */
	struct run_prior look[PAIRINGS]; /* 0.0008 6, 0.004 2, 0.0025 2; of programs for their intervals, too */
};

/** Defaults for a comparison of `n_cells` cells. */
void rule_default(struct rule *r, int n_cells);

/** Standard errors of a decision for a comparison of `n_cells` cells: what keeps its false alarms rare. */
double rule_k(int n_cells);

/**
 * Pairs of one run for a cell whose pair takes `pair_s`: pair_budget_s / pair_s, a multiple of 4, within the limits. `queued`: on a device
 * where a short call costs little more than its time, so that there may be pairs_short of them.
 */
int stats_pairs(const struct rule *r, double pair_s, bool clocked, bool queued);

/** ln form of a loss in percent: 1.5 -> 0.0151136. */
double stats_theta(double threshold_pct);
/** 100 (exp(-m) - 1): the change of throughput in percent, negative = slower. */
double stats_change_pct(double m);

/** The rule of one cell: with what is known of its runs. `tau0` 0: nothing; `nu0` 0: tau0 is a prior beside what pairs say. */
struct rule stats_rule_of_cell(const struct rule *general, double tau0, double nu0);

/** The pairs of one run. Shape: arrays of n, pair by pair; mhz NULL or with zeros where no clock is known. Units: ms, MHz. */
struct run_pairs {
	int set; /* 1, or 2 for the confirming set */
	int n;   /* pairs, 1..STATS_PAIRS_MAX */
	const float *base_ms, *target_ms, *base_mhz, *target_mhz;
};

struct run_estimate {
	int set;
	int n;        /* pairs */
	double d;     /* trimmed mean, clock-adjusted */
	double q;     /* variance of d */
	double d_raw; /* trimmed mean without adjustment */
	double z;     /* trimmed mean of the clocks' log ratio, and its variance */
	double z_q;   /* 0: no clock is known */
	double beta;  /* the cell's slope, and its variance: the same in all its runs */
	double beta_q;
};

/** Estimate of one run's values. Shape: y[n]; n >= 1. Source: Tukey and McLaughlin 1963, 25 % a side. */
void stats_trimmed(const double *y, int n, double *d, double *q);

/**
 * Estimate every run of a cell with one beta for all: least squares on run-centred pairs, drawn towards the middle of
 * [beta_min, 0] as far as they leave it open; what stays open is told as its variance. A clock that is missing anywhere makes beta 0
 * for the cell, so that runs stay comparable.
 * Shape: out[n_runs], n_runs <= STATS_RUNS_MAX; each n <= STATS_PAIRS_MAX. What lies beyond is left out.
 */
void stats_runs(const struct rule *r, const struct run_pairs *process_run, int n_runs, struct run_estimate *out, double *beta);

/** How the calls of these runs are paired. Programs that took turns have more pairs a run than whole processes. Shape: e[n]. */
enum pairing_kind stats_pairing_kind(const struct rule *r, const struct run_estimate *e, int n);

struct estimate {
	int runs, pairs;
	double m, se;           /* log ratio of wall time, and its moderated standard error */
	double m_code, se_code; /* the part at equal clocks */
	double se_clock;        /* of the other part, m - m_code: what the branch does to the clock */
	double se_slope;        /* of m: what the slope beta leaves in doubt where clocks lie apart */
	double m_raw;           /* mean of d_raw */
	double ci_low,
		ci_high; /* 95 % interval of m: a t interval of the code's part, joined with that of the clock's; log ratio */
	double margin; /* what has to lie between m and a threshold before it is called: k se_code and clock.k se_clock together */
	double margin_sampled; /* the part of it that more runs make smaller */
	double m_separate;     /* m, were all that clocks differed by the branch's doing */
	double clock_separate; /* how many standard errors that difference of clocks is; 0 without clocks */
};

/**
 * Combine runs. None at all: m 0 with se infinite and an interval without ends. Beyond runs_ok_min runs the width of the
 * interval had a say in when to stop, which takes a degree of freedom.
 */
void stats_combine(const struct rule *r, const struct run_estimate *e, int n, struct estimate *out);

enum decision { DECISION_MORE, DECISION_OK, DECISION_REGRESSION, DECISION_UNDECIDED, DECISION_IMPROVEMENT };

/**
 * The sequential rule on the runs of one set of modules. `borderline`: decided by sign, at the last run, or before where only what
 * branches usually do to the clock is left in doubt, which further runs do not tell. A rule whose runs_max
 * lies below runs_regression_min is a quick look: at its last run it says what the interval shows, else undecided.
 * A rule with looks decides a gain as it decides a loss; before them a gain was a kind of DECISION_OK.
 */
enum decision stats_decide(const struct rule *r, double theta, const struct run_estimate *e, int n, bool *borderline);

/**
 * Whether runs noise so much that even the last one that the rule allows would leave the cell undecided, by a margin: the same noise, and
 * a third less of it, leave a standard error above se_max and the threshold within the margin of a decision. `se` what it would be.
 */
bool stats_is_hopeless(const struct rule *r, double theta, const struct run_estimate *e, int n, double *se);

/** Whether these runs exclude a loss beyond the threshold, by the margin of a decision. */
bool stats_excludes_loss(const struct rule *r, double theta, const struct estimate *e);

/** Smallest loss in percent that would have been called with these runs: 100 (1 - exp(-(theta + margin))). */
double stats_mde_pct(double theta, const struct estimate *e);

/** Quantile of the t distribution, two-sided 95 %. Units: degrees of freedom, real, >= 1. */
double stats_t95(double degrees);
/** P(T > t) of Student's t, with a small relative error however far out. Units: degrees of freedom, real, > 0. */
double stats_t_tail(double t, double degrees);
/** The t that is exceeded with probability `p`. Units: 0 < p <= 0.5; degrees as above. */
double stats_t_above(double p, double degrees);
/** Density at x of Student's t around 0. Units: `scale` those of x, > 0; degrees >= 1. */
double stats_t_density(double x, double scale, double degrees);

/** Median of values. Shape: v[n], not changed; n <= 4096. 0 for n = 0. */
double stats_median(const float *v, int n);

/** Fisher's exact test on slow calls: the one-sided p that target has more than base by chance. */
double stats_fisher(int base_slow, int base_total, int target_slow, int target_total);

#endif
