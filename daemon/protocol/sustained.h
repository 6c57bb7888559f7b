/**
 * sustained.h - sustained runs of base and target, A B or A B B A: their length, their order, and the calls that a record
 * contains.
 *
 * A GPU at its power limit oscillates around its stable clock with a period of a second, by a tenth at first and by a hundredth
 * ten seconds later (tests/data/gpu/h100-2026-11-26-settle.txt): a sustained run takes one period, and its recorded calls are
 * spread evenly over it.
 */
#ifndef PROTOCOL_SUSTAINED_H
#define PROTOCOL_SUSTAINED_H

#define SUSTAINED_S         1.0
#define SUSTAINED_SETTLES_S 0.2 /* of that, before calls count */

enum { SUSTAINED_RUNS_MAX = 4, SUSTAINED_KEPT_MAX = 32 };

/** Calls of one sustained run, spread evenly over it, in order. Units: ms, MHz. */
struct sustained_calls {
	int kept;
	float ms[SUSTAINED_KEPT_MAX], mhz[SUSTAINED_KEPT_MAX];
};

/** Recorded calls of one side: of its first sustained run, then of its second. */
struct sustained_side {
	float ms[2 * SUSTAINED_KEPT_MAX], mhz[2 * SUSTAINED_KEPT_MAX];
};

/** Return the side, 0 or 1, of sustained run `i` if side `first` begins: A B, and in a second round B A. */
int sustained_side_of(int first, int i);
/**
 * Take equally many calls of each sustained run, spread evenly. Returns the number of a side. Shape: b[2 * rounds], side[2].
 */
int sustained_gather(const struct sustained_calls *b, int rounds, int first, struct sustained_side *side);
/** Write the letters of a record of `n` calls a side, A for side 0. Shape: order[2 * n + 1]. */
void sustained_order(int n, int rounds, int first, char *order);

#endif
