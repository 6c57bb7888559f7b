/** report.h - a finished bench as text, or as the JSON of the API's comparisons. */
#ifndef WORKER_REPORT_H
#define WORKER_REPORT_H

#include <stdio.h>

#include "worker/bench.h"

/** Return the comparison's verdict: the first in verdict order among its cells. */
enum verdict report_verdict(const struct bench *b);
/** Print tables (dense, block-sparse), a summary line, and warnings for cells beyond their threshold or without result. */
int report_text(const struct bench *b, const char *suite, FILE *out);
int report_json(const struct bench *b, const char *suite, FILE *out);

#endif
