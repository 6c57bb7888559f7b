/** two_modules.h - arguments of `compare` and `profile`: a suite's cells, and two shared objects. */
#ifndef WORKER_TWO_MODULES_H
#define WORKER_TWO_MODULES_H

#include "model/suite.h"
#include "worker/bench.h"
#include "worker/sandbox/sandbox.h"

struct two_modules_options {
	const char *suite, *base, *target;           /* files */
	const char *provider_base, *provider_target; /* "" the module's default */
	const char *config_base, *config_target;     /* passed to the provider's plan of every cell; "" it chooses */
	const char *device;                          /* "auto" */
	const char *cells;                           /* glob, NULL all */
	bool quick, json;
	double budget_s; /* 0: the suite's */
	enum sandbox_want sandbox;
	int n_shown; /* folders that the modules may read */
	const char *const *shown;
};

typedef int two_modules_fn(const struct two_modules_options *o, const struct suite *suite, const struct sandbox *sandbox,
	const struct msg_device *device, void *arg, struct fw_err *err);

/**
 * Read the suite (its cells that match the glob), open the sandbox, find the device, and call `run` with them. Returns the
 * result of `run`. Err: ERR_INVALID no cell matches; the sandbox's, the device's.
 */
int two_modules_run(const struct two_modules_options *o, two_modules_fn *run, void *arg, struct fw_err *err);
/** Add both modules, with their configurations, to a bench that is otherwise complete. */
int two_modules_add(struct bench *b, const struct two_modules_options *o, struct fw_err *err);

#endif
