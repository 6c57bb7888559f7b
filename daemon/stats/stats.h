/** stats.h - estimators: pure functions of numbers. */
#ifndef STATS_STATS_H
#define STATS_STATS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- interval: Interval of a sum of a Student t posterior and a mixture of normals. Pure. ---- */

/** A normal component of a mixture. Units: those of the sum; the variance their square. */
struct normal_component {
	double weight, mean, variance;
};

enum { INTERVAL_COMPONENTS_MAX = 2 };

/**
 * Compute the 95 % interval, 2.5 % outside on each side, of t + x: t is Student's t around 0, x is independent and a mixture of
 * normals. Student's t is a normal whose variance is drawn from an inverse gamma distribution. Integrated by the trapezoidal
 * rule in the logarithm of the variance, which converges exponentially, the sum is a mixture of normals again. Shape:
 * component[n], 1 <= n <= INTERVAL_COMPONENTS_MAX, weights sum up to 1. Units: scale >= 0; degrees real, below 1 taken as 1.
 * Without any width both ends are the mean. Ends are exact to a thousandth of the standard deviation.
 */
void interval_95(double scale, double degrees, const struct normal_component *component, int n, double *low, double *high);

/*
 * ---- clock ----
 * The share of a clock difference that the branch causes. Pure.
 *
 * At a power limit a kernel that draws less power runs at a higher clock. So the clock of a call is partly noise, which must not
 * affect a verdict on pairs, and partly an effect of the branch, which users see. Short calls show it within hundredths of a
 * percent, and are trusted fully; clocks of long calls drift by percents between runs, and their estimate is shrunk towards the
 * usual effect of branches.
 */

/** Prior knowledge: nearly every branch changes the clock by little, a few by much. Log ratios. */
struct clock_prior {
	double usual;     /* standard deviation of most branches; 0.0015 */
	double odd;       /* the same of the few; 0.03 */
	double odd_share; /* their share; 0.01 */
	double nu;        /* weight in runs of the pairs' noise of clocks; 4 */
	double k;         /* standard errors of the clock component in a decision; 2 */
};

void clock_prior_default(struct clock_prior *p);

enum { CLOCK_COMPONENTS = 2 };

/**
 * The branch's effect on the clock: mean (a log ratio) and variance of its posterior, and the normals that it is a mixture of.
 */
struct clock_component {
	double induced, variance;
	struct normal_component component[CLOCK_COMPONENTS]; /* weights sum up to 1 */
};

/**
 * Compute the posterior of the induced share under a mixture of two normal priors, with a Student t error of the observation.
 * Units: `seen` the mean log ratio of clocks, `se` its standard error, with `degrees` of freedom.
 */
struct clock_component clock_induced(const struct clock_prior *p, double seen, double se, double degrees);

/**
 * Return the noise of clocks between runs, besides the noise of pairs: a clock is constant over a call, so a run of few long
 * calls samples few of its states. Measured on an H200: 0.2 % for each millisecond of a call, divided by the pairs of a run,
 * from 0.02 % (4 ms, 32 pairs) to 2.5 % (53 ms, 4 pairs); at most 2 %. Units: ms; a log ratio.
 */
double clock_wander(double call_ms, int pairs);

/*
 * ---- stats ----
 * Paired timings to an estimate and a decision. Pure: no I/O, no clock, no state.
 *
 * A pair is one base and one target call: y = ln(t_target / t_base), and z = ln(f_target / f_base), the ratio of their clocks.
 * A run (one new process) gives a 25 % trimmed mean d of y - beta z with the Winsorised variance q of that mean. Runs are
 * combined with a moderated variance, because noise between processes, not within them, misleads a benchmark. Positive = target
 * slower.
 *
 * The change of a cell is that of wall time: the change at equal clocks, and the branch's own effect on the clock (clock.c), as
 * far as it can be separated from the clock's noise.
 */

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
	double usual, odd, odd_share; /* of the branches' effect on the clock (clock.c) */
};

