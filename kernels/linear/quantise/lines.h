/**
 * lines.h - the pass that quantise.cu shares with lines.cu.
 */
#ifndef LINEAR_QUANTISE_LINES_H
#define LINEAR_QUANTISE_LINES_H

#include "quantise.h"

/** partial[i] = the largest magnitude of a part of the source. Returns the number of parts; check cudaGetLastError. */
int quantise_largest_of_all(const struct quantise_source *, float *partial, void *stream);

#endif
