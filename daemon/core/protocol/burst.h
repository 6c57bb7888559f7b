/**
 * burst.h - bursts of base and target, A B or A B B A: how long one takes, whose is which, and which of its calls a record gets.
 *
 * A GPU at its power limit swings around the clock that it settles at once in a second, by a tenth at first and still by a hundredth ten
 * seconds later (tests/data/gpu/h100-2026-11-26-settle.txt): a burst takes one swing, and its calls are spread evenly over it.
 */
#ifndef CORE_PROTOCOL_BURST_H
#define CORE_PROTOCOL_BURST_H

#define BURST_S         1.0
#define BURST_SETTLES_S 0.2 /* of that, before calls count */

enum { BURSTS_MAX = 4, BURST_KEPT_MAX = 32 };

/** Calls of one burst, spread evenly over it, in order. Units: ms, MHz. */
struct burst_calls {
	int kept;
	float ms[BURST_KEPT_MAX], mhz[BURST_KEPT_MAX];
};

/** What a record has of one side: of its first burst, then of its second. */
struct burst_side {
	float ms[2 * BURST_KEPT_MAX], mhz[2 * BURST_KEPT_MAX];
};

/** The side, 0 or 1, whose burst is `i`-th where side `first` begins: A B, and in a second round B A. */
int burst_side_of(int first, int i);
/** Equally many calls of each burst, still spread evenly. Returns how many a side has. Shape: b[2 * rounds], side[2]. */
int burst_gather(const struct burst_calls *b, int rounds, int first, struct burst_side *side);
/** The letters of a record of `n` calls a side, A for side 0. Shape: order[2 * n + 1]. */
void burst_order(int n, int rounds, int first, char *order);

#endif
