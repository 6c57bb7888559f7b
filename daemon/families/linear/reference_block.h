/**
 * block.h - a transformer block in fp64, at a few tokens of a large one, at all of a small one.
 *
 * Every value has the variance of what an honest kernel makes of it: roundings to bf16 where it may round, and of fp8 values that go to a
 * neighbour because of them. What a result may be off by is six standard deviations, and its own rounding. That is more than a recipe
 * changes where values go to neighbours, so all results together must lie nearer to what the recipe gives than to what bf16 does.
 */
#ifndef FAMILIES_LINEAR_REFERENCE_BLOCK_H
#define FAMILIES_LINEAR_REFERENCE_BLOCK_H

#include "runner/values.h"

/** As values_fn; of cells of model transformer_block. */
int block_compute(const struct check_io *io, uint64_t seed, double visits, struct values *out, struct fw_err *err);

#endif
