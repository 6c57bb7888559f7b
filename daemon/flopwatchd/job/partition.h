/** partition.h - the partition of a plan's cells over several devices, and the plan of each part. */
#ifndef FLOPWATCHD_JOB_PARTITION_H
#define FLOPWATCHD_JOB_PARTITION_H

#include "flopwatchd/job/plan.h"

enum { PLAN_PARTS_MAX = 8 };

/** Make a plan for some cells of `whole`, under its rule. Shape: cell[n], indices there. Own: plan_fini. Err: no memory. */
int plan_part(const struct plan *whole, const int *cell, int n, struct plan *out, struct fw_err *err);
/** Partition cells over `n_parts` devices with about equal FLOPs. Shape: part_of[n_cells]. Err: no memory. */
int plan_partition(const struct plan *whole, int n_parts, int *part_of, struct fw_err *err);

#endif
