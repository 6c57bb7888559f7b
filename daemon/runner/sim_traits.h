/**
 * sim_traits.h - properties of a test module for device sim, as words of its configuration.
 *
 * SIM_POWER_W=520: draw at the clock of the trace; SIM_HOST_US=20: host time of an enqueue; SIM_SLOW_PCT=10 and
 * SIM_SLOW_FACTOR=1.25: share and factor of slow calls; SIM_ONCE_FACTOR=1.1: factor of the work that is done once. Modules
 * without these words behave like the trace.
 */
#ifndef RUNNER_SIM_TRAITS_H
#define RUNNER_SIM_TRAITS_H

#include "runner/device.h"

/** Fill the traits of `out` from `config`, except its flops. Unreadable words are ignored. */
void sim_traits_read(const char *config, struct device_work *out);

#endif
