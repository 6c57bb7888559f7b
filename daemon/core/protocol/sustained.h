/**
 * sustained.h - sustained runs of base and target, A B or A B B A: how long one takes, whose is which, and which of its calls a record gets.
 *
 * A GPU at its power limit swings around the clock that it settles at once in a second, by a tenth at first and still by a hundredth ten
 * seconds later (tests/data/gpu/h100-2026-11-26-settle.txt): a sustained run takes one swing, and its calls are spread evenly over it.
 */
#ifndef CORE_PROTOCOL_SUSTAINED_H
#define CORE_PROTOCOL_SUSTAINED_H

#define SUSTAINED_S         1.0
#define SUSTAINED_SETTLES_S 0.2 /* of that, before calls count */

enum { SUSTAINED_RUNS_MAX = 4, SUSTAINED_KEPT_MAX = 32 };

/** Calls of one sustained run, spread evenly over it, in order. Units: ms, MHz. */
struct sustained_calls {
	int kept;
	float ms[SUSTAINED_KEPT_MAX], mhz[SUSTAINED_KEPT_MAX];
};

/** What a record has of one side: of its first sustained run, then of its second. */
struct sustained_side {
	float ms[2 * SUSTAINED_KEPT_MAX], mhz[2 * SUSTAINED_KEPT_MAX];
};

/** The side, 0 or 1, whose sustained run is `i`-th where side `first` begins: A B, and in a second round B A. */
int sustained_side_of(int first, int i);
/** Equally many calls of each sustained run, still spread evenly. Returns how many a side has. Shape: b[2 * rounds], side[2]. */
int sustained_gather(const struct sustained_calls *b, int rounds, int first, struct sustained_side *side);
/** The letters of a record of `n` calls a side, A for side 0. Shape: order[2 * n + 1]. */
void sustained_order(int n, int rounds, int first, char *order);

#endif
