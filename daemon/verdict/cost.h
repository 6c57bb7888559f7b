/** cost.h - results of a comparison other than time, as a sentence. */
#ifndef VERDICT_COST_H
#define VERDICT_COST_H

#include <stddef.h>

/**
 * Format "a call launches more kernels in 2 cells, at most 3 instead of 2". `what` is the name in API and database, printed
 * itself if unknown; `base` and `target` are of the cell with the largest growth. Shape: out[size].
 */
void cost_text(const char *what, size_t n_cells, double base, double target, char *out, size_t size);

#endif
