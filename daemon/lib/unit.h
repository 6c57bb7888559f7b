/** unit.h - display of rates and times: one unit for a whole table, and no number that rounds to 0. Pure. */
#ifndef LIB_UNIT_H
#define LIB_UNIT_H

enum { UNIT_FIGURE_SIZE = 32 };

struct unit {
	const char *name; /* "GFLOP/s" */
	double factor;    /* of TFLOP/s */
};

/**
 * Return TFLOP/s, GFLOP/s, MFLOP/s or kFLOP/s: the first in which the largest rate of a table is at least 1. `most_tflops` NAN
 * or 0: TFLOP/s.
 */
struct unit unit_of_rates(double most_tflops);
/** Return the larger of two rates; either may be NAN. */
double unit_more(double a, double b);

/**
 * Format a rate in its unit with at least three significant digits, from 10 on with one decimal. Shape: out[UNIT_FIGURE_SIZE].
 * "" if not finite.
 */
void unit_rate(struct unit unit, double tflops, char *out);
/** Format a time with at least four. Units: ms. */
void unit_ms(double ms, char *out);

#endif
