/**
 * stats.h - paired timings to an estimate and a decision. Pure: no I/O, no clock, no state.
 *
 * A pair is one base and one target call: y = ln(t_target / t_base), and z = ln(f_target / f_base), the ratio of their clocks.
 * A run (one new process) gives a 25 % trimmed mean d of y - beta z with the Winsorised variance q of that mean. Runs are
 * combined with a moderated variance, because noise between processes, not within them, misleads a benchmark. Positive = target
 * slower.
 *
 * The change of a cell is that of wall time: the change at equal clocks, and the branch's own effect on the clock (clock.h), as
 * far as it can be separated from the clock's noise.
 */
#ifndef STATS_STATS_H
#define STATS_STATS_H

#include <stdbool.h>

#include "stats/clock.h"

enum {
	STATS_PAIRS_MAX = 240,
	STATS_RUNS_MAX = 64, /* of a cell, both sets */
	STATS_CALLS_MIN = 4  /* minimum pairs of a run that are calls; fewer are whole processes */
};

/** How calls of the two sides are paired: determines the noise of equal builds. */
enum pairing_kind {
	PAIRING_MODULES,    /* two modules in one process, call by call */
	PAIRING_INTERLEAVE, /* two programs, each in its process, call by call */
	PAIRING_PROCESSES,  /* two programs, one whole process after the other */
	PAIRINGS
};

/** Noise of runs in addition to that of their pairs (log ratio), before any run, and its weight in runs. */
struct run_prior {
	double s0, nu0;
};

/** Priors of the 95 % interval with known clocks; decisions have their own priors, with less knowledge of odd branches. */
struct cover_prior {
	struct run_prior runs;        /* of modules with unknown cells */
	double usual, odd, odd_share; /* of the branches' effect on the clock (clock.h) */
};

/** Constants of the procedure, sent with the job and stored with the result. */
struct rule {
	int version;              /* 5 */
	bool programs;            /* the sides are benchmark programs; false: modules */
	double tau0;              /* prior run noise in addition to that of pairs, log ratio; 0.0025 */
	double tau0_clocked;      /* the same if the clock of each call is known; 0.0005 */
	double nu0;               /* weight of that prior in runs; 3 */
	bool learned;             /* tau0 is the total noise of this cell's runs, with nu0 observations: only in a cell's rule */
	double placement;         /* difference of two copies of one module that no number of runs reduces; 0.0001 */
	double k;                 /* standard errors of a decision; 3.5 up to 20 cells, 3.8 up to 60, 4.1 beyond */
	double se_max;            /* above it at the last run: undecided; 0.0030 */
	int runs_ok_min;          /* 2 */
	int runs_regression_min;  /* 4 */
	int runs_max;             /* 12, per set; for programs 32 in all */
	int pairs_min, pairs_max; /* 4, 32; pairs_min if the clock of each call is known, else twice that */
	double pair_budget_s;     /* pairs = this / time of a pair, multiple of 4; 0.4 */
	int pairs_short;          /* limit for calls of which this many fit into short_budget_s, on a device with a queue; 128 */
	double short_budget_s;    /* 0.02 */
	double beta_min;          /* beta lies between this and 0; -1.1. 0: clocks are not removed */
	struct clock_prior clock; /* effect of a branch on the clock */
	double half_width_dense_pct, half_width_sparse_pct; /* continue to this 95 % half-width while budget is left; 0.4, 0.6 */
	bool confirm; /* a change that is not overwhelming needs a second set of runs; true */
	double p_look; /* probability of an overwhelming change at one look (interim.h); 1e-6. 0: no looks, as in rules before version 5 */
	double p_alone; /* the same by a plain t test, for runs without prior knowledge of noise; 1e-5 */
	struct cover_prior
		cover; /* 0.001 2; 0.0017, 0.03, 0.05. All 0: the interval of rules before version 5, with the deciding priors */
	struct run_prior look[PAIRINGS]; /* 0.0008 6, 0.004 2, 0.0025 2; for programs also of their intervals */
};

/** Set defaults for a comparison of `n_cells` cells. */
void rule_default(struct rule *r, int n_cells);

/** Return the standard errors of a decision for `n_cells` cells, which limit its false alarms. */
double rule_k(int n_cells);

/**
 * Return the pairs of one run for a cell whose pair takes `pair_s`: pair_budget_s / pair_s, a multiple of 4, within the limits.
 * `queued`: the device adds little to the time of a short call, so up to pairs_short are allowed.
 */
int stats_pairs(const struct rule *r, double pair_s, bool clocked, bool queued);

/** Return ln form of a loss in percent: 1.5 -> 0.0151136. */
double stats_theta(double threshold_pct);
/** Return 100 (exp(-m) - 1): the change of throughput in percent, negative = slower. */
double stats_change_pct(double m);

