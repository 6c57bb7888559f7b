/** ncu.h - times and other metrics of kernels in an export of `ncu --csv`; called by reading_parse. */
#ifndef READERS_NCU_H
#define READERS_NCU_H

#include "readers/row.h"

/**
 * Read a row for each kernel by its name without parameters; each launch is a time. If launches of one kernel differ in grid,
 * block, device, context or program, here or in the other file, the row's name includes that: "gemm/grid=16". `how` selects
 * metrics and launches.
 */
reading_fn read_ncu;

#endif
