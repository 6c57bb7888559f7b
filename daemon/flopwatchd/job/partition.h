/** partition.h - the cells of a plan dealt to several devices, and the plan of each. */
#ifndef FLOPWATCHD_JOB_PARTITION_H
#define FLOPWATCHD_JOB_PARTITION_H

#include "flopwatchd/job/plan.h"

enum { PLAN_PARTS_MAX = 8 };

/** A plan for some cells of `whole`, under its rule. Shape: cell[n] positions there. Own: plan_fini. Err: no memory. */
int plan_part(const struct plan *whole, const int *cell, int n, struct plan *out, struct fw_err *err);
/**
 * Deal the cells of a plan to `n_parts` devices, so that each has about as much to do as far as the FLOPs of a
 * call tell it. Shape: part_of[n_cells]. Err: no memory.
 */
int plan_partition(const struct plan *whole, int n_parts, int *part_of, struct fw_err *err);

#endif
