/** counters.h - `flopwatch-runner --counters`: can a device's counters be read here, and if not, what is to be changed? */
#ifndef RUNNER_MODE_COUNTERS_H
#define RUNNER_MODE_COUNTERS_H

#include "runner/device/device.h"

/** Count one thing in one small kernel of our own. `out` gets the path "range" or "code", why, and the tool. */
void counters_try(const struct device_ops *ops, struct device *dev, struct msg_profile *out);

/** The same for a device by its name, or the first with a context of its own (NULL): one `profile` line on stdout. Returns the exit status. */
int mode_counters_run(const char *device);

#endif
