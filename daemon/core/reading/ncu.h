/** ncu.h - times and other figures of kernels in an export of `ncu --csv`; called through reading_parse. */
#ifndef CORE_READING_NCU_H
#define CORE_READING_NCU_H

#include "core/reading/row.h"

/**
 * A row for each kernel by its name without its parameters; each of its launches is a time. Where launches of one kernel differ in grid, block,
 * device, context or program, here or in the file beside this one, the row is named by that as well: "gemm/grid=16". `how` chooses metrics and launches.
 */
reading_fn read_ncu;

#endif
