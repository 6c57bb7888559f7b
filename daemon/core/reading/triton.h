/** triton.h - the CSV of triton.testing; called through reading_parse. */
#ifndef CORE_READING_TRITON_H
#define CORE_READING_TRITON_H

#include "core/reading/row.h"

/**
 * What perf_report writes: columns of x values, then one column a line. The newer "Triton (TFLOPS)" says its unit, and a `unit` that contradicts it
 * is refused. In older files `unit` must be given, and the columns of results begin where a name or a fraction says it, or where this file and the
 * one beside it differ in the same row; a column of whole numbers of which nothing says what it is, is asked for (`results`). Columns that
 * are neither are left out, and so is a cell without a time; both are said.
 */
reading_fn read_triton;

#endif
