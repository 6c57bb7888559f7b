/**
 * audit.h - repeated measurement of large gains by a clock outside the runner process.
 *
 * Branch code in the runner can forge the clock there, but not the worker's clock. On each go the runner makes K or 3K calls of
 * one side, five pairs in all; the worker takes the time between go and done. audit_belief.h judges the times. A busy machine
 * can fail an audit by chance, a forged clock always fails: there are up to AUDIT_TRIES attempts, with a run before each but
 * the first. These runs count as any other, so a gain that existed only while the machine was idle disappears.
 */
#ifndef WORKER_AUDIT_H
#define WORKER_AUDIT_H

#include "worker/audit_belief.h"
#include "worker/bench.h"

/** Improvements from this size on are audited. */
#define AUDIT_CHANGE_PCT 20.0

/**
 * Audit every cell with a large enough improvement. A contradicted gain becomes a fault of the target, class "clock"; a gain
 * neither confirmed nor contradicted becomes "unsure", a fault of no side. Does nothing on sim.
 */
int audit_run(struct bench *b, struct fw_err *err);

#endif