/** Constants of the procedure, sent with the job and stored with the result. */
struct rule {
	int version;             /* 6 */
	bool programs;           /* the sides are benchmark programs; false: modules */
	double tau0;             /* prior run noise in addition to that of pairs, log ratio; 0.0025 */
	double tau0_clocked;     /* the same if the clock of each call is known; 0.0005 */
	double nu0;              /* weight of that prior in runs; 3 */
	bool learned;            /* tau0 is the total noise of this cell's runs, with nu0 observations: only in a cell's rule */
	double placement;        /* difference of two copies of one module that no number of runs reduces; 0.0001 */
	double k;                /* standard errors of a decision; 3.5 up to 20 cells, 3.8 up to 60, 4.1 beyond */
	double se_max;           /* above it at the last run: undecided; 0.0030. See stats_se_max for thresholds below 1.5 % */
	int runs_ok_min;         /* 2 */
	int runs_regression_min; /* 4 */
	int runs_max;            /* 12, per set; for programs 32 in all */
	int runs_pooled_max; /* of both sets, of modules whose threshold is below 1.5 % and whose sets do not agree; 32. 0: none */
	int pairs_min, pairs_max; /* 2, 32; pairs_min if the clock of each call is known, else four times that */
	double pair_budget_s;     /* pairs = this / time of a pair, multiple of 4; 0.4 */
	int pairs_short;          /* limit for calls of which this many fit into short_budget_s, on a device with a queue; 128 */
	double short_budget_s;    /* 0.02 */
	double beta_min;          /* beta lies between this and 0; -1.1. 0: clocks are not removed */
	struct clock_prior clock; /* effect of a branch on the clock */
	double half_width_dense_pct, half_width_sparse_pct; /* continue to this 95 % half-width while budget is left; 0.4, 0.6 */
	bool confirm; /* a change that is not overwhelming needs a second set of runs; true */
	double p_interim; /* probability of an overwhelming change at one interim analysis; 1e-6. 0: none, as in rules before version 5 */
	double p_alone; /* the same by a plain t test, for runs without prior knowledge of noise; 1e-5 */
	struct cover_prior
		cover; /* 0.001 2; 0.0017, 0.03, 0.05. All 0: the interval of rules before version 5, with the deciding priors */
	struct run_prior interim[PAIRINGS]; /* 0.0008 6, 0.004 2, 0.0025 2; for programs also of their intervals */
};

/** Set defaults for a comparison of `n_cells` cells. */
void rule_default(struct rule *r, int n_cells);

/** Return the standard errors of a decision for `n_cells` cells, which limit its false alarms. */
double rule_k(int n_cells);

/**
 * Return the pairs of one run for a cell whose pair takes `pair_s`: pair_budget_s / pair_s, a multiple of 4, or the fewest that
 * the limits allow. `queued`: the device adds little to the time of a short call, so up to pairs_short are allowed.
 */
int stats_pairs(const struct rule *r, double pair_s, bool clocked, bool queued);

/** Return ln form of a slowdown in percent: 1.5 -> 0.0151136. */
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
void stats_runs(const struct rule *r, const struct run_pairs *run, int n_runs, struct run_estimate *out, double *beta);

/**
 * Return how the calls of these runs are paired. Interleaved programs have more pairs a run than whole processes. Shape: e[n].
 */
enum pairing_kind stats_pairing_kind(const struct rule *r, const struct run_estimate *e, int n);

struct estimate {
	int runs, pairs;
	double m, se;           /* log ratio of wall time, and its moderated standard error */
	double m_code, se_code; /* the code component: the change at equal clocks */
	double se_clock;        /* of the clock component, m - m_code: the branch's effect on the clock */
	double se_slope;        /* of m: uncertainty of the slope beta if clocks differ */
	double m_raw;           /* mean of d_raw */
	double ci_low,
		ci_high; /* 95 % interval of m: a t interval of the code component, joined with that of the clock component; log ratio */
	double margin;         /* required distance of m from a threshold: k se_code and clock.k se_clock combined */
	double margin_sampled; /* its share that more runs reduce */
	double m_separate;     /* m if the branch caused all of the clock difference */
	double clock_separate; /* that difference in standard errors; 0 without clocks */
};

/**
 * Combine runs. Without runs: m 0 with se infinite and an unbounded interval. Beyond runs_ok_min runs the width of the interval
 * influenced the number of runs, which takes a degree of freedom.
 */
