/** meter.h - power from the driver's energy counter, which moves in coarse steps: between the first and the last step. */
#ifndef RUNNER_METER_H
#define RUNNER_METER_H

#include "runner/runner.h"

/** Observed steps of the counter. Initialise with METER_NEW. */
struct meter {
	double read_us, last_j, first_us, first_j, end_us, end_j;
	int steps;
};

#define METER_NEW                                                                                                                \
	{                                                                                                                        \
		.last_j = -1                                                                                                     \
	}

/** Read the counter, unless it was just read or the device has none. */
void meter_read(struct meter *m, const struct device_ops *ops, struct device *dev);
/** Return the mean power; 0: fewer than two steps were observed. Units: W. */
double meter_power_w(const struct meter *m);

#endif
