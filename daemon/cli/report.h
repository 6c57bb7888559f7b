/** report.h - a comparison on a terminal. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <jansson.h>
#include <stdio.h>

/**
 * Print a comparison (the API's body): head line, one table a group and direction, then a warning for every cell whose loss is
 * beyond its threshold or that has no verdict. Absent numbers are dashes.
 */
void report_comparison(const json_t *comparison, FILE *out);

#endif
