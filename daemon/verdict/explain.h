/** explain.h - explanation of a change's size, shared by page, command line and API. Pure. */
#ifndef VERDICT_EXPLAIN_H
#define VERDICT_EXPLAIN_H

enum { EXPLAIN_SIZE = 160 };

/**
 * Write the two parts of a change in wall time: "the code -7.10 %, a clock 0.80 % higher gives some back". Units: percent of
 * throughput; the code's part at equal clocks, and the points that the clock adds. Shape: out[EXPLAIN_SIZE].
 */
void explain_parts(double code_pct, double clock_pct, char out[EXPLAIN_SIZE]);

/**
 * Write why a change is undecided, by its interval: inside the threshold, beyond it or across it. "" if the interval is
 * unknown. Units: percent of throughput; the threshold is a loss, above 0. Shape: out[EXPLAIN_SIZE].
 */
void explain_undecided(double low_pct, double high_pct, double threshold_pct, char out[EXPLAIN_SIZE]);

/** One side in sustained runs. Units: ms a call, MHz, J a call; 0 or NAN: unknown. */
struct sustained_level {
	double ms, mhz, joules;
};

/**
 * Write the stable clock of each side at its own power draw: "the clock settles at 1420 MHz instead of 1620, at equal power
 * (690 W)". "" if clocks are unknown or differ by less than 0.5 %.
 */
void explain_sustained_runs(const struct sustained_level *base, const struct sustained_level *target, char out[EXPLAIN_SIZE]);

/**
 * Write the noise of an underpowered cell: "runs of equal builds vary by 6.20 % here, as 20 of them showed, so a loss below 9.3
 * % has to be clear". Units: percent; `seen` degrees of freedom, 0 or NAN unknown, as is a noise of NAN.
 */
void explain_underpowered(double noise_pct, double seen, double below_pct, char out[EXPLAIN_SIZE]);

/**
 * Write the share of slow calls and their excess: "1 call in 10 takes 25 % longer", with the other side's share unless far
 * smaller; for a gain "1 call in 10 took 25 % longer". "" without slow calls. Shape: share[2] of base and target. Units:
 * shares; `longer` than the typical call, on the side with more of them.
 */
void explain_slow_calls(const double share[2], double longer, char out[EXPLAIN_SIZE]);

#endif
