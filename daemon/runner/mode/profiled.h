/**
 * profiled.h - whether something sits between this process and its device or clock, so that no time of it means anything.
 *
 * Profilers of kernels replay each of them many times at clocks that they lock; tracers, sanitizers and debuggers stop calls.
 */
#ifndef RUNNER_MODE_PROFILED_H
#define RUNNER_MODE_PROFILED_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Look at the environment, at what is mapped into this process and at who traces it: call it once the device is open, since drivers load
 * what is injected. Shape: what[size] names it: "ncu (NV_NSIGHT_INJECTION_PORT_BASE)". False: nothing was found.
 */
bool profiled_by(char *what, size_t size);

#endif
