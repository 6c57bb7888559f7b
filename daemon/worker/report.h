/** report.h - a finished bench as tables for people, or as the JSON of the API's comparisons. */
#ifndef WORKER_REPORT_H
#define WORKER_REPORT_H

#include <stdio.h>

#include "worker/bench/bench.h"

/** The comparison's word: the first in verdict order that any cell has. */
enum verdict report_verdict(const struct bench *b);
/** Tables (dense, block-sparse), a summary line, then a warning for every cell beyond its threshold or without a result. */
int report_text(const struct bench *b, const char *suite, FILE *out);
/** One JSON object and LF. */
int report_json(const struct bench *b, const char *suite, FILE *out);

#endif
