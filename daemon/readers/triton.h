/** triton.h - CSV of triton.testing; called by reading_parse. */
#ifndef READERS_TRITON_H
#define READERS_TRITON_H

#include "readers/row.h"

/**
 * Read the output of perf_report: columns of x values, then one column a line. The newer "Triton (TFLOPS)" contains its unit,
 * and a contradicting `unit` is refused. For older files `unit` is required, and results begin at the column that a name or a
 * fraction shows, or in which this file and the other one differ in the same row; an ambiguous column of whole numbers requires
 * `results`. Other columns, and cells without a time, are left out with notes.
 */
reading_fn read_triton;

#endif
