/** cost.h - what a comparison tells beside time, as a sentence for people. */
#ifndef CORE_VERDICT_COST_H
#define CORE_VERDICT_COST_H

#include <stddef.h>

/**
 * "a call launches more kernels in 2 cells, at most 3 instead of 2". `what` is the name by which API and database know it, and stands
 * itself where it is another; `base` and `target` are of the cell where it grew most. Shape: out[size].
 */
void cost_text(const char *what, size_t n_cells, double base, double target, char *out, size_t size);

#endif
