/**
 * peer_ratio.h - speed in percent of a peer's: measured side by side, through a base that both were measured with, or at
 * different times.
 */
#ifndef VERDICT_PEER_RATIO_H
#define VERDICT_PEER_RATIO_H

/** Speed in percent of another's, with the ends of a 95 % interval; NAN unknown. */
struct peer_ratio {
	double pct, ci_low_pct, ci_high_pct;
};

/** A measured pair: m the log ratio of times (of the target to the base), and the interval of the change in throughput. */
struct peer_ratio_pair {
	double m, ci_low_pct, ci_high_pct; /* NAN: none */
};

/** Compute it for a target timed with the peer: `beside` has the peer as its base. */
struct peer_ratio peer_ratio_paired(const struct peer_ratio_pair *beside);

/**
 * Compute it for a target timed with `base`, which was timed with the peer: the log ratios add up. They come from different
 * runs, so the half-widths add up in squares.
 */
struct peer_ratio peer_ratio_chained(const struct peer_ratio_pair *base, const struct peer_ratio_pair *target);

/** Compute it from two separate times, without an interval. Units: ms, both at the same clock if known. */
struct peer_ratio peer_ratio_scaled(double peer_ms, double target_ms);

/**
 * Return the time at another clock, as far as the clock explains a cell's times (`beta`). NAN: a clock is unknown. Units: ms,
 * MHz.
 */
double peer_ratio_at_clock(double ms, double beta, double mhz, double held_mhz);

#endif
