/**
 * sim_traits.h - what a test's module tells device sim about itself, as words of its configuration:
 * SIM_POWER_W=520, the draw at the clock of the trace; SIM_HOST_US=20, host time of an enqueue; SIM_SLOW_PCT=10 and
 * SIM_SLOW_FACTOR=1.25, how many calls take how much longer; SIM_ONCE_FACTOR=1.1, by how much what is done once does. Modules that say nothing of the kind are like the trace.
 */
#ifndef RUNNER_DEVICE_SIM_TRAITS_H
#define RUNNER_DEVICE_SIM_TRAITS_H

#include "runner/device/device.h"

/** Fill the traits of `out` from `config`; its flops are left alone. A word that cannot be read says nothing. */
void sim_traits_read(const char *config, struct device_work *out);

#endif
