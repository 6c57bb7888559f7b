/**
 * leftover.h - what a module leaves behind in the process that it shares: device limits, persisting cache, rounding, threads,
 * memory. Each is named with its module in a `note` record and, where that is possible, set back before the next one runs.
 */
#ifndef RUNNER_LEFTOVER_H
#define RUNNER_LEFTOVER_H

#include "runner/runner.h"

/** Before code of one module runs alone. */
void leftover_enter(struct runner *r);
/**
 * After it: name what it changed. Memory is only counted, since a plan rightly holds some, until `end` says that nothing of the
 * subject should be left. `i` is a place in run->cell, -1 none.
 */
void leftover_leave(struct runner *r, int i, const struct subject *subject, bool end);

#endif
