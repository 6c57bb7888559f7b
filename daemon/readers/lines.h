/** lines.h - flopwatch's own format, JSON lines; called by reading_parse. */
#ifndef READERS_LINES_H
#define READERS_LINES_H

#include "readers/row.h"

/**
 * Read one row a line: {"cell":"name","ms":[1.02,1.03]} with `ms`, `us`, `ns` or `s` as number or list, and optional `tflops`,
 * or `error` with a message; or the lines of `make gpu-bench`: {"bench","peer","cell","value","unit"}, of which those in a unit
 * of time or a rate are rows. Two lines of one name are two rows; a list holds repetitions. A line without a time is left out.
 * Texts like `device`, `host`, `compiler` and `build` become conditions (reading_report).
 */
reading_fn read_lines;

#endif
