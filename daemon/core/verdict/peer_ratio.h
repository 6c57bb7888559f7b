/**
 * peer_ratio.h - how fast something is in percent of a peer's speed, from what was measured: side by side, over a base that both
 * were measured beside, or at another time.
 */
#ifndef CORE_VERDICT_PEER_RATIO_H
#define CORE_VERDICT_PEER_RATIO_H

/** Speed in percent of another's, with the ends of a 95 % interval; NAN unknown. */
struct peer_ratio {
	double pct, ci_low_pct, ci_high_pct;
};

/** A measured pair: m the log ratio of times (of the target to the base), and the interval of the change in throughput. */
struct peer_ratio_pair {
	double m, ci_low_pct, ci_high_pct; /* NAN: none */
};

/** Of a target that was timed beside the peer: `beside` has the peer as its base. */
struct peer_ratio peer_ratio_paired(const struct peer_ratio_pair *beside);

/**
 * Of a target that was timed beside `base`, which was timed beside the peer: the log ratios add up, and as they come from different
 * runs, the half-widths of their intervals as the root of the sum of squares.
 */
struct peer_ratio peer_ratio_chained(const struct peer_ratio_pair *base, const struct peer_ratio_pair *target);

/** From two times that were not taken side by side: no interval. Units: ms, both at the same clock where there is one. */
struct peer_ratio peer_ratio_scaled(double peer_ms, double target_ms);

/** Time at another clock, as far as the clock explains a cell's times (`beta`). NAN: a clock is not known. Units: ms, MHz. */
double peer_ratio_at_clock(double ms, double beta, double mhz, double held_mhz);

#endif
