/** counters.h - `flopwatch-runner --counters`: test whether a device's counters can be read, and name the remedy if not. */
#ifndef RUNNER_COUNTERS_H
#define RUNNER_COUNTERS_H

#include "runner/device.h"

/** Count one metric in one small kernel of ours. `out` receives the path "range" or "code", the reason, and the tool. */
void counters_try(const struct device_ops *ops, struct device *dev, struct msg_profile *out);

/**
 * Do the same for a named device, or the first with a context (NULL), and print one `profile` line. Returns the exit status.
 */
int mode_counters_run(const char *device);

#endif
