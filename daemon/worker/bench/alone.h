/**
 * alone.h - does the target stand to its base as it does when each of them is alone?
 *
 * Whoever is loaded beside the base can slow it down, from a thread, by a signal, in another process, and so look faster than it
 * is, or hide a loss. Each side's check, where no other module is loaded, tells how long a call takes (kept with its outcome).
 * Where the base loses far more beside the target than that explains, both sides are launched alone, in turns A B B A, now, on the
 * machine as it is. If all of those contradict the pairs, by more than either's errors, the cell is rejected ("slowed"). On a busy
 * machine errors are large, and nobody is accused.
 */
#ifndef WORKER_BENCH_ALONE_H
#define WORKER_BENCH_ALONE_H

#include "worker/bench/bench.h"

enum alone_word { ALONE_SAME, ALONE_MORE, ALONE_SLOWED };
enum { ALONE_INTERLEAVE = 6 };

/** Runs of now: a side by itself, and both as they are paired. Shape: by enum bench_side. */
struct alone_turn {
	struct bench_alone alone[BENCH_OUTSIDE], beside[BENCH_OUTSIDE];
};

/**
 * How much slower the target is, alone beside its base alone, than the pairs have it: ln of both ratios' ratio. By time and, where
 * all clocks are known, by cycles, the lower of both: a clock that differs between processes moves one of them only.
 */
double alone_excess(const struct bench_alone *base, const struct bench_alone *target, const struct estimate *pairs);
/** The same of a turn; without clocks the lower of that and of what the turn's own pairs have. Pure. */
double alone_turn_excess(const struct alone_turn *t, const struct estimate *pairs);
/** Whether what both checks say is worth runs. Pure. */
bool alone_suspects(const struct bench_alone *base, const struct bench_alone *target, const struct estimate *pairs);
/** What the excess in `n` turns says of pairs with standard error `se`: ALONE_SAME as soon as one agrees. Pure. Shape: turn[n]. */
enum alone_word alone_judge(const double *turn, int n, double se);

/** Look at every timed cell; where the base was slowed that is a fault of the target. Nothing on sim, or of equal modules. */
int alone_run(struct bench *b, struct fw_err *err);

#endif
