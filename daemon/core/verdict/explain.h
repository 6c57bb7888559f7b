/**
 * explain.h - why a change is as large as it is, in words that page, command line and API share. Pure.
 */
#ifndef CORE_VERDICT_EXPLAIN_H
#define CORE_VERDICT_EXPLAIN_H

enum { EXPLAIN_SIZE = 160 };

/**
 * The two parts of a change in wall time: "the code -7.10 %, a clock 0.80 % higher gives some back".
 * Units: percent of throughput; what the code does at equal clocks, and the points that the clock adds. Shape: out[EXPLAIN_SIZE].
 */
void explain_parts(double code_pct, double clock_pct, char out[EXPLAIN_SIZE]);

/**
 * What an undecided change lacks, by where its interval lies: inside the threshold, beyond it or across it. "" where the interval is not
 * known. Units: percent of throughput; the threshold is a loss, above 0. Shape: out[EXPLAIN_SIZE].
 */
void explain_undecided(double low_pct, double high_pct, double threshold_pct, char out[EXPLAIN_SIZE]);

/** One side in sustained runs. Units: ms a call, MHz, J a call; 0 or NAN: not known. */
struct sustained_side {
	double ms, mhz, joules;
};

/**
 * What each side settles at under its own power draw: "the clock settles at 1420 MHz instead of 1620, at equal power (690 W)". "" where
 * clocks are not known or lie within 0.5 % of each other.
 */
void explain_sustained_runs(const struct sustained_side *base, const struct sustained_side *target, char out[EXPLAIN_SIZE]);

/**
 * What is remembered of an underpowered cell: "runs of equal builds vary by 6.20 % here, as 20 of them showed, so a loss below 9.3 % has to be
 * clear". Units: percent; `seen` degrees of freedom, 0 or NAN unknown, as is a noise of NAN.
 */
void explain_underpowered(double noise_pct, double seen, double below_pct, char out[EXPLAIN_SIZE]);

/**
 * How many calls are slow, and by how much: "1 call in 10 takes 25 % longer", with what the other side did where that is not far less; of a
 * gain "1 call in 10 took 25 % longer". "" where none is. Shape: share[2] of base and target. Units: shares; `longer` than the typical call, on
 * the side that has more of them.
 */
void explain_slow_calls(const double share[2], double longer, char out[EXPLAIN_SIZE]);

#endif