void stats_combine(const struct rule *r, const struct run_estimate *e, int n, struct estimate *out);

/**
 * Return the largest standard error with which runs of modules are decided by sign at the last run: se_max, but at most a fifth
 * of the threshold. The 95 % interval then ends within two fifths of a threshold from the change, so that equal builds lie five
 * standard errors below it. With se_max alone, at a threshold of 0.1 % and a standard error of 0.2 %, a tenth of all equal builds
 * would be confirmed regressions, and a slowdown of several thresholds often be unchanged. From 1.5 % on it is se_max, 0.0030.
 * Units: log ratio.
 */
double stats_se_max(const struct rule *r, double theta);

enum decision { DECISION_MORE, DECISION_OK, DECISION_REGRESSION, DECISION_UNDECIDED, DECISION_IMPROVEMENT };

/**
 * Decide by the sequential rule on the runs of one set of modules. `borderline`: decided by sign, at the last run, or earlier
 * if only the usual clock effect of branches remains, which further runs do not show. A rule whose runs_max lies below
 * runs_regression_min is a quick job: at its last run it decides by the interval, else undecided. A rule with interim analyses
 * decides gains like slowdowns; before them a gain was a kind of DECISION_OK.
 */
enum decision stats_decide(const struct rule *r, double theta, const struct run_estimate *e, int n, bool *borderline);

/** Return whether the runs of a cell continue after its sets ended without a verdict, up to rule.runs_pooled_max. */
bool stats_pools(const struct rule *r, double theta);

/**
 * Decide on all runs of a cell whose sets ended without a verdict, as one sample: the change must differ from the threshold by
 * the margin of a set, a regression or improvement also with a probability of error below 0.01 in an interim analysis. Never by
 * sign. DECISION_UNDECIDED: no further run follows, or with a third less noise the last one would not decide. Shape: e[n], n one
 * of interim_last_analysis, or the number of all runs if none follows.
 */
enum decision stats_decide_pooled(const struct rule *r, double theta, const struct run_estimate *e, int n);

/**
 * Return whether runs are so noisy that even the last allowed one would leave the cell undecided, with some margin: both the
 * same noise and a third less give a standard error above se_max, with the threshold within the margin of a decision. `se`: the
 * expected standard error.
 */
bool stats_is_hopeless(const struct rule *r, double theta, const struct run_estimate *e, int n, double *se);

enum stats_outlook {
	STATS_MAY_DECIDE, /* the last run may leave a standard error of at most se_max */
	STATS_LARGE_ONLY, /* it will not, and only a change that is larger than the threshold by the margin can be decided */
	STATS_HOPELESS    /* as in stats_is_hopeless */
};

/** Return what further runs can decide. `least`: standard error after the last run if the noise becomes a third less. */
enum stats_outlook stats_outlook(const struct rule *r, double theta, const struct run_estimate *e, int n, double *least);

/** Return whether these runs exclude a slowdown beyond the threshold, by the margin of a decision. */
bool stats_excludes_slowdown(const struct rule *r, double theta, const struct estimate *e);

/** Return the smallest detectable slowdown in percent with these runs: 100 (1 - exp(-(theta + margin))). */
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

/*
 * ---- calibration ----
 * Noise of a cell's equal builds on a device, and the regressions that it can detect. Pure: no I/O, no clock,
 * no state.
 */

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
 * are at most three times as noisy: runs of a busy hour are dropped once quieter ones follow. Shape: part[n], newest first.
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
 * Compute the smallest slowdown in percent that a full set of runs would detect, with threshold `theta`. Returns false if the
 * cell is underpowered: that slowdown exceeds twice the threshold, or the rule would end undecided. A cell that has not been
 * calibrated (5 degrees of freedom) is not underpowered.
 */
bool calibration_has_power(const struct calibration *c, const struct rule *r, double theta, double *mde_pct);

/*
 * ---- changepoint ----
 * Steps and drift in a series of log time ratios against one build of the reference commit. Pure: no I/O, no
 * clock, no state.
 *
 * A point is the log ratio of one commit's time to the reference commit's: 0.01 is 1 % slower. Ratios measured together
 * contain no day and no temperature, so a robust scan over all splits finds a step of one percent within two points, and false
 * ones only every tens of thousands. A result is a candidate: the caller compares the two commits directly to confirm it.
 */

