/** triton.h - the CSV of triton.testing; called through reading_parse. */
#ifndef CORE_READING_TRITON_H
#define CORE_READING_TRITON_H

#include "core/reading/row.h"

/**
 * What perf_report writes: columns of x values, then one column a line. The newer "Triton (TFLOPS)" says its unit; in
 * older files `unit` must, and the leading columns of whole numbers (at least the first) are x. Cells without a number are left out.
 */
reading_fn read_triton;

#endif
