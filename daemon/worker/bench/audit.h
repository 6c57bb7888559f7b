/**
 * audit.h - results that are too good are measured again by a clock outside the process that branch code runs in.
 *
 * Whoever is loaded into the runner can forge its clock; nobody there can reach this one. The runner makes K and 3K calls of
 * either side when it is told to, five pairs, and the time between go and done is taken here; audit_belief.h says what follows.
 * A busy machine can fail that by chance, a forged clock always does: it is tried AUDIT_TRIES times, with a run before each try
 * but the first. Those count as any other, so that a gain that a machine had only while it was idle is none any more, and who is
 * accused claimed it all the time.
 */
#ifndef WORKER_BENCH_AUDIT_H
#define WORKER_BENCH_AUDIT_H

#include "worker/bench/audit_belief.h"
#include "worker/bench/bench.h"

/** Improvements from this on are audited. */
#define AUDIT_CHANGE_PCT 20.0

/**
 * Audit every cell whose improvement is large enough. What is contradicted becomes a fault of the target, class "clock"; what is
 * neither borne out nor contradicted is "unsure", and nobody's. Nothing on sim.
 */
int audit_run(struct bench *b, struct fw_err *err);

#endif