/** Return the rule of one cell with its known noise. `tau0` 0: unknown; `nu0` 0: tau0 is a prior in addition to pairs. */
struct rule stats_rule_of_cell(const struct rule *general, double tau0, double nu0);

/** The pairs of one run. Shape: arrays of n, pair by pair; mhz NULL or with zeros if no clock is known. Units: ms, MHz. */
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

/** Estimate one run from its values. Shape: y[n]; n >= 1. Source: Tukey and McLaughlin 1963, 25 % a side. */
void stats_trimmed(const double *y, int n, double *d, double *q);

/**
 * Estimate every run of a cell with one common beta: least squares on run-centred pairs, shrunk towards the middle of
 * [beta_min, 0] as far as they leave it open; the rest is its variance. A missing clock makes beta 0 for the cell, so that runs
 * stay comparable. Values beyond the limits are left out. Shape: out[n_runs], n_runs <= STATS_RUNS_MAX; each n <=
 * STATS_PAIRS_MAX.
 */
void stats_runs(const struct rule *r, const struct run_pairs *process_run, int n_runs, struct run_estimate *out, double *beta);

/**
 * Return how the calls of these runs are paired. Interleaved programs have more pairs a run than whole processes. Shape: e[n].
 */
enum pairing_kind stats_pairing_kind(const struct rule *r, const struct run_estimate *e, int n);

struct estimate {
	int runs, pairs;
	double m, se;           /* log ratio of wall time, and its moderated standard error */
	double m_code, se_code; /* the part at equal clocks */
	double se_clock;        /* of the other part, m - m_code: the branch's effect on the clock */
	double se_slope;        /* of m: uncertainty of the slope beta if clocks differ */
	double m_raw;           /* mean of d_raw */
	double ci_low,
		ci_high; /* 95 % interval of m: a t interval of the code's part, joined with that of the clock's; log ratio */
	double margin;   /* required distance of m from a threshold: k se_code and clock.k se_clock combined */
	double margin_sampled; /* its part that more runs reduce */
	double m_separate;     /* m if the branch caused all of the clock difference */
	double clock_separate; /* that difference in standard errors; 0 without clocks */
};

/**
 * Combine runs. Without runs: m 0 with se infinite and an unbounded interval. Beyond runs_ok_min runs the width of the interval
 * influenced the number of runs, which takes a degree of freedom.
 */
void stats_combine(const struct rule *r, const struct run_estimate *e, int n, struct estimate *out);

enum decision { DECISION_MORE, DECISION_OK, DECISION_REGRESSION, DECISION_UNDECIDED, DECISION_IMPROVEMENT };

/**
 * Decide by the sequential rule on the runs of one set of modules. `borderline`: decided by sign, at the last run, or earlier
 * if only the usual clock effect of branches remains, which further runs do not show. A rule whose runs_max lies below
 * runs_regression_min is a quick job: at its last run it decides by the interval, else undecided. A rule with looks decides
 * gains like losses; before them a gain was a kind of DECISION_OK.
 */
enum decision stats_decide(const struct rule *r, double theta, const struct run_estimate *e, int n, bool *borderline);

/**
 * Return whether runs are so noisy that even the last allowed one would leave the cell undecided, with some margin: both the
 * same noise and a third less give a standard error above se_max, with the threshold within the margin of a decision. `se`: the
 * expected standard error.
 */
bool stats_is_hopeless(const struct rule *r, double theta, const struct run_estimate *e, int n, double *se);

/** Return whether these runs exclude a loss beyond the threshold, by the margin of a decision. */
bool stats_excludes_loss(const struct rule *r, double theta, const struct estimate *e);

/** Return the smallest detectable loss in percent with these runs: 100 (1 - exp(-(theta + margin))). */
double stats_mde_pct(double theta, const struct estimate *e);

/** Return the quantile of the t distribution, two-sided 95 %. Units: degrees of freedom, real, >= 1. */
double stats_t95(double degrees);
/** Return P(T > t) of Student's t, with a small relative error at any distance. Units: degrees of freedom, real, > 0. */
double stats_t_tail(double t, double degrees);
/** Return the t exceeded with probability `p`. Units: 0 < p <= 0.5; degrees as above. */
double stats_t_above(double p, double degrees);
/** Return the density at x of Student's t around 0. Units: `scale` those of x, > 0; degrees >= 1. */
double stats_t_density(double x, double scale, double degrees);

/** Return the median. Shape: v[n], not changed; n <= 4096. 0 for n = 0. */
double stats_median(const float *v, int n);

/** Return the one-sided p of Fisher's exact test that target has more slow calls than base by chance. */
double stats_fisher(int base_slow, int base_total, int target_slow, int target_total);

#endif