enum {
	CHANGEPOINT_POINTS_MAX = 60, /* window: the last points since the last accepted change */
	CHANGEPOINT_LEFT_MIN = 8,    /* points required before a step ... */
	CHANGEPOINT_RIGHT_MIN = 3,   /* ... and after it */
	CHANGEPOINT_PAIRS = 3        /* neighbours compared directly for a candidate */
};

#define CHANGEPOINT_STEP_MIN 0.003 /* smaller steps are not worth a verification */
#define CHANGEPOINT_LIMIT    6.0   /* of the statistic */
#define CHANGEPOINT_FAR      0.05  /* distance at which a series needs a nearer reference commit */

struct changepoint {
	int at;      /* index of the first point of the new level */
	double step; /* new level minus old one, log ratio; positive = slower */
	double t;    /* the statistic: the largest step of any split in units of its standard error */
};

/**
 * Return the noise of single points: 1.4826 median |x[i] - x[i-1]| / sqrt 2, at least 0.05 %. Shape: x[n], in the order of
 * commits.
 */
double changepoint_noise(const double *x, int n);

/** Return the sum of distances from the median, which `level` receives. Shape: x[n], 0 < n <= CHANGEPOINT_POINTS_MAX. */
double changepoint_unexplained(const double *x, int n, double *level);

/**
 * Return whether the newest point should be measured again: it differs by 4 times the noise from the median of the 20 before it
 * and from its neighbour. A neighbour with the same value already confirms it.
 */
bool changepoint_is_odd(const double *x, int n);

/**
 * Find a step: some split's statistic exceeds CHANGEPOINT_LIMIT, and its position is the split with the least distance from two
 * medians. Levels are means of values clipped to 1.5 times the noise around their segment's median. A position with too few
 * points after it waits for more. Only the last CHANGEPOINT_POINTS_MAX points count. Shape: x[n]. A slope has two levels, too:
 * candidate.c selects the steps worth a comparison.
 */
bool changepoint_find(const double *x, int n, struct changepoint *out);

/**
 * Return new level minus old one for a split at `at`, each from the 12 nearest points or as many as exist, so that a distant
 * slope is excluded; 0 if a side is empty. Shape: x[n], 0 < at < n.
 */
double changepoint_step(const double *x, int n, int at);

/** Return the offset of the first neighbour to compare directly in attempt `tried`, relative to the candidate. */
int changepoint_pair(int tried);

/**
 * Return whether two neighbours confirm the series' step: their log ratio `m`, minus three standard errors, exceeds half of it.
 * If many commits became a little slower each, the levels differ by more than any two neighbours.
 */
bool changepoint_confirms(double step, double m, double se);

/**
 * Return whether the newest points show a slowdown above `theta` (log ratio) since the reference commit: the level of the last 5,
 * 8, 12 or 20, minus three standard errors, unless the very last point is well below it. `slowdown` receives that level.
 */
bool changepoint_drift(const double *x, int n, double theta, double *slowdown);

/**
 * Return whether the points from `since` on lie below `limit`: the level of the last 3, 5 or 8 of them, plus three standard
 * errors.
 */
bool changepoint_is_below(const double *x, int n, int since, double limit);

/** Return the mean of the newest points (8, or as many as exist), clipped like levels; NAN without any. */
double changepoint_level(const double *x, int n);

/**
 * Return whether the last five points all differ by more than CHANGEPOINT_FAR from `reference`, the reference commit's value in
 * this series.
 */
bool changepoint_is_far(const double *x, int n, double reference);

/*
 * ---- candidate ----
 * Steps of a series that are worth a direct comparison of two commits. Pure: no I/O, no clock, no state.
 *
 * changepoint.c finds two levels. A slope and drifting noise have them too, and a direct comparison confirms neither. A
 * candidate is a step that a slope explains worse; after each unconfirmed one its cell pauses, twice as long each time.
 */

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

/* ---- device_offset: Offset of a device's times within its class, from times of the same work. ---- */

