/**
 * alone.h - comparison of both sides' times alone with their times in pairs.
 *
 * A target that shares a process with its base can slow the base down, from a thread, a signal or another process, and so look
 * faster or hide a regression. The check of each side, where no other module is loaded, times a call alone (stored with its
 * outcome). If the base is slower next to the target by far more than that explains, both sides run alone, in turns A B B A, on
 * the machine as it is now. If all turns contradict the pairs by more than the errors of both, the cell is rejected ("slowed").
 * On a busy machine the errors are large, and no side is accused.
 */
#ifndef WORKER_ALONE_H
#define WORKER_ALONE_H

#include "worker/bench.h"

enum alone_word { ALONE_SAME, ALONE_MORE, ALONE_SLOWED };
enum { ALONE_INTERLEAVE = 6 };

/** Times of one turn: each side alone, and both as a pair. Shape: by enum bench_side. */
struct alone_turn {
	struct bench_alone alone[BENCH_OUTSIDE], beside[BENCH_OUTSIDE];
};

/**
 * Return ln of (target alone / base alone) / (ratio of the pairs): how much slower the target is alone. Takes the lower of time
 * and, where all clocks are known, cycles: a clock that differs between processes changes only one of them.
 */
double alone_excess(const struct bench_alone *base, const struct bench_alone *target, const struct estimate *pairs);
/** Return the same for one turn; without clocks, the lower of that and the excess over the turn's own pairs. Pure. */
double alone_turn_excess(const struct alone_turn *t, const struct estimate *pairs);
/** Return whether the times of both checks justify runs alone. Pure. */
bool alone_suspects(const struct bench_alone *base, const struct bench_alone *target, const struct estimate *pairs);
/** Classify the excess of `n` turns over pairs with standard error `se`; one agreeing turn is ALONE_SAME. Shape: turn[n]. */
enum alone_word alone_judge(const double *turn, int n, double se);

/** Test every timed cell; a slowed base is a fault of the target. Does nothing on sim or for equal modules. */
int alone_run(struct bench *b, struct fw_err *err);

#endif
