/**
 * serve.h - one job over standard input and output: hello, job, trees, builds, checks, runs, done.
 *
 * When serve_run returns, for any reason (done, cancel, end of input, an invalid line), all started processes have ended and
 * the work folder is removed.
 */
#ifndef WORKER_SERVE_H
#define WORKER_SERVE_H

#include "lib/err.h"
#include "worker/sandbox/sandbox.h"

struct serve_options {
	const char *cache;  /* NULL: the default path */
	const char *device; /* "auto" "cuda" "cpu" "sim" */
	enum sandbox_want sandbox;
	bool build_only;       /* a job ends with its builds; no device is used */
	int build_jobs;        /* concurrent builds in this cache; at least 1 */
	const char *tools_dir; /* folder of compilers that precede the system's; "" none */
	int n_shown;           /* folders that branch code may read */
	const char *shown[READONLY_MAX];
};

/** Serve one job. Returns 0 when it was done or cancelled, -1 with `err` otherwise. */
int serve_run(const struct serve_options *o, int in, int out, struct fw_err *err);
int serve_probe(const struct serve_options *o, int out, struct fw_err *err);

#endif
