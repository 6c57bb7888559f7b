/** capture.h - mode capture: calls of one cell between cudaProfilerStart and cudaProfilerStop, for ncu and nsys. */
#ifndef RUNNER_CAPTURE_H
#define RUNNER_CAPTURE_H

#include "protocol/protocol.h"

/** Arguments of `flopwatch-runner --capture`. */
struct capture_options {
	const char *cell; /* key of a cell of the suite, or a cell as JSON, which needs no suite */
	const char *module, *suite, *device, *provider;
	const char *config; /* passed to the provider; "" it chooses */
	int calls, warmup;
};

/**
 * Make the calls and print one line on stdout, without times under a profiler. Returns the exit status; errors are one line on
 * stderr.
 */
int mode_capture_run(const struct capture_options *o);

#endif