/**
 * Compute each device's time relative to its class: the median over the cells that another device timed as well. The class time
 * is the median of its devices; with two, the faster one, since faults make a device slower. Shape: ln_ms[n_cells][n_devices],
 * NAN not timed; off[n_devices], NAN unknown. Units: log ratio of times.
 */
void device_offset_find(const double *ln_ms, int n_cells, int n_devices, double *off);

/*
 * ---- interim ----
 * Test whether the evidence of all runs is overwhelming, at a few fixed numbers of runs. Pure.
 *
 * An interim analysis takes all runs of a cell, of both sets, as one sample. With n runs of mean m, v is the moderated variance
 * of one,
 *
 *     v  = max((nu0 (s0^2 + q) + sum (d_i - m)^2) / (nu0 + n - 1), q)
 *     se = sqrt(v / n + placement^2 + se_slope^2 + se_clock^2)
 *
 * and a change is overwhelming if P(t > (m - theta) / se) lies below rule.p_interim, with nu0 + n - 1 degrees of freedom. s0 and
 * nu0 are rule.interim of the pairing; for modules without clocks tau0 and nu0; for a cell with learned noise, the learned
 * values. Each analysis may be wrong in p_interim of equal cells, so that six are wrong in 6e-6.
 *
 * That holds if runs are as noisy as expected: for modules with known clocks, and cells with learned noise. Others may be many
 * times as noisy on a busy machine, and few runs then agree by chance far more often: for them a plain t test of the runs, with
 * n - 1 degrees of freedom, must also show the change, with p_alone.
 */

/** Evidence of some runs: probabilities that chance shows at least this change if the true change equals the threshold. */
struct interim {
	double m, se, degrees;
	double p_slower, p_faster;
	double p_slower_alone, p_faster_alone; /* from these runs alone, without a prior */
};

/** Compute the evidence of n runs. None: every p is 1; one: those by runs alone. Shape: e[n]. */
void interim_estimate(const struct rule *r, double theta, const struct run_estimate *e, int n, struct interim *out);

/**
 * Return whether the evidence decides at once: after 2, 3, 4, 6, 8, 12, 16, 24 or 32 runs, for programs from the third on,
 * never before rule.runs_ok_min. Between two of these numbers the runs up to the lower one count; `is_over`: no further run
 * follows, and all count. A slowdown is DECISION_REGRESSION, a gain DECISION_IMPROVEMENT; for programs DECISION_OK if neither a
 * slowdown nor a gain beyond the threshold remains, by the same probability; else DECISION_MORE. stats_decide decides unchanged
 * modules.
 */
enum decision interim_decide(const struct rule *r, double theta, const struct run_estimate *e, int n, bool is_over);

/** Return the number of runs of the last analysis up to the n-th run; 0 none. */
int interim_last_analysis(int n);

/**
 * Return the final decision for runs of programs: DECISION_REGRESSION, DECISION_IMPROVEMENT or DECISION_OK by the 95 %
 * interval, DECISION_UNDECIDED if that contains the threshold, or with fewer runs than INTERIM_PROGRAMS_MIN. If the standard
 * error is above se_max, or with fewer than six runs, the plain t test must show a change with a probability of 1e-4, or
 * exclude a slowdown with one of 0.01.
 */
enum decision interim_last(const struct rule *r, double theta, const struct run_estimate *e, int n);

enum { INTERIM_PROGRAMS_MIN = 3 };

/* ---- median: Median of values. Pure. ---- */

/** Return the median of `v`, sorting it; for an even number the mean of the two middle values. Shape: v[n], 0 < n. */
double median_of(double *v, int n);

/*
 * ---- memory ----
 * Learned noise of a cell's runs against that of the current comparison: if they contradict each other, the current
 * runs count. Pure.
 */

/**
 * Return whether runs are as noisy as learned: `tau0` (log ratio) with `nu0` degrees of freedom. False if chance explains the
 * difference of the two variances less than once in a thousand (F test within sets, two-sided), whichever is larger. Too few
 * runs, or no learned noise, contradict nothing. Shape: e[n].
 */
bool memory_fits(double tau0, double nu0, const struct run_estimate *e, int n);

/** Return the rule of one cell for these runs: with its learned noise, or the general one if they contradict that. */
struct rule memory_rule(const struct rule *general, double tau0, double nu0, const struct run_estimate *e, int n);

