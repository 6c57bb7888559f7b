/** report.h - a trial as lines for people, or as JSON. */
#ifndef CLI_TRIAL_REPORT_H
#define CLI_TRIAL_REPORT_H

#include <jansson.h>

#include "cli/hint.h"

/** One trial, of a suite or of a benchmark. */
struct report {
	const char *name; /* of the suite or benchmark */
	const struct tree *tree;
	const struct outcome *outcome;
	const struct benchmark *run; /* NULL: modules */
	const struct rule *rule;
	double budget_s;
	const struct hints *hints;
};

/** What a comparison of two such commits would hold the device for. Units: s; `most` is never above the budget. False: nothing was timed. */
bool report_cost(const struct report *r, double *least, double *most);
void report_print(const struct report *r, bool is_quiet, FILE *out);
/** Own: json_decref. */
json_t *report_json(const struct report *r);

#endif
