/**
 * compare_alone.h - `flopwatch-worker compare`: two modules on the command line, no daemon; check, measure, judge, print.
 */
#ifndef WORKER_COMPARE_ALONE_H
#define WORKER_COMPARE_ALONE_H

#include <stdbool.h>

#include "base/err.h"
#include "worker/box/sandbox.h"

struct compare_alone_options {
	const char *suite, *base, *target;           /* files */
	const char *provider_base, *provider_target; /* "" the module's default */
	const char *config_base, *config_target;     /* handed to the provider's plan of every cell; "" it chooses */
	const char *device;                          /* "auto" */
	const char *cells;                           /* glob, NULL all */
	bool quick, json;
	double budget_s; /* 0: the suite's */
	enum sandbox_want sandbox;
	int n_shown; /* folders that the modules may read */
	const char *const *shown;
};

/**
 * Run and print. Returns the exit status: 0 no regression, 3 regression, 7 undecided or nothing to compare, 1 a side is broken or could not be measured;
 * -1 with `err` when nothing was measured.
 */
int compare_alone_run(const struct compare_alone_options *o, struct fw_err *err);

#endif