/*
 * ---- rise ----
 * The range of points over which a series rose from one level to another, at once or gradually. Pure.
 *
 * The noise of one point equals the slowdown of a commit under drift, so a range between two points that differ enough would
 * depend on noise. This uses all points: those before the range are at one level, those after it at another.
 */

struct rise {
	int from, to; /* the last point before it, the first one after it */
	double step;  /* its rise: the level after minus the level before, or nearly all of that */
};

/**
 * Find the range with the least distance from the median of the points up to `from`, the median of those from `to` on, and
 * between them from a straight line or, if that is shorter by more than three times the noise plus one per point, from a
 * monotone fit: drift that paused. Its levels differ by at least `least`. A monotone fit is reduced to the commits with 85 % of
 * its rise, if they are at most half of them. Returns false if there is none. Shape: x[n], position[n] ascending; n <=
 * CHANGEPOINT_POINTS_MAX.
 */
bool rise_find(const double *x, const int64_t *position, int n, double least, struct rise *out);

/*
 * ---- tail ----
 * Slow calls, which a trimmed mean ignores. Pure.
 *
 * A call is slow if it takes 1.04 times its side's typical call of that run at equal clocks: at a power limit every tenth call
 * is that slow by its clock alone, and of 16,152 calls recorded on an H200 none was after removing the clock.
 */

struct tail_side {
	int slow;
	double longer, squares; /* excess over the typical call, as a share: sum, and sum of squares */
	double spread;          /* slow^2 / calls of each run, summed: shows whether they are evenly distributed */
};

enum tail_which { TAIL_BASE, TAIL_TARGET };

/** Of one set of runs of a cell, or of several together. */
struct tail {
	int runs, calls; /* calls of each side */
	struct tail_side side[2];
};

/** Count those of one run. `beta`: of the cell, from stats_runs. A run of fewer than four pairs has no typical call. */
void tail_count(struct tail *t, const struct run_pairs *run, double beta);
/** Runs of few long calls, which together have a typical one. Begin with a zeroed block for each set. */
enum { TAIL_BLOCK_PAIRS_MAX = 8 };
struct tail_block {
	int runs, n;
	bool first[TAIL_BLOCK_PAIRS_MAX]; /* call of its run */
	float base_ms[TAIL_BLOCK_PAIRS_MAX], target_ms[TAIL_BLOCK_PAIRS_MAX];
	float base_mhz[TAIL_BLOCK_PAIRS_MAX], target_mhz[TAIL_BLOCK_PAIRS_MAX]; /* 0: unknown */
};
/**
 * Count a run, or if it has fewer than four pairs, add it to `block`, which is counted and emptied once it has four. The typical
 * call is that of the block, because processes of modules differ by far less than a slow call; those of programs do not.
 */
void tail_count_in_block(struct tail *t, struct tail_block *block, const struct run_pairs *run, double beta);
void tail_pool(struct tail *t, const struct tail *other);

/** Return the share of a side's calls that are slow; 0 without calls. */
double tail_share(const struct tail *t, enum tail_which side);
/**
 * Return the variance of that share: by chance, or by its runs, with a weight that grows with their number. Above 0 even
 * without slow calls.
 */
double tail_share_variance(const struct tail *t, enum tail_which side);
/** Return the effect of slow calls on the mean: log ratio of target to base. */
double tail_cost(const struct tail *t);

/** Return the probability that side `more` has so many more slow calls by chance: Fisher, one-sided. */
double tail_p(const struct tail *t, enum tail_which more);
/** Return whether the difference is relevant: more than 5 points of share, or more than `theta` of the mean. */
bool tail_matters(const struct tail *t, enum tail_which more, double theta);

/* ---- transient: Warm-up of a process timed from its start: caches, clocks and pools. Pure. ---- */

/**
 * Return the median of the calls of one process after its warm-up: while the first half of the rest differs from the second by
 * more than their noise, a quarter of it is cut; at least half of all calls stay. Fewer than 8 calls all count. Shape: ms[n] in
 * the order of the calls, n >= 1. `cut`: number of cut calls; may be NULL.
 */
double transient_median(const double *ms, int n, int *cut);

#endif
